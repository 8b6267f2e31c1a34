package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/require"
)

// A fake is a target whose noise is known: a factor of the layout, which a
// round keeps for a side, one of the process, and a drift that all share.
type fake struct {
	rng             *rand.Rand
	slower          float64 // head's time over base's
	layout, process float64 // standard deviations of the logarithm
	bursts          float64 // share of processes that take twice as long
	layouts         [3]map[string]float64
	now             time.Time
	drift           float64
	allocs          [3]float64
	strays          float64 // share of processes that make one allocation more
	together        int     // benchmarks of a process; 0: one
	fail            error
}

func newFake(seed uint64, slower float64) *fake {
	return &fake{rng: rand.New(rand.NewPCG(seed, 7)), slower: slower, layout: 0.015, process: 0.01, bursts: 0.05}
}

func (f *fake) Prepare(context.Context, int, []Benchmark) error {
	for i := range f.layouts {
		f.layouts[i] = map[string]float64{}
	}
	f.now = f.now.Add(2 * time.Second)
	return nil
}

func (f *fake) Plan(_ context.Context, benchmarks []Benchmark, _ time.Duration) (batches []Batch, err error) {
	for b := range slices.Chunk(benchmarks, max(f.together, 1)) {
		batches = append(batches, Batch{Benchmarks: b, N: 6000, Took: 80 * time.Millisecond})
	}
	return batches, nil
}

func (f *fake) Run(_ context.Context, s Side, batch Batch) (all [][]results.Metric, err error) {
	for _, b := range batch.Benchmarks {
		all = append(all, f.measure(s, b))
	}
	return all, f.fail
}

func (f *fake) measure(s Side, b Benchmark) []results.Metric {
	layout, ok := f.layouts[s][b.Name]
	if !ok {
		layout = f.layout * f.rng.NormFloat64()
		f.layouts[s][b.Name] = layout
	}
	f.drift += 0.002 * f.rng.NormFloat64()
	ns := 1e4 * math.Exp(layout+f.process*f.rng.NormFloat64()+f.drift)
	if s == Head && b.Name == "B0" {
		ns *= f.slower
	}
	if f.rng.Float64() < f.bursts {
		ns *= 2
	}
	f.now = f.now.Add(80 * time.Millisecond)
	allocs := f.allocs[s]
	if f.strays > 0 && f.rng.Float64() < f.strays {
		allocs++
	}
	return []results.Metric{{Unit: results.NsPerOp, Value: ns}, {Unit: results.Allocs, Value: allocs}}
}

func noAllocs(_ Benchmark, unit string) (float64, bool) { return 0, unit == results.Allocs }

func (f *fake) gate(t *testing.T, n int) *Report {
	t.Helper()
	var list []Benchmark
	for i := range n {
		list = append(list, Benchmark{"p", fmt.Sprint("B", i)})
	}
	r, err := Run(t.Context(), f, list, Options{Now: func() time.Time { return f.now }, ThresholdOf: noAllocs})
	if err != nil {
		t.Fatal(err)
	}
	if limit := 5*time.Minute + 20*time.Second; r.Elapsed > limit {
		t.Errorf("it took %v, want no more than %v", r.Elapsed, limit)
	}
	return r
}

// Of gates on identical code, with layouts and bursts that an ordinary test
// would alarm at, no more than the promised share alarms.
func TestFalseAlarms(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	require.Unraced(t, "one thread computes it")
	gates, most := 10, 1 // with a chance of 1% two of 10 have one of 0.4%
	if require.All() {
		gates, most = 100, 4 // and five of 100, too
	}
	alarms, decided := 0, 0
	for seed := range gates {
		r := newFake(uint64(seed), 1).gate(t, 20)
		if r.Exit() == 1 {
			alarms++
		}
		if r.Exit() == 0 {
			decided++
		}
	}
	if alarms > most {
		t.Errorf("%d of %d gates on identical code alarm", alarms, gates)
	}
	if decided < gates/2 {
		t.Errorf("%d of %d gates on identical code pass, want most", decided, gates)
	}
}

