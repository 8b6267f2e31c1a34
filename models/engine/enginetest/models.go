package enginetest

import (
	"bytes"
	"slices"
	"testing"

	"onebit/formats/gguf"
	"onebit/internal/deviation"
	"onebit/internal/require"
	"onebit/models"
	"onebit/models/arch"
	"onebit/models/modeltest"
	"onebit/models/source"
	"onebit/models/synth"
)

// models runs the tiny model of an architecture, drawn from those that have one, and
// compares the logits after each token with those of an independent forward pass.
func (s Subject) models(t *testing.T) {
	tiny := slices.DeleteFunc(arch.Presets(), func(p *arch.Preset) bool {
		return p.Config.Layers > 2
	})
	for _, p := range require.Draw(t, 8, tiny) {
		t.Run(p.Name, func(t *testing.T) {
			small := *p
			small.Config.Hidden, small.Config.FFN = 256, 512
			var b bytes.Buffer
			if err := synth.Write(&b, &small, 1); err != nil {
				t.Fatal(err)
			}
			f, err := gguf.Parse(b.Bytes(), p.Name+".gguf", gguf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.model(t, f)
		})
	}
}

func (s Subject) model(t *testing.T, f *gguf.File) {
	oracle, err := modeltest.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(t.Context(), source.FromGGUF(f), models.Options{Engine: s.Engine})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	session, err := m.NewSession(models.SessionOptions{Cache: s.Cache, Batch: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	text := ids(10, 5) // more than a batch; some engines are slow
	want := oracle.Logits(text)
	var got, expected []float32
	i := 0
	for logits, err := range session.Logits(text) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, logits...)
		for _, x := range want[i] {
			expected = append(expected, float32(x))
		}
		i++
	}
	bound := max(s.Products, s.Attention, s.Floats)
	if e := deviation.Of(got, expected).NMSE(); !(e <= bound) {
		t.Errorf("an NMSE of the logits of %.3g, want at most %g", e, bound)
	} else {
		t.Logf("NMSE of the logits %.3g", e)
	}
	// Once more from the start: what was kept of the first time is gone.
	if err := session.Truncate(0); err != nil {
		t.Fatal(err)
	}
	last, err := session.Prefill(t.Context(), text)
	if err != nil || !slices.Equal(last, got[len(got)-len(last):]) {
		t.Errorf("a text taken in again has other logits (error %v)", err)
	}
}
