package gate

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
)

// finished is a gate of 90 seconds, and its results as they are read back.
func finished(t *testing.T, f *fake, list []Benchmark, before *Results) (*Report, *Results) {
	t.Helper()
	var out bytes.Buffer
	record := NewRecorder(&out, nil, func(unit string) int { return results.UnitOf(unit).Better })
	if before != nil {
		for _, m := range before.Measurements {
			record.Record(m)
		}
	}
	r, err := Run(t.Context(), f, list, Options{
		Budget: 90 * time.Second, Start: f.now, KeepGoing: true, Resume: before, Now: func() time.Time { return f.now }, ThresholdOf: noAllocs, Record: record.Record,
	})
	if err == nil {
		err = record.Finish(r, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := ReadResults(&out, "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	return r, res
}

// Rounds that are added to a finished gate decide more, by all rounds together;
// what was proved stays, and the chance of a false claim hardly grows.
func TestResume(t *testing.T) {
	f := newFake(4, 1.2)
	f.layout, f.process = 0.04, 0.02
	var list []Benchmark
	for i := range 8 {
		list = append(list, Benchmark{"p", fmt.Sprint("B", i)})
	}
	first, before := finished(t, f, list, nil)
	f.now = f.now.Add(time.Hour) // the gates are far apart
	second, after := finished(t, f, list, before)
	if n := second.outcomes()[isUndecided]; n >= first.outcomes()[isUndecided] || first.outcomes()[isSlower] != 1 || second.outcomes()[isSlower] != 1 {
		t.Fatalf("outcomes %v, then %v: want fewer undecided, and B0 slower", first.outcomes(), second.outcomes())
	}
	if second.Rounds <= first.Rounds || second.Elapsed <= first.Elapsed || second.Elapsed > 4*time.Minute || second.Setup >= 20*time.Second {
		t.Errorf("%d rounds in %v, %v to set up, after %d in %v", second.Rounds, second.Elapsed, second.Setup, first.Rounds, first.Elapsed)
	}
	if a := second.FalseAlarms(); second.Resumed != 1 || math.Abs(a-first.Options.Alarm*4/3) > 1e-9 {
		t.Errorf("resumed %d times with a chance of %v, after %v", second.Resumed, a, first.Options.Alarm)
	}
	for i, was := range first.Findings {
		if is := second.Findings[i]; was.Judged() && !was.Exact && !was.open() && (is.Verdict != was.Verdict || is.Rounds != was.Rounds || math.Abs(is.Change.Center-was.Change.Center) > 1e-9) {
			t.Errorf("%s %s was %v after %d rounds and is %v after %d", was.Name, was.Unit, was.Verdict, was.Rounds, is.Verdict, is.Rounds)
		}
	}
	for i, f := range second.Findings {
		if read := after.Report.Findings[i]; read.Verdict != f.Verdict || read.Pass != f.Pass || read.Rounds != f.Rounds || read.Change != f.Change {
			t.Errorf("%s %s is %v by %d rounds, and %v by %d when it is judged again", f.Name, f.Unit, f.Verdict, f.Rounds, read.Verdict, read.Rounds)
		}
	}
	if n := len(after.Measurements); n <= len(before.Measurements) || after.Measurements[n-1].Round != second.Rounds-1 || after.Report.Summary() != second.Summary() {
		t.Errorf("%d measurements, the last of round %d, want all of %d rounds; %q, want %q", n, after.Measurements[n-1].Round, second.Rounds, after.Report.Summary(), second.Summary())
	}
}

// A gate over other benchmarks, one that did not end and one that proved nothing
// get no more rounds.
func TestResumeRefuses(t *testing.T) {
	f := newFake(4, 1)
	f.process = 0.1
	list := []Benchmark{{"p", "B0"}, {"p", "B1"}}
	_, before := finished(t, f, list, nil)
	changed := func(change func(*Report)) *Results {
		res, report := *before, *before.Report
		change(&report)
		res.Report = &report
		return &res
	}
	for want, tt := range map[string]struct {
		list   []Benchmark
		before *Results
	}{
		"BenchmarkB1 of p, which is not compared now": {list[:1], before},
		"did not measure BenchmarkB2":                 {append(list, Benchmark{"p", "B2"}), before},
		"did not come to its end: it was interrupted": {list, changed(func(r *Report) { r.Unfinished = unfinished(errors.New("it was interrupted")) })},
		"begin anew":           {list, changed(func(r *Report) { r.Alarms = []string{"A"} })},
		"nothing is undecided": {list, changed(func(r *Report) { r.Findings = nil })},
	} {
		_, err := Run(t.Context(), f, tt.list, Options{Resume: tt.before, Now: func() time.Time { return f.now }})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
