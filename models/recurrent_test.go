package models

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"onebit/formats/gguf"
	"onebit/internal/deviation"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/plain"
	"onebit/models/synth"
)

// recurrent is toy with a gated delta net in its first block, as a hybrid
// architecture has: the delta rule in place of attention.
func recurrent() *Architecture {
	a := toy()
	a.Name, a.Classes = "recurrent", nil
	a.Presets[0].Name = "tiny-recurrent"
	perHead := func(c arch.Config) int { return c.Heads }
	a.Block = append(a.Block,
		arch.Matrix("decay", arch.Projection, perHead, arch.Hidden),
		arch.Matrix("beta", arch.Projection, perHead, arch.Hidden))
	a.state = func(c arch.Config, block int) engine.State {
		if block == 0 {
			return engine.Delta{KeyHeads: c.KVHeads, ValueHeads: c.Heads, KeyDim: c.HeadDim, ValueDim: c.HeadDim}
		}
		return engine.KV{Heads: c.KVHeads, Dim: c.HeadDim}
	}
	attends := a.forward
	a.forward = func(b *Block, s *Session) {
		if b.Index > 0 {
			attends(b, s)
			return
		}
		heads := s.model.Config.Heads
		decay, beta, q := s.buffer("decay", heads), s.buffer("beta", heads), s.buffer("query", s.k.Width())
		s.rmsNorm("attn_norm", s.h, s.x, b.AttnNorm)
		s.multiply("delta_in", s.h, into{b.K, s.k}, into{b.V, q}, into{b.Q, s.q},
			into{b.linears["decay"], decay}, into{b.linears["beta"], beta})
		s.stream.DeltaRule("delta", s.att, q, s.k, s.q, decay, beta)
		s.multiply("attn_output", s.att, into{b.Output, s.h})
		s.add("attn_residual", s.x, s.h)
	}
	return a
}

// A block whose state is a matrix needs nothing from Session: its text is the
// same in any batch and on another engine, begins anew, and says that it
// cannot go back to its middle.
func TestRecurrentState(t *testing.T) {
	a := register(recurrent())
	t.Cleanup(func() { delete(architectures, a.Name) })
	var file bytes.Buffer
	if err := synth.Write(&file, a.Presets[0], 1); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(file.Bytes(), "recurrent.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := []int{5, 17, 250, 3, 99, 4, 42, 8, 120}
	open := func(opt Options) *Session {
		m, err := Load(context.Background(), FromGGUF(f), opt)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.NewSession(SessionOptions{Batch: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(s.Close(), m.engine.Close()); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	take := func(s *Session, ids []int) []float32 {
		logits, err := s.Prefill(context.Background(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(logits)
	}
	s := open(Options{})
	want := take(s, ids)
	if err := s.Truncate(4); !errors.Is(err, ErrNoRollback) || s.Position() != len(ids) {
		t.Errorf("back to the middle: error %v, position %d", err, s.Position())
	}
	if err := errors.Join(s.Mark(), s.Truncate(len(ids))); err != nil {
		t.Error(err)
	}
	take(s, []int{7, 8})
	if err := s.Truncate(len(ids)); err != nil || s.Position() != len(ids) {
		t.Errorf("back to the mark: error %v, position %d", err, s.Position())
	}
	if err := s.Truncate(0); err != nil {
		t.Fatal(err)
	}
	var last []float32
	for _, id := range ids {
		last = take(s, []int{id})
	}
	if !slices.Equal(last, want) {
		t.Error("one token at a time gives other logits than a batch")
	}
	if e := deviation.Of(want, take(open(Options{Engine: plain.Open}), ids)).NMSE(); !(e < 1e-4) {
		t.Errorf("an NMSE of %.3g against the plain engine", e)
	}
}
