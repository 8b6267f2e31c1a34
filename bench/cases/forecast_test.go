package cases

import (
	"strings"
	"testing"

	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/sysinfo"
	"onebit/models/forecast"
)

// What is measured of a format is positive, and of this machine's best kernel.
func TestMeasureForecast(t *testing.T) {
	done := 0
	m, err := MeasureForecast(t.Context(), ForecastOptions{
		Formats: []*formats.Type{formats.Q1_0_g128, formats.I2_S}, Threads: 1, Host: sysinfo.Probe(),
		Progress: func(string, int, int) { done++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	if done != 2 || len(m.Formats) != 2 || !(m.Read.Low > 0 && m.Read.Low <= m.Read.High && m.Int8 > 0 && m.Float32 > 0) {
		t.Fatalf("%+v after %d formats", m, done)
	}
	for name, r := range m.Formats {
		if r.Kernel == "" || !(r.NMSE > 0 && r.NMSE < 1e-2) || r.Fixed < 0 || !(r.Decode.Low > 0 && r.Decode.Low <= r.Decode.Center && r.Decode.Center <= r.Decode.High) ||
			!(r.Prompt.Low > 0 && r.Prompt.Low <= r.Prompt.Center && r.Prompt.Center <= r.Prompt.High) || !(r.Long.Low > 0 && r.Long.Low <= r.Long.High) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Measured figures replace those of the edition that they are of: those of the kernel that
// was predicted, with as many threads, and nothing but plain tests.
func TestUseMeasured(t *testing.T) {
	rates := map[string]forecast.Rate{}
	for _, f := range forecast.Formats() {
		rates[f.Name] = forecast.Rate{Kernel: "b", Decode: forecast.Interval{Center: 1e9, Low: 1e9, High: 1e9}, Prompt: forecast.Interval{Center: 1e9, Low: 1e9, High: 1e9}, Long: forecast.Interval{Center: 1e9, Low: 1e9, High: 1e9}}
	}
	all, err := forecast.All(&forecast.Machine{Threads: 2, Read: forecast.Interval{Center: 1e10}, Int8: 1e12, Float32: 1e11, Formats: rates})
	if err != nil {
		t.Fatal(err)
	}
	const text = `BenchmarkModel/model=ternary-bonsai-27b/variant=a/test=tg32/threads=2 1 9 ns/op 9 tok/s
BenchmarkModel/model=ternary-bonsai-27b/variant=b/test=tg32/threads=2 1 9 ns/op 8 tok/s
BenchmarkModel/model=ternary-bonsai-27b/variant=b/test=tg32/depth=4096/threads=2 1 9 ns/op 90 tok/s
BenchmarkModel/model=ternary-bonsai-27b/variant=b/test=tg32/texts=4/threads=2 1 9 ns/op 91 tok/s
BenchmarkModel/model=ternary-bonsai-27b/variant=b/test=tg32/threads=1 1 9 ns/op 92 tok/s
BenchmarkModel/model=ggml-model-i2_s/variant=b/test=tg32/threads=2 1 9 ns/op 93 tok/s
BenchmarkModel/model=Ternary-Bonsai-2-27B-PTQ1_0/variant=b/test=pp512/threads=2 1 9 ns/op 50 tok/s
`
	res, err := results.Read(strings.NewReader(text), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	if n := UseMeasured(all, res, 2); n != 2 {
		t.Errorf("%d editions were measured, want 2", n)
	}
	for _, f := range all {
		what := f.Preset.Name + " " + f.Edition.Format
		if decoded := what == "ternary-bonsai-27b Q2_0"; f.Decode.Measured != decoded || decoded && f.Decode.Center != 8 {
			t.Errorf("%s decodes %+v", what, f.Decode)
		}
		if read := what == "bonsai-2-27b PTQ1_0"; f.Prompt.Measured != read || read && f.Prompt.Center != 50 {
			t.Errorf("%s reads a prompt at %+v", what, f.Prompt)
		}
	}
}