func TestDetection(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	gates := 4
	if require.All() {
		gates = 40
	}
	found := 0
	for seed := range gates {
		r := newFake(uint64(seed), 1.05).gate(t, 20)
		for _, f := range r.Findings {
			if f.Verdict == Slower && f.Name == "B0" {
				found++
			}
		}
	}
	if found < gates*95/100 {
		t.Errorf("a slowdown of 5%% is found in %d of %d gates", found, gates)
	}
}

// What no process changes needs no statistics: one allocation more is one too
// many, one less is progress.
func TestExactUnits(t *testing.T) {
	for head, want := range map[float64]Verdict{3: Same, 4: Slower, 2: Faster} {
		f := newFake(1, 1)
		f.allocs = [3]float64{3, head, 3}
		for _, finding := range f.gate(t, 1).Findings {
			if finding.Unit == results.Allocs && (finding.Verdict != want || !finding.Exact) {
				t.Errorf("3 and %v allocations: %v, exact %v, want %v", head, finding.Verdict, finding.Exact, want)
			}
		}
	}
	f := newFake(1, 1)
	f.allocs = [3]float64{0, 1, 0}
	if r := f.gate(t, 1); r.Exit() != 1 {
		t.Errorf("an allocation where there was none: exit %d, want 1", r.Exit())
	}
}

// Of values that take turns between two, each side may have had its own in the few
// rounds before an early look: that is chance, and no claim.
func TestValuesThatTakeTurns(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	for seed := range uint64(100) {
		f := newFake(seed, 1)
		f.allocs, f.strays = [3]float64{100, 100, 100}, 0.5
		r, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{Budget: 30 * time.Second, Now: func() time.Time { return f.now }})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Findings {
			if x.Verdict != Same && x.Verdict != Unsure {
				t.Errorf("seed %d: %s is %v after %d rounds, by exact values: %v", seed, x.Unit, x.Verdict, x.Rounds, x.Exact)
			}
		}
	}
}

