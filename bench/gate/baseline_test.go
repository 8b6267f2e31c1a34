package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
)

func baseline(t *testing.T, text string) *Baseline {
	t.Helper()
	file := filepath.Join(t.TempDir(), "results.txt")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A later is head at another time: all benchmarks have shifted, each by some
// more, and one by the code.
type later struct {
	rng    *rand.Rand
	center map[string]float64
	allocs float64
	runs   []Batch
	fail   error
	now    time.Time
}

func (l *later) Prepare(context.Context, int, []Benchmark) error { return nil }
func (l *later) Plan(context.Context, []Benchmark, time.Duration) ([]Batch, error) {
	panic("a comparison with a baseline plans by the file")
}

func (l *later) Run(_ context.Context, s Side, b Batch) ([][]results.Metric, error) {
	if s != Head {
		panic("only head is measured")
	}
	l.runs = append(l.runs, b)
	l.now = l.now.Add(time.Second)
	ns := l.center[b.Benchmarks[0].Name] * math.Exp(0.02*l.rng.NormFloat64())
	return [][]results.Metric{{{Unit: results.NsPerOp, Value: ns}, {Unit: results.Allocs, Value: l.allocs}}}, l.fail
}

// times makes a file of ten processes of cases, and what is measured later.
func times(t *testing.T, seed uint64, cases int, shift, drift float64) (*Baseline, []Benchmark, *later) {
	l := &later{rng: rand.New(rand.NewPCG(seed, 3)), center: map[string]float64{}, allocs: 2}
	var text strings.Builder
	var all []Benchmark
	for i := range cases {
		b := Benchmark{"p", fmt.Sprint("B", i)}
		all = append(all, b)
		l.center[b.Name] = 1000 * math.Exp(shift+drift*l.rng.NormFloat64())
		for p := range 10 {
			fmt.Fprintf(&text, "pkg: p\n# process %d\nBenchmark%s 100 %v ns/op 2 allocs/op\n", p+1, b.Name, 1000*math.Exp(0.02*l.rng.NormFloat64()))
		}
	}
	return baseline(t, text.String()), all, l
}

func (l *later) compare(t *testing.T, b *Baseline, all []Benchmark) *Report {
	t.Helper()
	r, err := b.Compare(t.Context(), l, all, Options{Threshold: 0.3, Now: func() time.Time { return l.now }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What time does to all benchmarks, or a little to each, is no regression.
func TestBaselineOfTheSameCode(t *testing.T) {
	decided := 0
	for seed := range uint64(60) {
		cases, shift := 20, 0.1*float64(seed%3)
		if seed%2 == 1 {
			cases = 3
		}
		b, all, l := times(t, seed, cases, shift, 0.04)
		switch r := l.compare(t, b, all); r.Exit() {
		case 0:
			decided++
		case 1:
			t.Errorf("seed %d: %d cases of the same code at another time are a regression", seed, cases)
		}
	}
	if decided < 10 {
		t.Errorf("%d of 60 comparisons pass, want at least 10", decided)
	}
}

func TestBaselineFindsWhatDoubled(t *testing.T) {
	for seed := range uint64(20) {
		cases := 20
		if seed%2 == 1 {
			cases = 3
		}
		b, all, l := times(t, seed, cases, 0.05, 0.02)
		l.center["B1"] *= 2.2
		r := l.compare(t, b, all)
		for _, f := range r.Findings {
			if slower := f.Verdict == Slower; slower != (f.Name == "B1" && f.Unit == results.NsPerOp) {
				t.Errorf("seed %d, %d cases: %s %s is %v: %+v", seed, cases, f.Name, f.Unit, f.Verdict, f.Change)
			}
		}
		if r.Exit() != 1 {
			t.Errorf("seed %d: exit %d, want 1", seed, r.Exit())
		}
	}
}

// A file of a comparison has base's processes too, and is judged as it was.
func TestBaselineReadBack(t *testing.T) {
	b, all, l := times(t, 1, 20, 0.05, 0.02)
	l.center["B1"] *= 2.2
	var out bytes.Buffer
	file := NewRecorder(&out, nil, func(unit string) int { return results.UnitOf(unit).Better })
	want, err := b.Compare(t.Context(), l, all, Options{Threshold: 0.3, Now: func() time.Time { return l.now }, Record: file.Record})
	if err == nil {
		err = file.Finish(want, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadResults(&out, "f")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Finding{}
	for _, f := range got.Report.Findings {
		byName[f.Name+f.Unit] = f
	}
	for _, f := range want.Findings {
		if g := byName[f.Name+f.Unit]; !reflect.DeepEqual(f, g) {
			t.Errorf("%+v\nis read back as\n%+v", f, g)
		}
	}
	if got.Report.Exit() != want.Exit() || len(got.Report.Findings) != len(want.Findings) {
		t.Errorf("exit %d, want %d", got.Report.Exit(), want.Exit())
	}
}

// An allocation more needs no statistics, at whatever time.
func TestBaselineExactUnits(t *testing.T) {
	b, all, l := times(t, 1, 2, 0, 0)
	l.allocs = 3
	r := l.compare(t, b, all)
	if r.Exit() != 1 || r.Findings[1].Unit != results.Allocs || !r.Findings[1].Exact || r.Findings[1].Verdict != Slower {
		t.Errorf("exit %d, %+v", r.Exit(), r.Findings[1])
	}
}

// Too few processes decide nothing, and what was measured before an error is
// kept.
func TestBaselineOfTooLittleTime(t *testing.T) {
	b, all, l := times(t, 1, 2, 0, 0)
	l.center["B0"] *= 3
	r, err := b.Compare(t.Context(), l, all, Options{Budget: time.Second, Now: func() time.Time { return l.now }})
	if err != nil || r.Exit() != 3 || r.Rounds >= r.Needed {
		t.Errorf("exit %d after %d rounds of %d, %v, want 3", r.Exit(), r.Rounds, r.Needed, err)
	}
	if in := r.Findings[0].Change; !math.IsInf(in.Lo, -1) || !math.IsInf(in.Hi, 1) {
		t.Errorf("of too few processes the change is %+v, want no bounds", in)
	}
	l.fail = errors.New("it panics")
	r, err = b.Compare(t.Context(), l, all, Options{})
	if !errors.Is(err, l.fail) || r.Exit() != 2 {
		t.Errorf("exit %d, %v, want 2 and the cause", r.Exit(), err)
	}
}

// Head performs as many operations as the file's benchmarks did, unless that
// takes longer than there is time.
func TestBaselineOperations(t *testing.T) {
	b, all, l := times(t, 1, 1, 0, 0)
	l.compare(t, b, all)
	if run := l.runs[0]; run.N != 300 || run.Repeats != 3 || len(l.runs) != baselineProcesses {
		t.Errorf("%d processes, %+v, want 10 of 3×100 operations", len(l.runs), run)
	}
	slow := baseline(t, "pkg: p\nBenchmarkB0 100 1e9 ns/op\n")
	said := ""
	if _, err := slow.Compare(t.Context(), l, all, Options{Budget: time.Minute, Now: func() time.Time { return l.now }, Warn: func(s string) { said = s }}); err != nil {
		t.Fatal(err)
	}
	if n := l.runs[len(l.runs)-1].N; n >= 20 || n < 1 || !strings.Contains(said, "4% of them are performed") {
		t.Errorf("%d operations of a second each in a minute, %q", n, said)
	}
}

func TestReadBaseline(t *testing.T) {
	// Of a gate head counts, each line a process.
	gate := baseline(t, "pkg: p\n# process 1\nside: base\nBenchmarkX 30 10 ns/op\n# process 2\nside: head\nBenchmarkX 30 20 ns/op\n# process 3\nside: head\nBenchmarkX 30 21 ns/op\n")
	x := Benchmark{"p", "X"}
	if g := gate.groups(x); len(g) != 2 || g[0][0].Values[0].Value != 20 || gate.operations(x) != 30 {
		t.Errorf("of a gate: %v, %d operations", g, gate.operations(x))
	}
	// Of processes as many samples as a process of a gate takes, of a single one its parts.
	line := "BenchmarkX 10 5 ns/op\n"
	many := baseline(t, "pkg: p\n"+strings.Repeat(line, 5)+"pkg: p\n"+line)
	if g := many.groups(x); len(g) != 2 || len(g[0]) != 3 || len(g[1]) != 1 || len(many.Warnings) != 0 {
		t.Errorf("of two processes: %v, %q", g, many.Warnings)
	}
	one := baseline(t, "pkg: p\n"+strings.Repeat(line, 7))
	if g := one.groups(x); len(g) != 2 || len(g[0]) != 3 || len(one.Warnings) != 1 || one.operations(x) != 30 {
		t.Errorf("of one process: %v, %q", g, one.Warnings)
	}
	for text, want := range map[string]string{
		"emulated: true\nBenchmarkX 1 5 ns/op\n": "under an emulator",
		"nothing\n":                              "holds no benchmark",
		"BenchmarkX 1 y ns/op\n":                 ":1:",
	} {
		file := filepath.Join(t.TempDir(), "r.txt")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadBaseline(t.Context(), file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want %q and the file", text, err, want)
		}
	}
}

func TestBaselineMatch(t *testing.T) {
	b := baseline(t, "BenchmarkX 1 5 ns/op\nBenchmarkGone 1 5 ns/op\nBenchmarkTwice 1 5 ns/op\n")
	head := []Benchmark{{"p", "New"}, {"p", "Twice"}, {"p", "X"}, {"q", "Twice"}}
	both, differ := b.Match(head)
	if !slices.Equal(both, []Benchmark{{"p", "X"}}) {
		t.Errorf("both have %v, want p's X", both)
	}
	var got []string
	for _, d := range differ {
		got = append(got, fmt.Sprint(d.Missing, " ", d.Package, d.Name))
	}
	if want := "base pNew,base pTwice,base qTwice,head Gone,head Twice"; strings.Join(got, ",") != want {
		t.Errorf("missing: %v, want %s", got, want)
	}
}

func TestBaselineDifferences(t *testing.T) {
	b := baseline(t, "goos: linux\ncpu: Old CPU\ngo-version: go1.25\nBenchmarkX 1 5 ns/op\n")
	got := b.Differences([]results.Setting{{Key: "goos", Value: "linux"}, {Key: "cpu", Value: "New CPU"}, {Key: "go-version", Value: "go1.26"}, {Key: "os", Value: "any"}})
	if len(got) != 2 || !strings.HasPrefix(got[0], `cpu is "New CPU" here and "Old CPU" in `) || !strings.HasPrefix(got[1], "go-version is ") {
		t.Errorf("differences: %q", got)
	}
	if got := baseline(t, "BenchmarkX 1 5 ns/op\n").Differences(nil); len(got) != 1 || !strings.Contains(got[0], "does not say on which machine") {
		t.Errorf("of a file without a header: %q", got)
	}
}
