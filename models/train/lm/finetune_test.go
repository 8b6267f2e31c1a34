package lm

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/kernels/vectors"
	"onebit/models/source"
	"onebit/models/train"
)

// floatModel is a small model of floats, trained a little.
func floatModel(t *testing.T) source.Source {
	t.Helper()
	r := smallRecipe()
	r.Form, r.Embedding, r.Rate = "float", "float", 2e-2
	trainer := begin(t, r, 2)
	advance(t, trainer, r.Steps)
	var b bytes.Buffer
	if err := trainer.Export(&b); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), "float.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return source.FromGGUF(f)
}

func perplexityOf(t *testing.T, trainer *Trainer) float64 {
	t.Helper()
	s, err := trainer.HeldOut(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s.Perplexity()
}

// From floats, training makes good most of what rounding the weights loses at once;
// learning from the float model does too, and a run is resumed with it.
func TestFrom(t *testing.T) {
	src := floatModel(t)
	r := smallRecipe()
	r.Steps, r.Warmup, r.Rate = 15, 2, 2e-3
	same := r
	same.Form, same.Embedding = "float", "float"
	float, err := From(same, src, smallCorpus(), newPool(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	want := perplexityOf(t, float)
	for _, share := range []float64{0, 0.5, 1} {
		r.Distil = share
		trainer, err := From(r, src, smallCorpus(), newPool(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		rounded := perplexityOf(t, trainer)
		if share > 0 {
			if err := trainer.Teach(src); err != nil {
				t.Fatal(err)
			}
		}
		losses := advance(t, trainer, 12)
		path := filepath.Join(t.TempDir(), "checkpoint")
		if err := trainer.Save(path); err != nil {
			t.Fatal(err)
		}
		losses = append(losses, advance(t, trainer, 3)...)
		tuned := perplexityOf(t, trainer)
		t.Logf("share %v: perplexity %.2f of floats, %.2f rounded, %.2f trained", share, want, rounded, tuned)
		if math.Log(tuned/want) > math.Log(rounded/want)/2 {
			t.Errorf("share %v: perplexity %.2f of floats, %.2f rounded, %.2f trained", share, want, rounded, tuned)
		}
		again, err := resume(path, smallCorpus(), newPool(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		if share > 0 {
			if err := again.Teach(src); err != nil {
				t.Fatal(err)
			}
		}
		if got := advance(t, again, 3); !slices.Equal(got, losses[12:]) {
			t.Errorf("share %v: losses go on as %v, want %v", share, got, losses[12:])
		}
		if share > 0 {
			if err := again.Teach(changed{src}); !errors.Is(err, errOtherTeacher) {
				t.Errorf("another teacher: error %v", err)
			}
		}
	}
}

// changed is a source whose norms are others.
type changed struct{ source.Source }

func (c changed) Tensor(name string) (t formats.Tensor, err error) {
	t, err = c.Source.Tensor(name)
	if strings.Contains(name, "norm") {
		t.Data = slices.Clone(t.Data)
		t.Data[0] ^= 1
	}
	return t, err
}

func TestFromErrors(t *testing.T) {
	src := floatModel(t)
	r := smallRecipe()
	r.Form = "1bit"
	r.Embedding = "int4"
	if _, err := From(r, src, smallCorpus(), nil); err == nil || !strings.Contains(err.Error(), "float.gguf: unknown form of weights") {
		t.Errorf("error %v", err)
	}
	r = smallRecipe()
	r.Distil = 0.5
	if _, err := New(r, smallCorpus(), nil); err == nil || !strings.Contains(err.Error(), "needs one to start from") {
		t.Errorf("error %v", err)
	}
}

// The gradient of what is learned from a teacher is that of the loss, by finite
// differences of the logits.
func TestDistilGradient(t *testing.T) {
	const vocab, share = 48, 0.7
	s := tiny(t, "qwen3", train.Float, train.Float, 16, 4)
	d := &teacher{model: newModel(t, s, 1), share: share, loops: vectors.Best()}
	ids := randomTokens(4, vocab)
	rng := rand.New(rand.NewPCG(1, 2))
	logits := make([]float32, 4*vocab)
	for i := range logits {
		logits[i] = float32(rng.NormFloat64())
	}
	grad := make([]float32, len(logits))
	loss := func(grad []float32) float64 {
		own := train.CrossEntropy(nil, grad, logits, ids, vocab)
		return d.distil(ids, ids, logits, grad, own)
	}
	loss(grad)
	for i := 0; i < len(logits); i += 7 {
		const step = 1.0 / 128
		z := logits[i]
		scratch := make([]float32, len(grad))
		logits[i] = z + step
		above := loss(scratch)
		logits[i] = z - step
		below := loss(scratch)
		logits[i] = z
		if slope := (above - below) / (2 * step); math.Abs(slope-float64(grad[i])) > 1e-6 {
			t.Errorf("logit %d: slope %.7f, gradient %.7f", i, slope, grad[i])
		}
	}
	// Of its own predictions a teacher says nothing new.
	copy(logits, d.model.Logits(ids))
	if alone := (&teacher{model: d.model, share: 1, loops: d.loops}).distil(ids, ids, logits, grad, 3); math.Abs(alone) > 1e-6 {
		t.Errorf("divergence from itself: %v", alone)
	}
}