// Each process of a round is recorded once, in the order in which it ran.
func TestRecord(t *testing.T) {
	f := newFake(1, 1)
	var seen []Measurement
	r, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{Now: func() time.Time { return f.now }, Record: func(m Measurement) { seen = append(seen, m) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 6*r.Rounds {
		t.Fatalf("%d measurements of %d rounds, want 6 each", len(seen), r.Rounds)
	}
	for i, m := range seen {
		if m.Round != i/6 || m.Position != i%6 || m.N == 0 || m.Took <= 0 || len(m.Values) == 0 || i > 0 && m.Start < seen[i-1].Start {
			t.Errorf("measurement %d: %+v", i, m)
		}
	}
}

// An allocation that some processes make and others don't is noise, also where
// there is none else; one that head always makes is a regression.
func TestStrayAllocations(t *testing.T) {
	for head, want := range map[float64]Verdict{0: Same, 1: Slower} {
		f := newFake(3, 1)
		f.allocs, f.strays = [3]float64{0, head, 0}, 0.25
		r, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{Now: func() time.Time { return f.now }})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Findings {
			if x.Unit == results.Allocs && (x.Exact || x.Verdict != want) {
				t.Errorf("head makes %v of its own: %v by exact values %v, want %v by chance", head, x.Verdict, x.Exact, want)
			}
		}
	}
}

// A machine on which base differs from itself proves nothing.
func TestTwinAlarms(t *testing.T) {
	f := newFake(1, 1)
	f.bursts, f.process = 0, 0.001
	biased := &biased{f}
	r, err := Run(t.Context(), biased, []Benchmark{{"p", "B"}}, Options{Now: func() time.Time { return f.now }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit() != 3 || len(r.Alarms) == 0 {
		t.Errorf("exit %d with alarms %q, want 3 and one", r.Exit(), r.Alarms)
	}
}

type biased struct{ *fake }

func (b *biased) Run(ctx context.Context, s Side, batch Batch) ([][]results.Metric, error) {
	out, err := b.fake.Run(ctx, s, batch)
	if s == Control {
		out[0][0].Value *= 1.2
	}
	return out, err
}

// Too little time proves nothing, and is no pass.
func TestTooLittleTimeIsNoPass(t *testing.T) {
	f := newFake(1, 1)
	f.process = 0.5
	r, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{Budget: 10 * time.Second, Now: func() time.Time { return f.now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range r.Findings {
		if finding.Unit == results.NsPerOp && finding.Verdict != Unsure {
			t.Errorf("verdict %v, want UNSURE", finding.Verdict)
		}
	}
	if r.Exit() != 3 || r.Rounds >= r.Needed {
		t.Errorf("exit %d after %d rounds of %d, want 3 and fewer", r.Exit(), r.Rounds, r.Needed)
	}
}

// What is proved to be slower is a failure where the estimate is beyond the
// threshold, and listed where it is not.
func TestSlowerWithinTheThreshold(t *testing.T) {
	r := rule{threshold: math.Log1p(0.03), alarm: 0.001, same: equivalence, last: true}
	seen := map[Verdict]int{}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		values := make(triples, 30)
		for i := range values {
			for side := range values[i] {
				values[i][side] = 0.01 * rng.NormFloat64()
			}
			values[i][Head] += r.threshold
		}
		verdict, _ := r.judge(values, 0)
		seen[verdict]++
		if beyond := values.shift().center > r.threshold; verdict == Slower && !beyond || verdict == Within && beyond {
			t.Errorf("seed %d: %v with an estimate of %s", seed, verdict, Percent(values.shift().center))
		}
	}
	if seen[Slower] < 10 || seen[Within] < 10 {
		t.Errorf("of 40 that are slower by the threshold: %v, want both SLOWER and WITHIN", seen)
	}
}

// What nobody could prove is no failure, unless proof is asked for; what may
// hide in it is said.
func TestUndecidedIsNoFailure(t *testing.T) {
	finding := Finding{Verdict: Unsure, Better: -1, Change: Interval{0, math.Log(0.96), math.Log(1.04)}, Threshold: 0.03}
	for prove, want := range map[bool]int{false: 0, true: 2} {
		r := &Report{Findings: []Finding{finding}, Rounds: 20, Needed: 10, Options: Options{Prove: prove, Threshold: 0.03}}
		if r.Exit() != want {
			t.Errorf("proof is asked for: %v: exit %d, want %d", prove, r.Exit(), want)
		}
		if advice := r.Advice(); len(advice) == 0 || advice[0] != "A slowdown of more than 4.0% in any of 1 undecided would have been seen." {
			t.Errorf("advice: %q", advice)
		}
	}
}

func TestFailureIsReported(t *testing.T) {
	f := newFake(1, 1)
	f.fail = errors.New("it panics")
	if _, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{}); !errors.Is(err, f.fail) {
		t.Errorf("err = %v, want %v", err, f.fail)
	}
	if _, err := Run(t.Context(), f, nil, Options{}); err == nil {
		t.Error("no benchmarks are no error")
	}
}

// Benchmarks that share processes are judged like others, and what is decided
// is left out of them.
func TestBatches(t *testing.T) {
	f := newFake(1, 1.3)
	f.together = 7
	worse := 0
	for _, x := range f.gate(t, 20).Findings {
		if x.Verdict == Slower {
			worse++
			if x.Name != "B0" {
				t.Errorf("%s is SLOWER, want B0 alone", x.Name)
			}
		}
		if n := len(x.Base); n != len(x.Head) || n != len(x.Control) || n == 0 {
			t.Errorf("%s %s: %d, %d and %d rounds, want as many on each side", x.Name, x.Unit, len(x.Base), len(x.Head), len(x.Control))
		}
	}
	if worse != 1 {
		t.Errorf("%d are SLOWER, want 1", worse)
	}
}

// A budget that decides nothing is refused before anything is measured, or
// warned of, with the time that is needed.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		budget  time.Duration
		refused bool
		warned  bool
	}{{2 * time.Second, true, false}, {15 * time.Second, false, true}, {5 * time.Minute, false, false}} {
		f := newFake(1, 1)
		var warnings []string
		_, err := Run(t.Context(), f, []Benchmark{{"p", "B"}}, Options{
			Budget: c.budget, Now: func() time.Time { return f.now }, Warn: func(text string) { warnings = append(warnings, text) },
		})
		if (err != nil) != c.refused || (len(warnings) > 0) != c.warned {
			t.Errorf("%v: error %v, warnings %q; want refused %v, warned %v", c.budget, err, warnings, c.refused, c.warned)
		}
		// 7 rounds of 2.24 s and setting up.
		for _, text := range append(warnings, fmt.Sprint(err)) {
			if (c.refused || c.warned) && len(text) > 10 && !strings.Contains(text, "18s") {
				t.Errorf("%v: %q does not say that 18s are needed", c.budget, text)
			}
		}
	}
}

// Allocations that vary from process to process are judged as times are: that
// they do not grow at all cannot be proved.
func TestAllocationsThatVary(t *testing.T) {
	for unsteady, want := range map[bool]float64{false: 0, true: 0.03} {
		f := newFake(1, 1)
		f.allocs = [3]float64{1000, 1000, 1000}
		r, err := Run(t.Context(), &varying{f, unsteady}, []Benchmark{{"p", "B"}}, Options{Now: func() time.Time { return f.now }})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Unit == results.Allocs })
		if x := r.Findings[i]; math.Abs(x.Threshold-want) > 1e-9 || x.Verdict != Same {
			t.Errorf("allocations vary: %v: %v with a threshold of %v, want SAME and %v", unsteady, x.Verdict, x.Threshold, want)
		}
	}
}

