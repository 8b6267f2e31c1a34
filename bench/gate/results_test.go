package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"onebit/bench/results"
)

// recorded is a gate on two packages, in the second of which head is slower.
func recorded(t *testing.T) (text []byte, seen []Measurement, report *Report) {
	t.Helper()
	f := newFake(1, 1.3)
	f.allocs = [3]float64{0, 1, 0}
	f.process = 0.002
	var out bytes.Buffer
	better := func(unit string) int { return results.UnitOf(unit).Better }
	r := NewRecorder(&out, []results.Setting{{Key: "goos", Value: "linux"}, {Key: "command", Value: "onebit gate\n--base a\x1b[31m"}}, better)
	list := []Benchmark{{"example.com/a", "B0"}, {"example.com/b", "B0"}, {"example.com/b", "B1/size=4"}}
	report, err := Run(t.Context(), f, list, Options{
		Seed: math.MaxUint64, Budget: 40 * time.Second, Now: func() time.Time { return f.now },
		Record: func(m Measurement) { seen = append(seen, m); r.Record(m) },
	})
	if err != nil {
		t.Fatal(err)
	}
	profiles := []Profile{{Benchmark: Benchmark{"example.com/b", "B0"}, Base: 10, Head: 13, Functions: []FunctionChange{{Name: "a.\u202eb", HeadFlat: 3}}}}
	if err := r.Finish(report, profiles); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), seen, report
}

// What is read back is what was measured, and what was found.
func TestResultsReadBack(t *testing.T) {
	text, seen, report := recorded(t)
	res, err := ReadResults(bytes.NewReader(text), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(res.Measurements, seen) {
		t.Errorf("%d measurements read, %d written, or they differ; the first: %+v, want %+v", len(res.Measurements), len(seen), res.Measurements[0], seen[0])
	}
	if len(res.Warnings) > 0 {
		t.Errorf("warnings: %q", res.Warnings)
	}
	if got := res.Setting("command"); got != `onebit gate --base a\x1b[31m` {
		t.Errorf("command: %q", got)
	}
	want, err := json.Marshal(NewDocument(report, nil))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(NewDocument(res.Report, nil))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the report read back:\n%s\nwant\n%s", got, want)
	}
	if len(res.Profiles) != 1 || res.Profiles[0].Functions[0].Name != "a.\u202eb" {
		t.Errorf("profiles: %+v", res.Profiles)
	}
}

// Verdicts follow from the measurements, whatever the rest of the file says.
func TestResultsJudgedAgain(t *testing.T) {
	text, _, report := recorded(t)
	if report.Exit() != 1 {
		t.Fatalf("%q, want something slower", report.Summary())
	}
	for _, said := range []string{"SLOWER", "SAME", report.Summary()} {
		if bytes.Contains(text, []byte(said)) {
			t.Errorf("the file says %q", said)
		}
	}
	head := regexp.MustCompile(`(side: head\nBenchmark\S+\s+\d+\s+)[0-9.e+]+ ns/op\s+[0-9]+ allocs/op`)
	res, err := ReadResults(bytes.NewReader(head.ReplaceAll(text, []byte("${1}1e3 ns/op 0 allocs/op"))), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	if res.Report.Exit() != 0 || res.Report.outcomes()[isFaster] != 3 {
		t.Errorf("of a head that takes 1 µs: %q", res.Report.Summary())
	}
}

// A program may end at any moment: what was written is readable up to the last
// finished process, and has no verdict until all of it is there.
func TestResultsCutShort(t *testing.T) {
	text, seen, _ := recorded(t)
	before := 0
	for end := 2000; end < len(text); end += 997 {
		res, err := ReadResults(bytes.NewReader(text[:end]), "results.txt")
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", end, err)
		}
		n := len(res.Measurements)
		if n < before || n < bytes.Count(text[:end], []byte("# process "))-1 || !reflect.DeepEqual(res.Measurements, seen[:n]) {
			t.Fatalf("cut after %d bytes: %d measurements, or they differ", end, n)
		}
		before = len(res.Measurements)
		if res.Report.Exit() != 2 || res.Report.Unfinished == "" || n > 100 && len(res.Report.Findings) == 0 {
			t.Errorf("cut after %d bytes, the report is %q", end, res.Report.Summary())
		}
	}
}

