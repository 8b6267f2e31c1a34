package models

import (
	"errors"
	"iter"
	"slices"

	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/forward"
	"onebit/models/source"
)

// A Model is a source's weights, checked against its architecture and ready to
// multiply. It is read only: any number of sessions may run on it, taking
// turns on its threads. It must be closed, after its sessions.
type Model struct {
	Arch   *forward.Architecture
	Config arch.Config
	// Head is the output projection. A tied one has the embedding's name.
	Head *forward.Linear
	// HeadError is the NMSE of the head's weights against those of the file:
	// 0 unless Options.Head asked for another format.
	HeadError float64

	source     source.Source
	engine     engine.Engine
	embedding  engine.Weight
	outputNorm engine.Weight
	blocks     []*forward.Block
	rope       engine.Rope
	plan       *Plan

	headConverted bool // Options.Head asked for a format

	embeddingRotation *engine.Rotation // nil: none
}

// Recurrent reports whether a block keeps a state without positions to go back
// to; see [Session.Mark].
func (m *Model) Recurrent() bool {
	return slices.ContainsFunc(m.Arch.States(m.Config), func(s engine.State) bool { _, kv := s.(engine.KV); return !kv })
}

// Windowed reports whether a block keeps the last positions of a text only, so that a
// session goes back no further than some of them without a mark.
func (m *Model) Windowed() bool { return m.Config.Sliding.Window > 0 }

// Plan returns what the model and sessions on it take of memory.
func (m *Model) Plan() *Plan { return m.plan }

// Source returns what the model was loaded from, for its metadata.
func (m *Model) Source() source.Source { return m.source }

// Engine returns what the model runs on.
func (m *Model) Engine() engine.Engine { return m.engine }

// Check looks at all weights that nothing has been multiplied with yet, and
// returns what is wrong with them, as Open does for a model that is packed
// first. [Session.Prefill] does as much for a model's first prompt before it
// returns anything; the other ways through a Session begin with Check.
func (m *Model) Check() error { return m.engine.Check() }

// Packed waits until background packing has finished, and returns its error.
// Without packing behind it returns at once.
func (m *Model) Packed() error { return m.engine.Wait() }

// Blocks yields the transformer blocks with their index, in the order of the
// forward pass.
func (m *Model) Blocks() iter.Seq2[int, *forward.Block] {
	return func(yield func(int, *forward.Block) bool) {
		for i, b := range m.blocks {
			if !yield(i, b) {
				return
			}
		}
	}
}

// WeightBytes returns the bytes of weights that decoding one token reads:
// every matrix once, as it lies in memory now, and of experts those that a token has. A row of the embedding and the
// norms are too little to count.
func (m *Model) WeightBytes() int {
	total := m.Head.Bytes()
	for _, b := range m.blocks {
		for _, l := range b.Linears() {
			total += l.TokenBytes()
		}
	}
	return total
}

// ExpertBytes returns the bytes of experts that some text has met, those of all, and those
// that a token meets; zeros of a model without experts, and on an engine that does not count.
func (m *Model) ExpertBytes() (met, all, token int64) {
	counter, ok := m.engine.(engine.ExpertCounter)
	if !ok {
		return 0, 0, 0
	}
	for _, b := range m.blocks {
		for _, l := range b.Linears() {
			if l.Experts > 0 {
				token += int64(l.TokenBytes())
			}
		}
	}
	met, all = counter.ExpertBytes()
	return met, all, token
}

// MultiplyAdds returns the multiplications of weights with activations that a
// token takes, the head's apart: a prompt needs that for its last token only.
func (m *Model) MultiplyAdds() (blocks, head int) {
	for _, b := range m.blocks {
		for _, l := range b.Linears() {
			blocks += l.MultiplyAdds()
		}
	}
	return blocks, m.Head.Rows * m.Head.Cols
}

// HostMemory returns the memory outside the Go heap that the engine has taken
// for weights, nil where there is none in the host's. It is for looking at from
// outside, and gone when the model is closed.
func (m *Model) HostMemory() [][]byte { return hostMemory(m.engine) }

func hostMemory(holder any) [][]byte {
	if h, ok := holder.(engine.HostMemory); ok {
		return h.HostMemory()
	}
	return nil
}

// Close frees the weights and closes the source.
func (m *Model) Close() error {
	var errs []error
	if m.engine != nil {
		errs = append(errs, m.engine.Close())
	}
	m.blocks, m.Head = nil, nil
	return errors.Join(append(errs, m.source.Close())...)
}