type varying struct {
	*fake
	unsteady bool
}

func (v *varying) Run(ctx context.Context, s Side, batch Batch) ([][]results.Metric, error) {
	all, err := v.fake.Run(ctx, s, batch)
	if v.unsteady {
		all[0][1].Value += float64(v.rng.IntN(5))
	}
	return all, err
}

// A verdict that was proved at a look stays, whatever later rounds bring while
// another unit of the benchmark is undecided, and rests on the rounds before it.
func TestVerdictsStay(t *testing.T) {
	f := newFake(1, 1.3)
	f.allocs = [3]float64{1000, 1000, 1000}
	r, err := Run(t.Context(), &relenting{varying{f, true}}, []Benchmark{{"p", "B0"}}, Options{
		Now: func() time.Time { return f.now }, KeepGoing: true,
		ThresholdOf: func(_ Benchmark, unit string) (float64, bool) { return 0, unit == results.Allocs }, // which cannot be proved
	})
	if err != nil {
		t.Fatal(err)
	}
	x := r.Findings[slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Unit == results.NsPerOp })]
	if change := math.Expm1(x.Change.Center); x.Verdict != Slower || math.Abs(change-0.3) > 0.03 || x.Rounds >= r.Rounds || len(x.Head) != x.Rounds {
		t.Errorf("%v by %.3f after %d rounds of %d with %d values; want SLOWER by 0.3 after fewer", x.Verdict, change, x.Rounds, r.Rounds, len(x.Head))
	}
}

// A relenting target's head is slower for 20 rounds, and no more after them.
type relenting struct{ varying }

func (r *relenting) Prepare(ctx context.Context, round int, all []Benchmark) error {
	if round == 20 {
		r.slower = 1
	}
	return r.fake.Prepare(ctx, round, all)
}

// A regression that is certain ends the gate, unless the rest is asked for, or
// base differs from its control.
func TestCertainRegressionEnds(t *testing.T) {
	list := []Benchmark{{"p", "B0"}, {"p", "B1"}}
	for _, tt := range []struct {
		slower    float64
		control   bool
		keepGoing bool
		early     bool
		exit      int
	}{
		{1.3, false, false, true, 1},
		{1.3, false, true, false, 1},
		{1, false, false, false, 0},
		{1.3, true, false, false, 3},
	} {
		f := newFake(1, tt.slower)
		f.process = 0.1 // B1 is not decided at the first look
		var target Target = f
		if tt.control {
			target = &biased{f}
		}
		r, err := Run(t.Context(), target, list, Options{Now: func() time.Time { return f.now }, KeepGoing: tt.keepGoing})
		if err != nil {
			t.Fatal(err)
		}
		if r.Early != tt.early || r.Exit() != tt.exit || tt.early && r.Elapsed > r.Options.Budget/2 {
			t.Errorf("%+v: early %v, exit %d after %v", tt, r.Early, r.Exit(), r.Elapsed)
		}
	}
}

