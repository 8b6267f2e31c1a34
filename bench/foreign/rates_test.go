package foreign

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
)

// The files of testdata that this test reads are written after the programs' sources,
// which the kinds name: sweep-bench's, ollama's, LocalScore's and llm-speed's.
func TestRates(t *testing.T) {
	for file, want := range map[string]struct {
		kind   Kind
		header string
		tests  map[string]float64 // tokens per second, of the first sample
	}{
		"sweep.jsonl": {sweepBench, "sweep-bench-args: n_batch=512 n_ubatch=512 flash_attn=1 n_gpu_layers=0", map[string]float64{
			"Model/model=model/variant=sweep-bench/test=pp512/threads=2":           128,
			"Model/model=model/variant=sweep-bench/test=tg128/threads=2":           16,
			"Model/model=model/variant=sweep-bench/test=pp512/depth=512/threads=2": 102.4,
			"Model/model=model/variant=sweep-bench/test=tg128/depth=512/threads=2": 12.8,
		}},
		"ollama.txt": {ollamaBench, "", map[string]float64{
			"Model/model=gemma3:1b/variant=ollama/test=pp128": 12800,
			"Model/model=gemma3:1b/variant=ollama/test=tg200": 50,
			"Model/model=gemma3:1b/variant=ollama/test=load":  0,
		}},
		"localscore.json": {localScore, "localscore: llamafile 0.9.3 abc", map[string]float64{
			"Model/model=Some_1B_Q4_K_-_Medium/variant=localscore/test=pp1024/pair=pp1024+tg16":          1280,
			"Model/model=Some_1B_Q4_K_-_Medium/variant=localscore/test=tg16/depth=1024/pair=pp1024+tg16": 64,
			"Model/model=Some_1B_Q4_K_-_Medium/variant=localscore/test=pp16/pair=pp16+tg1536":            800,
			"Model/model=Some_1B_Q4_K_-_Medium/variant=localscore/test=tg1536/depth=16/pair=pp16+tg1536": 50,
		}},
		"llmspeed.json": {llmSpeed, "llm-speed: 0.0.9, suite suite-v1", map[string]float64{
			"Model/model=Some-8B-Q4_K_M/variant=llama.cpp/test=pp100/workload=chat-short":           1000,
			"Model/model=Some-8B-Q4_K_M/variant=llama.cpp/test=tg200/depth=100/workload=chat-short": 40,
		}},
	} {
		r, kind := readFile(t, file)
		if kind.Name != want.kind.Name {
			t.Errorf("%s is taken for %s", file, kind.Name)
		}
		if all := namesOf(r); len(all) != len(want.tests) {
			t.Errorf("%s has %q", file, all)
		}
		for name, rate := range want.tests {
			i := slices.IndexFunc(r.Samples, func(s results.Sample) bool { return s.Name.Full == name })
			if i < 0 {
				t.Errorf("%s has no %s, but %q", file, name, namesOf(r))
			} else if v, _ := r.Samples[i].Value(results.TokenRate); v < 0.999*rate || v > 1.001*rate {
				t.Errorf("%s: %s is %v tok/s, want %v", file, name, v, rate)
			}
		}
		var text bytes.Buffer
		if err := r.Write(&text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !strings.Contains(text.String(), want.header) {
			t.Errorf("%s lacks %q", file, want.header)
		}
	}
	r, _ := readFile(t, "llmspeed.json")
	if len(r.Failures) != 1 || r.Failures[0].Reason != "out of memory" {
		t.Errorf("failures %v", r.Failures)
	}
	r, _ = readFile(t, "ollama.txt")
	if len(r.Samples) != 4 || len(r.Warnings) != 1 {
		t.Errorf("%d samples of ollama, want 4; warnings %q", len(r.Samples), r.Warnings)
	}
	r, _ = readFile(t, "sweep.jsonl")
	if v, ok := r.Samples[0].Value(results.PeakRSS); !ok || v != 1<<30 {
		t.Errorf("peak %v", v)
	}
}

// TestRatesAreChecked plants numbers that no test has.
func TestRatesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`{"n_kv":0,"pp":512,"tg":128,"speed_pp":0,"speed_tg":1}`:                                                                  "tokens per second is 0",
		`{"n_kv":-1,"pp":512,"tg":128,"speed_pp":1,"speed_tg":1}`:                                                                 "512 tokens behind -1",
		`{"n_kv":0,"pp":512,"tg":0,"speed_pp":1,"speed_tg":1}`:                                                                    "0 tokens behind 0",
		`{"n_kv":0,"pp":"x","tg":0,"speed_pp":1,"speed_tg":1}`:                                                                    "row 1",
		`{"results":[{"n_prompt":16,"n_gen":4,"prompt_tps":5,"gen_tps":-1}]}`:                                                     "test 1: tokens per second is -1",
		`{"suite_version":"","cli_version":"","fingerprint":{},"results":[{"decode_tps":-1,"output_tokens":5}]}`:                  "result 1: tokens per second is -1",
		`{"suite_version":"","cli_version":"","fingerprint":{},"results":[]}`:                                                     "it has no results",
		"BenchmarkModel/name=x/step=generate 5 -1 ns/token\nBenchmarkModel/name=x/step=prefill 99999999999999999999 5 ns/token\n": "99999999999999999999",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
