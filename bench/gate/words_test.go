package gate

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/require"
)

// made is a finding by its verdict, its change and the half of its interval's
// width, in per cent.
func made(name, unit string, v Verdict, change, half float64) Finding {
	f := Finding{
		Benchmark: Benchmark{"p", name}, Unit: unit, Verdict: v, Better: -1, Pass: v == Same || v == Faster || v == Within,
		Change: Interval{math.Log1p(change / 100), math.Log1p((change - half) / 100), math.Log1p((change + half) / 100)}, Threshold: 0.03,
		Rounds: 20, Base: []float64{0}, Head: []float64{1}, Control: []float64{0},
	}
	f.Exact = half == 0
	return f
}

func madeReport(findings ...Finding) *Report {
	return &Report{
		Findings: findings, Rounds: 20, Needed: 10, Elapsed: 5*time.Minute + 10*time.Second, Setup: 10 * time.Second,
		Options: Options{Threshold: 0.03, Alarm: 0.01, Better: func(string) int { return -1 }},
	}
}

// The first line names the worst and counts benchmarks, not values.
func TestSummary(t *testing.T) {
	same, sameAllocs := made("A", results.NsPerOp, Same, 0.1, 1), made("A", results.Allocs, Same, 0, 0)
	large, small := made("Decode/large", results.NsPerOp, Slower, 12.4, 1.5), made("Decode/small", results.NsPerOp, Slower, 5, 1)
	unknown := made("B", results.NsPerOp, Unsure, 1, 3)
	for want, r := range map[string]*Report{
		"nothing is proved slower; 1 same by measurement":                 madeReport(same, sameAllocs),
		"nothing is proved slower; 1 same by measurement; 1 undecided":    madeReport(same, unknown),
		"slower: Decode/large +12.4% [10.9, 13.9]; 1 same by measurement": madeReport(same, large),
		"slower: Decode/large +12.4% [10.9, 13.9]; 1 other worse; 1 faster; 1 same by measurement; 1 undecided": madeReport(
			small, same, large, unknown, made("E", results.NsPerOp, Faster, -9, 1)),
		"worse: Decode/large allocs/op +50.0%; 1 slower within the threshold": madeReport(
			large, made("Decode/large", results.Allocs, Slower, 50, 0), made("W", results.NsPerOp, Within, 2, 1)),
		"nothing is proved slower; perhaps slower: B +9.0% [6.0, 12.0]; 1 same by measurement; 2 undecided": madeReport(
			same, made("C", results.NsPerOp, Unsure, 1, 3), made("B", results.NsPerOp, Unsure, 9, 3)),
		"worse: A allocs/op 1 instead of 0": madeReport(func() Finding {
			f := made("A", results.Allocs, Slower, 0, 0)
			f.Change = Interval{math.Inf(1), math.Inf(1), math.Inf(1)}
			return f
		}()),
	} {
		if got := r.Summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := madeReport(same, unknown)
	r.Options.Code = &Code{Same: make([]Benchmark, 37)}
	if got := r.Summary(); got != "nothing is proved slower; 37 same by code; 1 by measurement; 1 undecided" {
		t.Error(got)
	}
	r.Options.Code = nil
	r.Options.Prove = true
	if got := r.Summary(); got != "not all is proved the same; 1 same by measurement; 1 undecided" {
		t.Error(got)
	}
	r.Options.Prove, r.Needed = false, 30
	if got := r.Summary(); got != "too little time: 20 rounds fit into the budget, and a proof needs 30; 1 same by measurement; 1 undecided" {
		t.Error(got)
	}
	r.Unfinished = "it was interrupted"
	if got := r.Summary(); got != "unfinished after 20 rounds: it was interrupted; 1 same by measurement; 1 undecided" {
		t.Error(got)
	}
	r.Unfinished, r.Alarms = "", []string{"A"}
	if got := r.Summary(); got != "the machine is unfit: base differs from itself, so nothing is proved" {
		t.Error(got)
	}
}

// A bound that is at so many per cent of what it has to come to needs the square
// of that in rounds.
func TestAdvice(t *testing.T) {
	undecided := func(change, half float64) Finding {
		return made(fmt.Sprint(change, half), results.NsPerOp, Unsure, change, half)
	}
	for _, tt := range []struct {
		findings []Finding
		want     []string
	}{
		{[]Finding{made("A", results.NsPerOp, Same, 0, 1)}, nil},
		{[]Finding{undecided(0, 4.2)}, []string{
			"A slowdown of more than 4.2% in any of 1 undecided would have been seen.",
			"About 5 minutes more decide 1 of 1, if intervals narrow with the square root of rounds (--budget 10m)."}},
		{[]Finding{undecided(0, 3.1), undecided(0.5, 3), undecided(1, 4.5), undecided(2, 20)}, []string{
			"A slowdown of more than 22.0% in any of 4 undecided would have been seen.",
			"About 3 minutes more decide 2 of 4, if intervals narrow with the square root of rounds (--budget 8m)."}},
		{[]Finding{undecided(3, 4)}, []string{
			"A slowdown of more than 7.0% in any of 1 undecided would have been seen.",
			"More time alone decides little: they lie too near to their thresholds for the noise here."}},
	} {
		if got := madeReport(tt.findings...).Advice(); !slices.Equal(got, tt.want) {
			t.Errorf("%q\nwant %q", got, tt.want)
		}
	}
	r := madeReport(made("A", results.NsPerOp, Slower, 10, 1), undecided(0, 4))
	r.Early = true
	if got := r.Advice(); len(got) != 1 || got[0] != "The gate ended when this was certain, and 1 benchmark was not measured to the end: --keep-going measures the rest." {
		t.Errorf("%q", got)
	}
}

// Most of what a forecast says to be decided in so much more time is.
func TestForecastComesTrue(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	require.Unraced(t, "one thread computes it")
	gates := uint64(6)
	if require.All() {
		gates = 60
	}
	var list []Benchmark
	for i := range 10 {
		list = append(list, Benchmark{"p", fmt.Sprint("B", i)})
	}
	forecast, came := 0, 0
	for seed := range gates {
		run := func(budget time.Duration) *Report {
			f := newFake(seed, 1.02)
			f.layout, f.process = 0.04, 0.02
			r, err := Run(t.Context(), f, list, Options{Budget: budget, KeepGoing: true, Now: func() time.Time { return f.now }, ThresholdOf: noAllocs})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		short := run(2 * time.Minute)
		if decided, of, further := short.forecast(); decided > 0 {
			forecast += decided
			came += min(decided, of-run(short.Elapsed + further).outcomes()[isUndecided])
		}
	}
	if forecast == 0 || came < forecast/2 {
		t.Errorf("of %d that were to be decided %d are, want most", forecast, came)
	}
	t.Logf("%d of %d", came, forecast)
}

// Values that did not vary yet say so, and when they are decided.
func TestReasonOfFewExactRounds(t *testing.T) {
	f := made("A", results.Allocs, Unsure, 10, 0)
	f.Exact = true
	if got, want := f.Reason(), "every process gave the same value so far, and the change is beyond 3%: more rounds exclude chance"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if r := madeReport(f); r.roundsFor(r.Findings[0]) != max(float64(r.Rounds)+1, float64(r.Needed)) {
		t.Errorf("it needs %v rounds", r.roundsFor(r.Findings[0]))
	}
}
