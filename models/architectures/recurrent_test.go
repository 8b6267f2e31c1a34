package architectures_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"onebit/formats/gguf"
	"onebit/internal/deviation"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/engine/plain"
	"onebit/models/forward"
	"onebit/models/source"
	"onebit/models/synth"
)

var recurrent = forward.Register(newRecurrent())

// newRecurrent is toy with a gated delta net in its first block, as a hybrid
// architecture has: the delta rule in place of attention.
func newRecurrent() *forward.Architecture {
	a := newToy()
	a.Name, a.Classes = "recurrent", nil
	a.Presets[0].Name = "tiny-recurrent"
	perHead := func(c arch.Config) int { return c.Heads }
	a.Block = append(a.Block,
		arch.Matrix("decay", arch.Projection, perHead, arch.Hidden),
		arch.Matrix("beta", arch.Projection, perHead, arch.Hidden))
	a.State = func(c arch.Config, block int) engine.State {
		if block == 0 {
			return engine.Delta{KeyHeads: c.KVHeads, ValueHeads: c.Heads, KeyDim: c.HeadDim, ValueDim: c.HeadDim}
		}
		return engine.KV{Heads: c.KVHeads, Dim: c.HeadDim}
	}
	attends := a.Forward
	a.Forward = func(b *forward.Block, p *forward.Pass) {
		if b.Index > 0 {
			attends(b, p)
			return
		}
		heads := p.Config.Heads
		decay, beta, q := p.Buffer("decay", heads), p.Buffer("beta", heads), p.Buffer("query", p.K.Width())
		p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
		p.Multiply("delta_in", p.H, b.K.To(p.K), b.V.To(q), b.Q.To(p.Q),
			b.Linear("decay").To(decay), b.Linear("beta").To(beta))
		p.Stream.DeltaRule("delta", p.Att, q, p.K, p.Q, decay, beta)
		p.Multiply("attn_output", p.Att, b.Output.To(p.H))
		p.Add("attn_residual", p.X, p.H)
	}
	return a
}

// A block whose state is a matrix needs nothing from Session: its text is the
// same in any batch and on another engine, begins anew, and says that it
// cannot go back to its middle.
func TestRecurrentState(t *testing.T) {
	var file bytes.Buffer
	if err := synth.Write(&file, recurrent.Presets[0], 1); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(file.Bytes(), "recurrent.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := []int{5, 17, 250, 3, 99, 4, 42, 8, 120}
	open := func(opt models.Options) *models.Session {
		m, err := models.Load(context.Background(), source.FromGGUF(f), opt)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.NewSession(models.SessionOptions{Batch: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(s.Close(), m.Engine().Close()); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	take := func(s *models.Session, ids []int) []float32 {
		logits, err := s.Prefill(context.Background(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(logits)
	}
	s := open(models.Options{})
	want := take(s, ids)
	if err := s.Truncate(4); !errors.Is(err, models.ErrNoRollback) || s.Position() != len(ids) {
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
	if e := deviation.Of(want, take(open(models.Options{Engine: plain.Options{}}), ids)).NMSE(); !(e < 1e-4) {
		t.Errorf("an NMSE of %.3g against the plain engine", e)
	}
}
