package gate

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
)

// A fakeCounter executes what its test says: by side, function and counting, in
// an operation. A process executes a thousand instructions beside that.
type fakeCounter struct {
	executes  map[Side]map[string][countings]float64
	processes [2]int
	fail      error
}

func (f *fakeCounter) count(_ context.Context, s Side, _ Benchmark, n int) (map[string]float64, error) {
	counted := map[string]float64{}
	for name, each := range f.executes[s] {
		counted[name] = 1000 + float64(n)*each[f.processes[s]/2]
	}
	f.processes[s]++
	return counted, f.fail
}

func (f *fakeCounter) meter() *InstructionMeter {
	return &InstructionMeter{Name: "a fake", Slower: 1, Enough: time.Millisecond, Count: f.count}
}

// countFake counts the one benchmark of a report, whose time is judged so.
func countFake(t *testing.T, f *fakeCounter, time Verdict, rule float64) (r *Report, recorded []Measurement) {
	t.Helper()
	r = madeReport(made("Decode/large", results.NsPerOp, time, 4, 6))
	r.Findings[0].Base = []float64{100}
	err := CountInstructions(t.Context(), r, CountOptions{
		By: f.meter(), Left: 1e9, ThresholdOf: func(Benchmark) (float64, bool) { return rule, rule > 0 },
		Record: func(m Measurement) { recorded = append(recorded, m) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, recorded
}

func executes(own, ownAgain, runtime float64) map[string][countings]float64 {
	return map[string][countings]float64{"p.Sum": {own, ownAgain}, "runtime.mallocgc": {runtime, runtime}}
}

// What counts say stands beside the verdict on time, and changes it nowhere: but
// a rule makes them a verdict of their own.
func TestInstructions(t *testing.T) {
	base := executes(1000, 1000.5, 500)
	for name, c := range map[string]struct {
		head    map[string][countings]float64
		time    Verdict
		rule    float64
		says    string
		exit    int
		summary string
	}{
		"as many, undecided": {executes(1001, 1000, 500), Unsure, 0,
			"Decode/large is UNSURE by time and executes as many instructions as in base: 1.00 k an operation, within 0.2%.", 0, ""},
		"as many, slower": {executes(1001, 1000, 500), Slower, 0, "Decode/large is SLOWER and executes as many instructions as in base", 1, ""},
		"as many, the same": {executes(1001, 1000, 500), Same, 0,
			"Instructions of an operation in 1 benchmark, by a fake: 1 as many.", 0, ""},
		"more, slower": {executes(1100, 1101, 500), Slower, 0,
			"Decode/large executes 10.0% more instructions: p.Sum 100 more in an operation.", 1, ""},
		"more in the runtime": {executes(1000, 1000, 600), Unsure, 0,
			"Decode/large executes 6.6% more instructions with those of Go's runtime, and as many without: runtime.mallocgc 100 more in an operation.", 0, ""},
		"fewer, undecided": {executes(900, 901, 500), Unsure, 0, "Decode/large is UNSURE by time and executes 10.0% fewer instructions.", 0, ""},
		"more than the rule allows": {executes(1020, 1020, 500), Same, 0.01,
			"Decode/large executes 2.0% more instructions", 1, "worse: Decode/large instructions/op +2.0% [1.8, 2.2]"},
		"less than the rule allows": {executes(1008, 1008, 500), Same, 0.01, "0.8% more", 0, "nothing is proved slower; 1 slower within the threshold"},
		"the rule's runtime":        {executes(1000, 1000, 600), Same, 0.01, "", 0, "nothing is proved slower; 1 same by measurement"},
		"nothing":                   {executes(3, 3, 0), Unsure, 0, "No count of the instructions of Decode/large: head executes 3 instructions in an operation outside of Go's runtime, no more than a loop that does nothing.", 0, ""},
		"unsteady":                  {executes(1000, 1100, 0), Unsure, 0.01, "No count of the instructions of Decode/large: its counts vary by 19%, and the threshold is 1%.", 0, ""},
	} {
		r, recorded := countFake(t, &fakeCounter{executes: map[Side]map[string][countings]float64{Base: base, Head: c.head}}, c.time, c.rule)
		said := strings.Join(r.Advice(), "\n")
		if !strings.Contains(said, c.says) || r.Exit() != c.exit || c.summary != "" && r.Summary() != c.summary {
			t.Errorf("%s: exit %d, want %d; %q: %s", name, r.Exit(), c.exit, r.Summary(), said)
		}
		if len(recorded) != 2*countings || recorded[0].Values[0].Unit != results.Instructions || math.Abs(recorded[0].Values[0].Value-1000) > 1e-6 {
			t.Errorf("%s: recorded %+v", name, recorded)
		}
		if got := r.timeVerdict(r.Counts[0]); got != c.time {
			t.Errorf("%s: the verdict on time became %v", name, got)
		}
	}
}

// What cannot be counted is said, with the reason, and is no proof.
func TestInstructionsRefused(t *testing.T) {
	works := map[Side]map[string][countings]float64{Base: executes(1000, 1000, 0), Head: executes(1000, 1000, 0)}
	r, _ := countFake(t, &fakeCounter{executes: works, fail: errors.New("out of order")}, Same, 0.01)
	if said := strings.Join(r.Advice(), "\n"); !strings.Contains(said, "No count of the instructions of Decode/large: out of order.") || r.Exit() != 0 {
		t.Errorf("a failure: exit %d: %s", r.Exit(), said)
	}
	if r.Options.Prove = true; r.Exit() != 2 {
		t.Errorf("a failure of what a rule judges, where proof is demanded: exit %d", r.Exit())
	}
	slow := madeReport(made("Slow", results.NsPerOp, Unsure, 4, 6))
	slow.Findings[0].Base = []float64{1e9}
	own := made("Own", results.NsPerOp, Unsure, 4, 6)
	slow.Findings = append(slow.Findings, own, made("Own", results.Instructions, Same, 0, 1))
	err := CountInstructions(t.Context(), slow, CountOptions{
		By: (&fakeCounter{executes: works}).meter(), Left: 5 * time.Second, ThresholdOf: func(Benchmark) (float64, bool) { return 0, false }, Record: func(Measurement) {},
	})
	said := strings.Join(slow.Advice(), "\n")
	if err != nil || !strings.Contains(said, "of Own: it reports instructions/op itself.") || !strings.Contains(said, "of Slow: counting it takes up to 30 seconds, and so much was not left") {
		t.Errorf("%v: %s", err, said)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CountInstructions(ended, slow, CountOptions{By: (&fakeCounter{executes: works, fail: ended.Err()}).meter(), Left: time.Minute, ThresholdOf: func(Benchmark) (float64, bool) { return 0, false }}); !errors.Is(err, context.Canceled) {
		t.Errorf("of a gate that was interrupted: %v", err)
	}
}

// Counts are read back from the results, in Go's format and as they were judged.
func TestInstructionsReadBack(t *testing.T) {
	r, recorded := countFake(t, &fakeCounter{executes: map[Side]map[string][countings]float64{Base: executes(1000, 1000, 1), Head: executes(1100, 1100, 1)}}, Same, 0.01)
	var out bytes.Buffer
	file := NewRecorder(&out, nil, r.Options.Better)
	for _, m := range recorded {
		file.Record(m)
	}
	if err := file.Finish(r, nil); err != nil {
		t.Fatal(err)
	}
	res, err := ReadResults(&out, "results.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, want := res.Report.Findings, r.Findings[len(r.Findings)-1:]
	if !reflect.DeepEqual(res.Report.Counts, r.Counts) || res.Report.Exit() != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, counts %+v; want %+v, %+v", got, res.Report.Counts, want, r.Counts)
	}
}

// The runtime's own functions are those whose counts vary.
func TestRuntimes(t *testing.T) {
	for name, want := range map[string]bool{
		"runtime.mallocgc": true, "internal/runtime/gc/scan.scanSpanPackedAVX512": true, "runtime/debug.FreeOSMemory": false,
		"internal/runtime/maps.(*Map).getWithKey": false, "example.com/runtime.F": false, "": false,
	} {
		if runtimes(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