// Readers of the Go benchmark format find packages and sides as file
// configuration, and the directions of units.
func TestResultsFormat(t *testing.T) {
	text, seen, _ := recorded(t)
	in := benchfmt.NewReader(bytes.NewReader(text), "results.txt")
	n := 0
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			m := seen[n]
			if rec.GetConfig("pkg") != m.Package || rec.GetConfig("side") != m.Side.String() || rec.Iters != m.N {
				t.Fatalf("result %d: package %q, side %q; want those of %+v", n, rec.GetConfig("pkg"), rec.GetConfig("side"), m)
			}
			n++
		}
	}
	if n != len(seen) {
		t.Errorf("%d results, want %d", n, len(seen))
	}
	units := in.Units()
	if u := units.Get("ns/op", "better"); u == nil || u.Value != "lower" {
		t.Errorf("better= of ns/op: %v", u)
	}
}

func TestResultsErrors(t *testing.T) {
	const header = "goos: linux\npkg: a\n# process 1\n"
	const round = "# round 0 position 0 start 1s took 2s\n"
	for text, want := range map[string]string{
		"goos: linux\nBenchmarkA 1 2 ns/op\n":                                                             "no measurement of a gate",
		header + round + "side: left\nBenchmarkA 1 2 ns/op\n":                                             `f: a line of BenchmarkA is of side "left": there is no such side`,
		header + "# round x position 0\nside: base\nBenchmarkA 1 2 ns/op\n":                               "f:4: ",
		"BenchmarkA 1 2 ns/op\n" + header + round + "side: base\n":                                        "no process, round and side before it",
		header + round + "side: base\nBenchmarkA 1 2 ns/op\n# gate report {\n":                            "f:7: the gate's report",
		header + round + "side: base\nBenchmarkA 1 2 ns/op\n# gate terms {\"looks\":[{\"number\":11}]}\n": "f:7: the gate's terms: look 1 of it is none",
		header + round + "side: base\nBenchmarkA 1 2 ns/op\n# gate terms {\"resumed\":1000}\n":            "f:7: the gate's terms: a number in it is none",
		header + round + "side: base\nBenchmarkA 1 2\n":                                                   "f:6",
	} {
		if _, err := ReadResults(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The sides' files hold what was judged: the better of a round's processes.
func TestWriteSide(t *testing.T) {
	text, _, report := recorded(t)
	res, err := ReadResults(bytes.NewReader(text), "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []Side{Base, Head, Control} {
		var out bytes.Buffer
		if err := res.WriteSide(&out, side); err != nil {
			t.Fatal(err)
		}
		read, err := results.Read(&out, "side")
		if err != nil {
			t.Fatal(err)
		}
		want := report.Findings[0].Of(side)
		for i, s := range read.Samples[:len(want)] {
			if v, _ := s.Value(report.Findings[0].Unit); v != want[i] {
				t.Errorf("%v, round %d: %v, want %v", side, i, v, want[i])
			}
		}
		if len(read.Samples) == 0 || read.Setting("pkg") != "example.com/a" {
			t.Errorf("%v: %d samples of %q", side, len(read.Samples), read.Setting("pkg"))
		}
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestRecorderKeepsTheFirstError(t *testing.T) {
	r := NewRecorder(&failing{after: 2}, nil, func(string) int { return -1 })
	for range 5 {
		r.Record(Measurement{Benchmark: Benchmark{"a", "B"}, Start: time.Duration(r.process), Values: []results.Metric{{Unit: results.NsPerOp, Value: 1}}})
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "no space left (what the processes before number 3 measured stays there)") {
		t.Errorf("err = %v", err)
	}
}

// A gate that is interrupted says so, and is no pass.
func TestUnfinished(t *testing.T) {
	f := newFake(1, 1)
	measured := 0
	r, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{Now: func() time.Time { return f.now }, Record: func(Measurement) {
		if measured++; measured == 20 {
			f.fail = context.Canceled
		}
	}})
	if !errors.Is(err, context.Canceled) || r.Exit() != 2 || !strings.Contains(r.Summary(), "interrupted") {
		t.Errorf("exit %d, %q, %v", r.Exit(), r.Summary(), err)
	}
}

// A process may measure several benchmarks: each keeps its name.
func TestRecorderGroupsByProcess(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(&out, nil, func(string) int { return -1 })
	var want []Measurement
	for i, side := range []Side{Base, Head, Control} {
		for _, name := range []string{"A", "B"} {
			m := Measurement{
				Benchmark: Benchmark{"p", name}, Side: side, Position: i, N: 5, Start: time.Duration(i) * time.Second, Took: time.Second,
				Values: []results.Metric{{Unit: results.NsPerOp, Value: float64(i)}},
			}
			r.Record(m)
			want = append(want, m)
		}
	}
	if n := strings.Count(out.String(), "# process "); n != 3 {
		t.Errorf("%d processes, want 3", n)
	}
	res, err := ReadResults(&out, "f")
	if err != nil || !reflect.DeepEqual(res.Measurements, want) {
		t.Errorf("%+v, %v, want %+v", res.Measurements, err, want)
	}
}
