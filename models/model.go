package models

import (
	"errors"
	"iter"
	"sync/atomic"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/arch"
)

// A Model is a source's weights, checked against its architecture and ready to
// multiply. It is read only: any number of sessions may run on it, taking
// turns on its threads. It must be closed, after its sessions.
type Model struct {
	Arch   *Architecture
	Config arch.Config
	// Head is the output projection. A tied one has the embedding's name.
	Head *Linear
	// HeadError is the NMSE of the head's weights against those of the file:
	// 0 unless Options.Head asked for another format.
	HeadError float64

	source     Source
	embedding  formats.Tensor
	outputNorm []float32
	blocks     []*Block
	rope       *rope

	// unchecked: there are weights in place that nothing has looked at; refused:
	// Check has told what is wrong.
	unchecked, refused atomic.Bool

	options  Options
	pool     *kernels.Pool
	ownsPool bool
	packer   *packer
	packed   arena          // the packed weights
	head     *mmap.Anon     // a converted one
	closers  []func() error // other memory
}

// Source returns what the model was loaded from, for its metadata.
func (m *Model) Source() Source { return m.source }

// Pool returns the threads that the model runs on.
func (m *Model) Pool() *kernels.Pool { return m.pool }

// Blocks yields the transformer blocks with their index, in the order of the
// forward pass.
func (m *Model) Blocks() iter.Seq2[int, *Block] {
	return func(yield func(int, *Block) bool) {
		for i, b := range m.blocks {
			if !yield(i, b) {
				return
			}
		}
	}
}

// linears yields every layer there is, the head last.
func (m *Model) linears() iter.Seq[*Linear] {
	return func(yield func(*Linear) bool) {
		for _, b := range m.blocks {
			if b == nil {
				continue // loading failed before
			}
			for _, l := range b.Linears() {
				if l != nil && !yield(l) {
					return
				}
			}
		}
		if m.Head != nil {
			yield(m.Head)
		}
	}
}

// WeightBytes returns the bytes of weights that decoding one token reads:
// every matrix once, as it lies in memory now. A row of the embedding and the
// norms are too little to count.
func (m *Model) WeightBytes() int {
	total := 0
	for l := range m.linears() {
		total += l.Bytes()
	}
	return total
}

// MultiplyAdds returns the multiplications of weights with activations that a
// token takes, the head's apart: a prompt needs that for its last token only.
func (m *Model) MultiplyAdds() (blocks, head int) {
	for _, b := range m.blocks {
		for _, l := range b.Linears() {
			blocks += l.Rows * l.Cols
		}
	}
	return blocks, m.Head.Rows * m.Head.Cols
}

// Close frees the weights and closes the source.
func (m *Model) Close() error {
	var errs []error
	if m.packer != nil {
		if err := m.packer.stop(); !m.refused.Load() {
			errs = append(errs, err)
		}
	}
	errs = append(errs, m.packed.close())
	for _, c := range m.closers {
		errs = append(errs, c())
	}
	m.blocks, m.Head, m.closers = nil, nil, nil
	if m.ownsPool {
		m.pool.Close()
	}
	return errors.Join(append(errs, m.source.Close())...)
}
