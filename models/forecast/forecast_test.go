package forecast_test

import (
	"math"
	"strings"
	"testing"

	"onebit/models/arch"
	_ "onebit/models/architectures"
	"onebit/models/forecast"
)

// machine has a billion weights a second from memory in every format, and ten thousand
// million multiply-adds in batches.
func machine() *forecast.Machine {
	m := &forecast.Machine{Threads: 2, Read: forecast.Interval{Center: 40e9}, Int8: 1e12, Float32: 1e11, Formats: map[string]forecast.Rate{}}
	for _, t := range forecast.Formats() {
		m.Formats[t.Name] = forecast.Rate{
			Decode: forecast.Interval{Center: 1e9, Low: 0.9e9, High: 1.1e9}, Prompt: forecast.Interval{Center: 1e10, Low: 1e10, High: 1e10}, Long: forecast.Interval{Center: 5e9, Low: 5e9, High: 5e9}, NMSE: 4e-5,
		}
	}
	return m
}

func preset(t *testing.T, name string) *arch.Preset {
	t.Helper()
	p, err := arch.LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A token of Bonsai 1.7B is multiplied with 1.72 billion weights: the embedding is
// the head. What is no product is the rest.
func TestTokenTime(t *testing.T) {
	p := preset(t, "bonsai-1.7b")
	f, err := forecast.Of(p, p.Published[0], machine())
	if err != nil {
		t.Fatal(err)
	}
	const block = 2048*(2048+1024+1024) + 2048*2048 + 3*6144*2048
	const head = 151936 * 2048
	rest := 28*(4*2048+6144+2048+2*1024)*forecast.ElementTime + 28*64*2*2*8*128/40e9
	want := 1 / ((28*block+head)/1e9 + rest)
	if got := f.Decode.Center; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("decodes %v tok/s, want %v", got, want)
	}
	if !(f.Decode.Low < want*0.9 && f.Decode.High > want*1.1 && f.Decode.Low > want*0.7) {
		t.Errorf("%+v is no interval of 10 %% by the products and 10 %% by the model", f.Decode)
	}
	if f.Prompt.Center < 5*f.Decode.Center || f.NMSE != 4e-5 || f.Weights.Name != "q1_0_g128" || f.Decode.Measured {
		t.Errorf("%+v", f)
	}
}

// The sizes of published files, less their header of 11,120,992 bytes.
func TestBytesOfPublishedFiles(t *testing.T) {
	p := preset(t, "bonsai-2-27b")
	for i, want := range []int64{7_206_168_928 - 11_120_992, 5_946_648_928 - 11_120_992} {
		f, err := forecast.Of(p, p.Published[i], machine())
		if err != nil {
			t.Fatal(err)
		}
		if f.Bytes != want {
			t.Errorf("%s: %d bytes of tensors, want %d", p.Published[i].File, f.Bytes, want)
		}
	}
}

// Every edition has a forecast; what fits comes first, and of that the fastest.
func TestAll(t *testing.T) {
	m := machine()
	m.Available = 4 << 30
	all, err := forecast.All(m)
	if err != nil {
		t.Fatal(err)
	}
	editions := 0
	for _, p := range arch.Presets() {
		editions += len(p.Published)
	}
	if len(all) != editions || editions < 15 {
		t.Fatalf("%d forecasts of %d editions", len(all), editions)
	}
	for i, f := range all {
		if i > 0 && (f.Fits(m) && !all[i-1].Fits(m) || f.Fits(m) == all[i-1].Fits(m) && f.Decode.Center > all[i-1].Decode.Center) {
			t.Errorf("%s in %s is behind %s", f.Preset.Name, f.Edition.Format, all[i-1].Preset.Name)
		}
		if len(f.Memory) == 0 || f.Memory[0].Bytes < f.Bytes/2 || f.Memory[0].Context > forecast.Contexts[0] {
			t.Errorf("%s: %+v for %d bytes of tensors", f.Preset.Name, f.Memory, f.Bytes)
		}
		if f.Edition.File != "" && f.Edition.Repository == "" {
			t.Errorf("%s: a file of no repository", f.Preset.Name)
		}
	}
	if all[0].Fits(m) == all[len(all)-1].Fits(m) {
		t.Error("a model of 27 billion weights in 2 bits fits 4 GiB, or none does")
	}
}

func TestRateIsMissing(t *testing.T) {
	m := machine()
	delete(m.Formats, "i2_s")
	_, err := forecast.All(m)
	if err == nil || !strings.Contains(err.Error(), "i2_s was not measured") {
		t.Errorf("%v", err)
	}
}
