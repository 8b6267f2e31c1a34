package models_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/engine/cpu"
	"onebit/models/perplexity"
)

// TestTryHeads compares what a trial says of heads with models that have them. Of so
// small a vocabulary all is tried.
func TestTryHeads(t *testing.T) {
	x := newFixture(t, must(arch.LookupPreset("tiny-bitnet")))
	own := x.open(t, models.Options{})
	text := []int{5, 9, 3, 200, 77, 1, 0, 31, 450, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}
	trials := must(own.TryHeads(context.Background(), text))
	if len(trials) != 3 || trials[0].Format != formats.F16 || trials[0].KLD != 0 || trials[0].Bytes != own.Head.Bytes() {
		t.Fatalf("trials %v: want the file's head, and two others", trials)
	}
	last := text[len(text)-16:]
	want := textLogits(t, own, last)
	for _, trial := range trials[1:] {
		other := x.open(t, models.Options{Head: trial.Format})
		if trial.Bytes != other.Head.Bytes() || trial.Time <= 0 || trial.Token < trial.Time || trial.Convert <= 0 {
			t.Errorf("%+v of a head of %d bytes", trial, other.Head.Bytes())
		}
		var e perplexity.Estimate
		var wrong, signal float64
		for c, got := range textLogits(t, other, last) {
			if err := e.Add(got, want[c], 0); err != nil {
				t.Fatal(err)
			}
			for i, y := range got {
				d := float64(y) - float64(want[c][i])
				wrong, signal = wrong+d*d, signal+float64(want[c][i])*float64(want[c][i])
			}
		}
		if kld := e.KLD.Value(); kld <= 0 || math.Abs(trial.KLD-kld) > 1e-6*kld+1e-12 {
			t.Errorf("%s: divergence %g, of the converted head %g", trial.Format.Name, trial.KLD, kld)
		}
		if nmse := wrong / signal; math.Abs(trial.NMSE-nmse) > 1e-6*nmse {
			t.Errorf("%s: NMSE %g, of the converted head %g", trial.Format.Name, trial.NMSE, nmse)
		}
		if got := other.HeadCandidates(); got != nil {
			t.Errorf("a head in %s that was converted has candidates %v", trial.Format.Name, got)
		}
	}
	native := x.open(t, models.Options{Engine: cpu.Options{Packing: cpu.PackNever}})
	if again := must(native.TryHeads(context.Background(), text)); again[1].KLD != trials[1].KLD {
		t.Errorf("in place the divergence is %g, packed %g", again[1].KLD, trials[1].KLD)
	}
}

// textLogits are those after each token of a text.
func textLogits(t *testing.T, m *models.Model, text []int) (out [][]float32) {
	s := must(m.NewSession(models.SessionOptions{}))
	defer s.Close()
	for logits, err := range s.Logits(text) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Clone(logits))
	}
	return out
}

// A head that is converted and packed slab by slab gives what one in place does.
func TestConvertedHeadIsPackedInSlabs(t *testing.T) {
	p := preset("tiny-bitnet")
	p.Config.Hidden, p.Config.Vocab = 256, 2*4096+37
	x := newFixture(t, p)
	text := []int{5, 9, 3, 200, 8000}
	logits := func(packing cpu.Packing) [][]float32 {
		m := x.open(t, models.Options{Head: formats.Q4_K, Engine: cpu.Options{Packing: packing}})
		return textLogits(t, m, text)
	}
	want := logits(cpu.PackNever)
	for c, got := range logits(cpu.PackFirst) {
		if !slices.Equal(got, want[c]) {
			t.Errorf("token %d: packed and in place the logits differ", c)
		}
	}
}