// A distributed target's processes differ by what is drawn for each of them, as
// the logarithm of its time.
type distributed struct {
	*fake
	draw func(rng *rand.Rand, s Side) float64
}

func (d *distributed) Run(ctx context.Context, s Side, batch Batch) ([][]results.Metric, error) {
	all, err := d.fake.Run(ctx, s, batch)
	for i := range all {
		all[i][0].Value *= math.Exp(d.draw(d.rng, s))
	}
	return all, err
}

// findTimes runs a gate over processes that are drawn, and returns what it found of
// their times.
func findTimes(t *testing.T, seed uint64, draw func(*rand.Rand, Side) float64) (*Report, Finding) {
	t.Helper()
	f := newFake(seed, 1)
	f.layout, f.process, f.bursts = 0.005, 0.005, 0
	r, err := Run(t.Context(), &distributed{f, draw}, []Benchmark{{"p", "B"}}, Options{Budget: 2 * time.Minute, KeepGoing: true, Now: func() time.Time { return f.now }})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Findings[slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Unit == results.NsPerOp })]
}

func drawnGates() int {
	if require.All() {
		return 100
	}
	return 10
}

// What only became steadier is not slower, and what only became noisier is not
// faster: the typical time is judged, not the best.
func TestSpreadAloneIsNoVerdict(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	require.Unraced(t, "one thread computes it")
	for _, spread := range [][2]float64{{0.06, 0.01}, {0.01, 0.06}} {
		for seed := range uint64(drawnGates()) {
			r, f := findTimes(t, seed, func(rng *rand.Rand, s Side) float64 {
				of := spread[0]
				if s == Head {
					of = spread[1]
				}
				return of * (2*rng.Float64() - 1)
			})
			if f.Verdict != Same && f.Verdict != Unsure || r.Exit() != 0 {
				t.Errorf("base ±%v, head ±%v, seed %d: %v by %s, exit %d; want SAME or UNSURE and 0", spread[0], spread[1], seed, f.Verdict, f.by(), r.Exit())
			}
		}
	}
}

// A slow mode of a fifth that becomes more frequent makes a program slower, though
// its best times stay as they are.
func TestMoreFrequentSlowModeIsFound(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	require.Unraced(t, "one thread computes it")
	gates, found := drawnGates(), 0
	for seed := range uint64(gates) {
		_, f := findTimes(t, seed, func(rng *rand.Rand, s Side) float64 {
			share := 0.1
			if s == Head {
				share = 0.4
			}
			if rng.Float64() < share {
				return math.Log(1.2)
			}
			return 0
		})
		if f.Verdict == Slower {
			found++
		}
	}
	if found < gates*8/10 {
		t.Errorf("a slow mode of 40%% of the runs instead of 10%% is found in %d of %d gates", found, gates)
	}
}

// What is printed of base and of head differs by what is printed of the change,
// also where times are of two kinds and either direction is better.
func TestTypicalAgreesWithChange(t *testing.T) {
	for _, better := range []int{-1, +1} {
		f := newFake(1, 1)
		r, err := Run(t.Context(), &distributed{f, func(rng *rand.Rand, s Side) float64 { return 0.5 * float64(rng.IntN(2)) }}, []Benchmark{{"p", "B"}, {"p", "C"}},
			Options{Budget: time.Minute, Now: func() time.Time { return f.now }, Better: func(string) int { return better }})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Findings {
			if change := -float64(better) * math.Log(x.Typical(Head)/x.Typical(Base)); x.Unit == results.NsPerOp && math.Abs(change-x.Change.Center) > 1e-9 {
				t.Errorf("better %+d, %s: base %v and head %v, which is %v; want %v", better, x.Name, x.Typical(Base), x.Typical(Head), change, x.Change.Center)
			}
		}
	}
}
