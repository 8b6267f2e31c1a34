package foreign

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/bench/results"
)

// The files of testdata are of real programs: llama-bench of llama.cpp 9cd719af2
// on a model of synth's preset tiny, Google Benchmark 1.7.1 and hyperfine 1.15.0
// of Debian.

func readFile(t *testing.T, file string) (*results.Set, Kind) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	r, kind, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r, kind
}

func namesOf(r *results.Set) (all []string) {
	for _, s := range r.Samples {
		if !slices.Contains(all, s.Name.Full) {
			all = append(all, s.Name.Full)
		}
	}
	return all
}

// TestRoundTrip: what is read can be written as a results file, and says the
// same then.
func TestRoundTrip(t *testing.T) {
	for file, want := range map[string]string{
		"llama.json": llamaJSON.Name, "llama.jsonl": llamaLines.Name, "llama.csv": llamaCSV.Name, "llama.md": llamaMarkdown.Name,
		"google.json": googleBenchmark.Name, "google-aggregates.json": googleBenchmark.Name, "hyperfine.json": hyperfine.Name,
		"sweep.jsonl": sweepBench.Name, "ollama.txt": ollamaBench.Name, "localscore.json": localScore.Name, "llmspeed.json": llmSpeed.Name,
	} {
		r, kind := readFile(t, file)
		if kind.Name != want {
			t.Errorf("%s is taken for %s", file, kind.Name)
		}
		var text bytes.Buffer
		if err := r.Write(&text); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		again, err := results.Read(&text, file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if diff := cmp.Diff(r, again, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) })); diff != "" {
			t.Errorf("%s: -read +written\n%s", file, diff)
		}
	}
}

// The four forms of llama-bench have the same tests; two of them have each
// repetition.
func TestLlamaForms(t *testing.T) {
	json, _ := readFile(t, "llama.json")
	const tests = 12
	if want := "Model/model=tiny/variant=llama-bench/test=pp16/threads=1"; len(namesOf(json)) != tests || namesOf(json)[0] != want {
		t.Errorf("%d tests, the first is %s; want %d and %s", len(namesOf(json)), namesOf(json)[0], tests, want)
	}
	for _, want := range []string{"test=pp8+tg4/", "test=tg8/depth=32/threads=2"} {
		if !slices.ContainsFunc(namesOf(json), func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("no test %s in %q", want, namesOf(json))
		}
	}
	if len(json.Samples) != 3*tests || len(json.Warnings) != 0 {
		t.Errorf("%d samples with warnings %q, want %d without", len(json.Samples), json.Warnings, 3*tests)
	}
	if s := json.Samples[0]; s.Values[0] != (results.Metric{Unit: results.NsPerOp, Value: 880795}) || math.Abs(s.Values[1].Value-18165.4) > 0.1 {
		t.Errorf("first sample %v, want 880795 ns and 18165.4 tok/s", s.Values)
	}
	if got := json.Setting("llama-bench"); got != "build 0 (9cd719af2), backends CPU" {
		t.Errorf("header says %q", got)
	}
	if args := json.Setting("llama-bench-args"); !strings.Contains(args, "type_k=f16") || strings.Contains(args, "n_prompt") {
		t.Errorf("parameters are %q", args)
	}
	for file, samples := range map[string]int{"llama.jsonl": 3 * tests, "llama.csv": tests, "llama.md": tests} {
		r, _ := readFile(t, file)
		want := namesOf(json)
		if file == "llama.md" { // which does not name the file
			for i := range want {
				want[i] = strings.Replace(want[i], "model=tiny", "model=qwen3_?B_Q1_0", 1)
			}
		}
		if diff := cmp.Diff(want, namesOf(r)); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
		if len(r.Samples) != samples || slices.Contains(r.Warnings, onlyMeans) != (samples == tests) {
			t.Errorf("%s: %d samples with warnings %q, want %d", file, len(r.Samples), r.Warnings, samples)
		}
	}
	md, _ := readFile(t, "llama.md")
	if s := md.Samples[0]; math.Abs(s.Values[1].Value/27359.97-1) > 1e-5 {
		t.Errorf("pp16 has %v, the table 27359.97 t/s", s.Values)
	}
}

