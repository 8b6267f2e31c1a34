package metal_test

import (
	"bytes"
	"slices"
	"testing"

	"onebit/formats/gguf"
	"onebit/models"
	"onebit/models/engine/metal"
	"onebit/models/synth"
)

// file is a small synthetic model.
func file(t *testing.T, preset string) *gguf.File {
	t.Helper()
	p, err := models.LookupPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := synth.Write(&b, p, 1); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), preset+".gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// generate returns the tokens that follow a prompt.
func generate(t *testing.T, f *gguf.File, opt models.Options, sampling models.SamplerOptions, n int) (ids []int) {
	t.Helper()
	m, err := models.Load(t.Context(), models.FromGGUF(f), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Engine().Close()
	s, err := m.NewSession(models.SessionOptions{Context: 64, Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sampler, err := models.NewSampler(sampling)
	if err != nil {
		t.Fatal(err)
	}
	for id, err := range s.Generate(t.Context(), []int{1, 2, 3, 5, 8}, sampler) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, id); len(ids) == n {
			break
		}
	}
	return ids
}

// The tiny model of every architecture says what it says on the CPU engine,
// also where a few of its likeliest tokens are drawn from.
func TestSameText(t *testing.T) {
	d := device(t)
	for _, p := range models.Presets() {
		if p.Config.Layers > 2 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			f := file(t, p.Name)
			for _, sampling := range []models.SamplerOptions{{}, {Temperature: 0.7, TopK: 10, Seed: 1}} {
				const n = 4
				want := generate(t, f, models.Options{}, sampling, n)
				got := generate(t, f, models.Options{Engine: metal.Open(metal.Options{Device: d})}, sampling, n)
				if !slices.Equal(got, want) {
					t.Errorf("%+v: tokens %v, want %v", sampling, got, want)
				}
			}
		})
	}
}