// Parameters that differ are in the names: else two tests were one.
func TestLlamaParameters(t *testing.T) {
	r, _, err := Read(strings.NewReader(`[{"n_prompt":8,"n_gen":0,"avg_ns":5,"type_k":"f16","poll":50,"model_filename":"C:\\m\\a b.gguf"},
		{"n_prompt":8,"n_gen":0,"avg_ns":6,"type_k":"q8_0","poll":50,"model_filename":"C:\\m\\a b.gguf"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Model/model=a_b/variant=llama-bench/test=pp8/type_k=f16", "Model/model=a_b/variant=llama-bench/test=pp8/type_k=q8_0"}
	if diff := cmp.Diff(want, namesOf(r)); diff != "" {
		t.Error(diff)
	}
}

func TestGoogleBenchmark(t *testing.T) {
	r, _ := readFile(t, "google.json")
	if diff := cmp.Diff([]string{"BM_memcpy/64", "BM_memcpy/4096", "BM_len/real_time/threads=2"}, namesOf(r)); diff != "" {
		t.Error(diff)
	}
	if len(r.Samples) != 7 { // 3 + 3 + 1, and no aggregate
		t.Errorf("%d samples, want 7", len(r.Samples))
	}
	want := []results.Metric{{Unit: results.NsPerOp, Value: 1.6674319338332517}, {Unit: "cpu-sec/op", Value: 1.6584074309283972 / 1e9}, {Unit: "B/s", Value: 3.8591240491591385e10}, {Unit: "spare", Value: 3}}
	if diff := cmp.Diff(want, r.Samples[0].Values); diff != "" {
		t.Error(diff)
	}
	if v, _ := r.Samples[6].Value(results.NsPerOp); v != 8.1913730531709070 {
		t.Errorf("microseconds became %v ns", v)
	}
	if len(r.Failures) != 1 || r.Failures[0].Reason != `no "input"` {
		t.Errorf("failures: %+v", r.Failures)
	}
	means, _ := readFile(t, "google-aggregates.json")
	if len(means.Samples) != 2 || !slices.Contains(means.Warnings, onlyMeans) {
		t.Errorf("of aggregates: %d samples with warnings %q, want the two means", len(means.Samples), means.Warnings)
	}
}

func TestHyperfine(t *testing.T) {
	r, _ := readFile(t, "hyperfine.json")
	want := []string{"Command/command=sort_--version/n=10", "Command/command=seq_10000/n=10", "Command/command=sort_--version/n=20", "Command/command=seq_20000/n=20"}
	if diff := cmp.Diff(want, namesOf(r)); diff != "" {
		t.Error(diff)
	}
	var file struct{ Results []struct{ Times []float64 } }
	data, _ := os.ReadFile("testdata/hyperfine.json")
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, c := range file.Results {
		for _, seconds := range c.Times {
			if v, _ := r.Samples[i].Value(results.NsPerOp); v != seconds*1e9 || r.Samples[i].Process != i+1 {
				t.Errorf("sample %d: %v ns of process %d, want %v s of its own", i, v, r.Samples[i].Process, seconds)
			}
			i++
		}
	}
	same, _, err := Read(strings.NewReader(`{"results":[{"command":"a","mean":1},{"command":"a","mean":2,"exit_codes":[0,1,null]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Command/command=a", "Command/command=a/again=2"}, namesOf(same)); diff != "" {
		t.Error(diff)
	}
	if w := "a ended with an error in 2 of 3 runs"; !slices.Contains(same.Warnings, w) {
		t.Errorf("warnings %q, want %q", same.Warnings, w)
	}
}

// TestBadInput: each message says what is wrong and where.
func TestBadInput(t *testing.T) {
	for input, want := range map[string]string{
		"":                                      "none of llama-bench, JSON; ",
		"hello":                                 "none of llama-bench, JSON; ",
		"{}":                                    "none of llama-bench, JSON; ",
		"[]":                                    "none of llama-bench, JSON; ",
		`{"results":[]}`:                        "none of llama-bench, JSON; ",
		`{"context":{},"bench`:                  "(as JSON it is broken: byte 20: unexpected end of JSON input)",
		"n_prompt,n_gen,avg_ns":                 "llama-bench, CSV: it has no tests",
		"n_prompt,n_gen,avg_ns\n1,2":            "llama-bench, CSV: record on line 2: wrong number of fields",
		"n_prompt,n_gen,avg_ns\n5,x,7":          `test 1: n_gen is "x"`,
		"n_prompt,n_gen,avg_ns\n5,0,NaN":        "test 1: a time is NaN",
		"n_prompt,n_gen,avg_ns\n0,0,7":          "test 1: n_prompt and n_gen are 0",
		"n_prompt,n_gen,avg_ns\n-3,0,7":         `test 1: n_prompt is "-3"`,
		`[{"n_prompt":1,"n_gen":0,"avg_ns":0}]`: "test 1: a time is 0",
		`[{"n_prompt":1,"n_gen":0,"avg_ns":5,"samples_ns":[1,"x"]}]`:                 "test 1: samples_ns: ",
		`{"n_prompt":1,"n_gen":0,"avg_ns":5}` + "\n{":                                "test 2, behind byte ",
		"| test | t/s |\n|--|--|\n| pp5 |":                                           "line 3: it has 1 cells and the table 2 columns",
		"| test | t/s |\n| zz5 | 3 |":                                                `line 2: unknown test "zz5"`,
		"| test | t/s |\n| pp5 | fast |":                                             `line 2: t/s is "fast"`,
		"| test | t/s |\n| pp5 | 0 |":                                                "line 2: t/s is 0",
		"| test | t/s |":                                                             "it has no tests",
		`{"context":{},"benchmarks":[]}`:                                             "Google Benchmark, JSON: it has no results",
		`{"context":{},"benchmarks":[{"name":"a","real_time":1,"time_unit":"h"}]}`:   `benchmark 1, "a": unknown time_unit "h"`,
		`{"context":{},"benchmarks":[{"name":"a","real_time":-1,"time_unit":"ns"}]}`: `benchmark 1, "a": real_time is -1`,
		`{"context":{},"benchmarks":[{"name":5}]}`:                                   "benchmark 1: ",
		`{"context":5,"benchmarks":[]}`:                                              "byte ",
		`{"results":[{"command":"a","times":[1,0]}]}`:                                `command 1, "a": a time is 0`,
		`{"results":[{"command":"a","mean":"x"}]}`:                                   "byte ",
	} {
		r, _, err := Read(strings.NewReader(input))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v and %v, want an error with %q", input, r, err, want)
		}
	}
	if _, _, err := Read(strings.NewReader(strings.Repeat("x", maxFile+1))); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a file too large: %v", err)
	}
}

// FuzzRead: whatever is read can be written, or says why not.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	const most = 16 << 10 // more than any of the files
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > most {
			t.Skip("it would take long, and show no more")
		}
		r, _, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var text bytes.Buffer
		if r.Write(&text) != nil {
			return
		}
		again, err := results.Read(&text, "again")
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if len(again.Samples) != len(r.Samples) {
			t.Errorf("%d samples were written and %d read", len(r.Samples), len(again.Samples))
		}
	})
}
