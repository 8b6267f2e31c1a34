package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"onebit/bench/results"
	"onebit/internal/count"
	"onebit/internal/require"
)

// order returns the names of a run's samples in the order of the file.
func order(r *results.Set) []string {
	var names []string
	for _, s := range r.Samples {
		names = append(names, s.Name.Full)
	}
	return names
}

func fourCases(l *lab) Suite {
	var s Suite
	for i, v := range []string{"a", "b", "c", "d"} {
		s.Cases = append(s.Cases, l.newCase("MatVec/variant="+v, "g", script{op: time.Duration(i+1) * time.Millisecond}))
	}
	return s
}

func TestRoundsAreRandomAndSeeded(t *testing.T) {
	run := func(seed uint64) []string {
		l := newLab()
		r := l.runner()
		r.Seed = seed
		res, _ := measure(t, r, fourCases(l))
		return order(res)
	}
	got := run(7)
	turns := []string{"AA/MatVec/variant=a/arm=b", "AA/MatVec/variant=b/arm=b", "AA/MatVec/variant=c/arm=b", "AA/MatVec/variant=d/arm=b",
		"MatVec/variant=a", "MatVec/variant=b", "MatVec/variant=c", "MatVec/variant=d"}
	if len(got) != 6*len(turns) {
		t.Fatalf("%d samples, want 6 rounds of %d", len(got), len(turns))
	}
	distinct := make(map[string]bool)
	for round := range slices.Chunk(got, len(turns)) {
		distinct[strings.Join(round, " ")] = true
		if sorted := slices.Sorted(slices.Values(round)); !slices.Equal(sorted, turns) {
			t.Errorf("round %v: want each of %v once", round, turns)
		}
	}
	if len(distinct) < 5 {
		t.Errorf("6 rounds had only %d different orders", len(distinct))
	}
	if again := run(7); !slices.Equal(again, got) {
		t.Error("the same seed gave another order")
	}
	if other := run(8); slices.Equal(other, got) {
		t.Error("another seed gave the same order")
	}
}

// A sample is taken in slices that take turns with those of other cases; one that
// is far behind has few.
func TestSlicesTakeTurns(t *testing.T) {
	l := newLab()
	s := Suite{Cases: []Case{
		l.newCase("MatVec/variant=a", "g", script{op: 10 * time.Microsecond}),
		l.newCase("MatVec/variant=b", "g", script{op: 11 * time.Microsecond}),
		l.newCase("MatVec/variant=far", "g", script{op: 2 * time.Millisecond}),
	}}
	var ran []string // by slice, warm-up and timing together
	for i := range s.Cases {
		setup := s.Cases[i].Setup
		s.Cases[i].Setup = func(ctx context.Context) (Instance, error) {
			inst, err := setup(ctx)
			return heard{inst, func() { ran = append(ran, s.Cases[i].Name) }}, err
		}
	}
	r := l.runner()
	r.Count, r.Time = 1, 5*time.Millisecond
	calibrated := callsBefore(r, &ran)
	res, _ := measure(t, r, s)
	ran = ran[*calibrated:]
	count, alone := map[string]int{}, 0
	for i, name := range ran {
		if count[name]++; i > 2 && ran[i-3] == name && ran[i-2] == name && ran[i-1] == name { // a case has a double: two slices may follow each other
			alone++
		}
	}
	const each = 2 * 2 * (20 - 1) // warm-up and timing, the case and its double; whole operations fill fewer
	if count["MatVec/variant=a"] < each || count["MatVec/variant=b"] < each || count["MatVec/variant=far"] > 4 {
		t.Errorf("calls of Run: %v, want %d of the near ones or more", count, each)
	}
	if alone > len(ran)/2 {
		t.Errorf("%d of %d calls follow three of their own: %v", alone, len(ran), ran)
	}
	for _, sm := range res.Samples {
		if ns, _ := sm.Value(results.NsPerOp); sm.Name.Full == "MatVec/variant=b" && (ns != 11_000 || sm.Iters < 400) {
			t.Errorf("%d operations of %v ns, want 11 µs each", sm.Iters, ns)
		}
	}
}

// callsBefore counts the calls that were made before anything is measured.
func callsBefore(r *Runner, ran *[]string) *int {
	var calibrating int
	r.Progress = func(p Progress) {
		if p.Doing == "measure" && calibrating == 0 {
			calibrating = len(*ran)
		}
	}
	return &calibrating
}

// In each pass the cases of a class follow each other, in an order drawn anew.
func TestClassesAreNeighbours(t *testing.T) {
	l := newLab()
	s := Suite{Settings: []results.Setting{{Key: results.ClassesKey, Value: "threads"}}}
	var ran []string // the thread counts of what was timed
	for i := range 12 {
		c := l.newCase(fmt.Sprintf("MatVec/variant=v%d/threads=%d", i, 1+i%3), "g", script{op: 10 * time.Microsecond})
		setup := c.Setup
		c.Single = true
		c.Setup = func(ctx context.Context) (Instance, error) {
			inst, err := setup(ctx)
			return heard{inst, func() { ran = append(ran, results.ParseName(c.Name).Get("threads")) }}, err
		}
		s.Cases = append(s.Cases, c)
	}
	r := l.runner()
	r.Count, r.Time = 1, 5*time.Millisecond
	calibrated := callsBefore(r, &ran)
	measure(t, r, s)
	first := make(map[string]bool)
	for pass := range slices.Chunk(ran[*calibrated:], 2*len(s.Cases)) { // warm-up and timing
		if classes := slices.Compact(slices.Clone(pass)); len(classes) != 3 {
			t.Fatalf("a pass of threads %v, want three classes one after the other", pass)
		}
		first[pass[0]] = true
	}
	if len(first) != 3 {
		t.Errorf("passes begin with %v alone", first)
	}
}

// A case that is far behind another of the same work has few operations a sample; one
// of other work, or a ceiling, is not held to it.
func TestFarBehindHasFewOperations(t *testing.T) {
	l := newLab()
	c := func(name string, op time.Duration, ops int64) Case {
		c := l.newCase(name, "g", script{op: op})
		c.Ops = ops
		return c
	}
	ceiling := c("DotPeak/threads=1", 400*time.Microsecond, 7)
	ceiling.Ceiling = true
	s := Suite{Settings: []results.Setting{{Key: results.ClassesKey, Value: "threads"}}, Cases: []Case{
		c("MatVec/variant=fast/threads=1", 10*time.Microsecond, 7), c("MatVec/variant=near/threads=1", 90*time.Microsecond, 7),
		c("MatVec/variant=far/threads=1", 400*time.Microsecond, 7), c("MatVec/variant=alone/threads=2", 400*time.Microsecond, 7),
		c("MatVec/variant=large/threads=1", 400*time.Microsecond, 70), c("MatVec/variant=unknown/threads=1", 400*time.Microsecond, 0), ceiling,
	}}
	r := l.runner()
	r.Time = 4 * time.Millisecond
	res, _ := measure(t, r, s)
	want := map[string]int{"far": 1, "near": 44, "fast": 400, "alone": 10, "large": 10, "unknown": 10, "": 10}
	for _, sm := range res.Samples {
		if v := sm.Name.Get("variant"); !sm.Name.IsArm() && (sm.Iters > want[v] || sm.Iters < want[v]*9/10) {
			t.Errorf("%s: %d operations a sample, want %d", sm.Name.Full, sm.Iters, want[v])
		}
	}
}

// heard tells of each call of Run.
type heard struct {
	Instance
	run func()
}

func (h heard) Run(ctx context.Context, n int) error {
	h.run()
	return h.Instance.Run(ctx, n)
}

// Whoever takes the CPU for a moment, in a third of the slices, moves no sample.
func TestBurstsMoveNoSample(t *testing.T) {
	l := newLab()
	burst := func(run int) time.Duration {
		if run%6 == 0 { // every third slice, of warm-up and timing
			return 10 * time.Millisecond
		}
		return 0
	}
	r := l.runner()
	r.Time = 5 * time.Millisecond
	res, _ := measure(t, r, Suite{Cases: []Case{l.newCase("MatVec/variant=a", "g", script{op: 10 * time.Microsecond, jitter: burst})}})
	for _, sm := range res.Samples {
		if ns, _ := sm.Value(results.NsPerOp); ns != 10_000 {
			t.Errorf("%s: %v ns/op, want 10 µs", sm.Name.Full, ns)
		}
	}
}

// TestPairsAreDrawnByNames holds the drawing of A/A pairs to what it promises:
// every class has its share in every group, whatever is fast, and always the
// same.
func TestPairsAreDrawnByNames(t *testing.T) {
	draws := func(op time.Duration) (names []string) {
		l := newLab()
		s := Suite{Settings: []results.Setting{{Key: results.ClassesKey, Value: "threads cache"}}}
		for g := range 3 {
			for v := range 5 {
				for _, where := range []string{"threads=1/cache=warm", "threads=2/cache=cold"} {
					c := l.newCase(fmt.Sprintf("MatVec/rows=%d/variant=v%d/%s", g, v, where), fmt.Sprint(g), script{op: op * time.Duration(1+v)})
					c.Single = v == 4
					s.Cases = append(s.Cases, c)
				}
			}
		}
		res, _ := measure(t, l.runner(), s)
		for _, n := range order(res) {
			if strings.HasPrefix(n, "AA/") && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		slices.Sort(names)
		return names
	}
	names := draws(time.Millisecond)
	type place struct{ rows, class string }
	perClass, variants := make(map[place]int), make(map[string]bool)
	for _, n := range names {
		name := results.ParseName(n)
		perClass[place{name.Get("rows"), results.ClassOf(name, "threads cache")}]++
		variants[name.Get("variant")] = true
	}
	for p, n := range perClass {
		if n != pairsPerClass/3 {
			t.Errorf("%d pairs in %+v, want %d", n, p, pairsPerClass/3)
		}
	}
	if len(perClass) != 6 || len(variants) < 3 || variants["v4"] {
		t.Errorf("pairs %q: want every class in every group, several variants, and none that is single", names)
	}
	if again := draws(-time.Microsecond + 2*time.Millisecond); !slices.Equal(names, again) {
		t.Errorf("with other times the pairs are %q, before %q", again, names)
	}
}

func TestWrongCaseIsNeverTimed(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script script
		reason string
	}{
		{"wrong", script{op: 1, wrong: errWrong}, errWrong.Error()},
		{"broken", script{op: 1, broken: errors.New("no memory\x00\n")}, `setup: no memory\x00`},
		{"nan", script{op: 1, found: []results.Metric{{Unit: results.NMSE, Value: math.NaN()}}}, "nmse is NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLab()
			s := fourCases(l)
			bad := l.newCase("MatVec/variant=bad", "g", tc.script)
			s.Cases = append([]Case{bad}, s.Cases...)
			res, file := measure(t, l.runner(), s)
			if n := l.runs[bad.Name]; n != 0 {
				t.Errorf("the case ran %d operations", n)
			}
			if slices.ContainsFunc(order(res), func(n string) bool { return strings.Contains(n, "variant=bad") }) {
				t.Error("the case has samples")
			}
			if len(res.Samples) != 6*8 {
				t.Errorf("%d samples of the others and their doubles, want 48", len(res.Samples))
			}
			back := readBack(t, file)
			if len(back.Failures) != 1 || back.Failures[0].Name.Full != bad.Name || back.Failures[0].Reason != tc.reason {
				t.Errorf("failures read back: %+v, want %q", back.Failures, tc.reason)
			}
			if !strings.Contains(file, "--- FAIL: BenchmarkMatVec/variant=bad") {
				t.Error("the file lacks go test's FAIL line")
			}
			if l.open != 0 {
				t.Errorf("%d instances left open", l.open)
			}
		})
	}
}

func TestRunReturnsWhatItWrote(t *testing.T) {
	l := newLab()
	s := l.smallSuite()
	s.Cases = append(s.Cases, l.newCase("MatVec/variant=bad", "tiny", script{wrong: errWrong}))
	res, file := measure(t, l.runner(), s)
	if diff := cmp.Diff(res, readBack(t, file)); diff != "" {
		t.Errorf("Read differs (-run +read):\n%s", diff)
	}
	if got, want := len(res.Samples), 6*(3+2)+2+6*(1+1); got != want {
		t.Errorf("%d samples, want %d", got, want)
	}
	if got := res.Setting("cpu"); got != "Imaginary Processor 9000" {
		t.Errorf("cpu: %q", got)
	}
}

// TestReadEveryPrefix cuts a file where an interrupted write may.
func TestReadEveryPrefix(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	l := newLab()
	r := l.runner()
	r.Count = 1
	s := l.smallSuite()
	s.Cases = append(s.Cases, l.newCase("MatVec/variant=bad", "64x256", script{wrong: errWrong}))
	whole, file := measure(t, r, s)
	cuts := make([]int, len(file))
	for i := range cuts {
		cuts[i] = i
	}
	for _, cut := range require.Draw(t, 16, cuts) {
		got := readBack(t, file[:cut])
		complete := strings.Count(file[:cut], "\nBenchmark")
		if cut > 0 && file[cut-1] != '\n' && strings.HasPrefix(file[strings.LastIndexByte(file[:cut], '\n')+1:cut], "Benchmark") {
			complete--
		}
		if complete < 0 || len(got.Samples) != complete {
			t.Fatalf("cut at %d: %d samples, want %d", cut, len(got.Samples), complete)
		}
		if complete > 0 && !cmp.Equal(got.Samples, whole.Samples[:complete]) {
			t.Fatalf("cut at %d: the samples changed", cut)
		}
		if warned := len(got.Warnings) > 0; warned != (cut > 0 && file[cut-1] != '\n') {
			t.Fatalf("cut at %d: warnings %q", cut, got.Warnings)
		}
	}
}

func TestSampleValues(t *testing.T) {
	l := newLab()
	s := l.smallSuite()
	res, _ := measure(t, l.runner(), s)
	first := make(map[string]bool)
	for _, sm := range res.Samples {
		ns, _ := sm.Value(results.NsPerOp)
		if name := sm.Name.Full; strings.HasPrefix(name, "MatVec/") {
			if rate, _ := sm.Value(results.WeightRate); math.Abs(rate*ns/1e9-2304) > 0.025 { // both have six digits
				t.Errorf("%s: weight-B/s × ns/op = %v bytes, want 2304", name, rate*ns/1e9)
			}
			if rate, _ := sm.Value(results.OpRate); math.Abs(rate*ns/1e9-64*256) > 0.1 {
				t.Errorf("%s: mac/s × ns/op = %v", name, rate*ns/1e9)
			}
			for unit, want := range map[string]float64{results.PackedBytes: 2304, results.NMSE: 3.25e-9, results.MaxAbsErr: 0.125} {
				if v, ok := sm.Value(unit); !ok || v != want {
					t.Errorf("%s: %s = %v %v, want %v", name, unit, v, ok, want)
				}
			}
			// Measured once, packing time must not pass for several samples.
			if _, ok := sm.Value(results.PackTime); ok == first[name] {
				t.Errorf("%s: pack-ns present %v in a later sample %v", name, ok, first[name])
			}
			first[name] = true
		}
		if sm.Name.Base == "Read" {
			if _, ok := sm.Value(results.ReadRate); !ok {
				t.Error("a ceiling has no read-B/s")
			}
			if _, ok := sm.Value(results.WeightRate); ok {
				t.Error("a ceiling has weight-B/s")
			}
		}
		if sm.Name.Base == "Model" {
			if v, _ := sm.Value(results.TokenRate); v != 1600 {
				t.Errorf("64 tokens in 40 ms: %v tok/s, want 1600", v)
			}
		}
	}
}

// TestRoofIsOfTheSameRound recomputes %roof from the lines of each round.
func TestRoofIsOfTheSameRound(t *testing.T) {
	l := newLab()
	r := l.runner()
	r.Time = time.Millisecond // of few slices, whose medians differ
	res, _ := measure(t, r, l.smallSuite())
	const turns = 5
	distinct := make(map[float64]bool)
	for round := range slices.Chunk(res.Samples[:6*turns], turns) {
		i := slices.IndexFunc(round, func(s results.Sample) bool { return s.Name.Base == "Read" })
		if i < 0 {
			t.Fatal("a round without its roof")
		}
		roof, _ := round[i].Value(results.ReadRate)
		distinct[roof] = true
		for j, s := range round {
			got, ok := s.Value(results.PctRoof)
			if j == i {
				if ok {
					t.Error("the roof has a %roof")
				}
				continue
			}
			rate, _ := s.Value(results.WeightRate)
			if want := 100 * rate / roof; math.Abs(got-want) > 1e-4*want {
				t.Errorf("%s: %v %%roof, want %v", s.Name.Full, got, want)
			}
		}
	}
	if len(distinct) < 2 {
		t.Fatal("the roof never changed, so the test proves nothing")
	}
}

func TestFailedRoofIsWarnedOf(t *testing.T) {
	l := newLab()
	s := l.smallSuite()
	roof := &s.Cases[0]
	*roof = l.newCase(roof.Name, roof.Group, script{wrong: errWrong})
	roof.Ceiling = true
	res, file := measure(t, l.runner(), s)
	for _, sm := range res.Samples {
		if _, ok := sm.Value(results.PctRoof); ok {
			t.Fatalf("%s has a %%roof", sm.Name.Full)
		}
	}
	want := []string{"no share of " + roof.Name + " can be given: it failed"}
	if got := readBack(t, file).Warnings; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

// TestInterruption ends a run at each of its operations in turn.
func TestInterruption(t *testing.T) {
	whole, _ := func() (*results.Set, string) { l := newLab(); return measure(t, l.runner(), l.smallSuite()) }()
	stride := 5
	if require.All() {
		stride = 1
	}
	for stop := 1; ; stop += stride {
		l := newLab()
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		l.onRun = func() {
			if calls++; calls == stop {
				cancel()
			}
		}
		var file bytes.Buffer
		res, err := l.runner().Run(ctx, l.smallSuite(), &file)
		cancel()
		if calls < stop {
			if err != nil {
				t.Errorf("a run that nobody interrupted: %v", err)
			}
			return
		}
		if len(res.Samples) < len(whole.Samples) {
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), count.Of(len(res.Samples), "sample")) {
				t.Fatalf("stopped at %d: error %v, with %d samples written", stop, err, len(res.Samples))
			}
		}
		if calls > stop+1 {
			// One more is the timed part of the sample that was warming up.
			t.Fatalf("stopped at %d: %d calls of Run", stop, calls)
		}
		if diff := cmp.Diff(res, readBack(t, file.String())); diff != "" {
			t.Fatalf("stopped at %d: Read differs (-run +read):\n%s", stop, diff)
		}
		if l.open != 0 {
			t.Fatalf("stopped at %d: %d instances left open", stop, l.open)
		}
	}
}

// A disk takes some bytes and is then full.
type disk struct {
	bytes.Buffer
	room int
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	d.Buffer.Write(p[:n])
	if n < len(p) {
		return n, &os.PathError{Op: "write", Path: "results.txt", Err: syscall.ENOSPC}
	}
	return n, nil
}

func TestFullDisk(t *testing.T) {
	_, whole := func() (*results.Set, string) { l := newLab(); return measure(t, l.runner(), l.smallSuite()) }()
	for room := 0; room < len(whole)*9/10; room += 97 {
		l := newLab()
		d := &disk{room: room}
		res, err := l.runner().Run(t.Context(), l.smallSuite(), d)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "results.txt") {
			t.Fatalf("room for %d: error %v", room, err)
		}
		if back := readBack(t, d.String()); len(back.Samples) != len(res.Samples) {
			t.Fatalf("room for %d: %d samples readable, %d reported", room, len(back.Samples), len(res.Samples))
		}
		if l.open != 0 {
			t.Fatalf("room for %d: %d instances left open", room, l.open)
		}
	}
}

// TestCaseFailsWhileItIsTimed lets a case that is in an A/A pair, and the roof
// fail at each of their calls.
func TestCaseFailsWhileItIsTimed(t *testing.T) {
	for call := 1; call < 12; call++ {
		l := newLab()
		s := l.smallSuite()
		s.Cases[0] = l.newCase(s.Cases[0].Name, s.Cases[0].Group, script{op: time.Millisecond, fails: call})
		s.Cases[0].Bytes, s.Cases[0].Ceiling = 4096, true
		fastest := &s.Cases[2]
		*fastest = l.newCase(fastest.Name, fastest.Group, script{op: time.Millisecond, fails: 2 * call})
		res, file := measure(t, l.runner(), s)
		if diff := cmp.Diff(res, readBack(t, file)); diff != "" {
			t.Fatalf("call %d: Read differs (-run +read):\n%s", call, diff)
		}
		samples := make(map[string]int)
		for _, sm := range res.Samples {
			samples[sm.Name.Full]++
		}
		if n := samples[s.Cases[1].Name]; n != 6 {
			t.Errorf("call %d: the case beside it has %d samples, want 6", call, n)
		}
		failed := make(map[string]bool)
		for _, f := range res.Failures {
			if f.Reason != errWrong.Error() || failed[f.Name.Full] {
				t.Errorf("call %d: failure %+v", call, f)
			}
			failed[f.Name.Full] = true
		}
		for _, c := range []Case{s.Cases[0], *fastest} {
			if failed[c.Name] != (samples[c.Name] < 6) {
				t.Errorf("call %d: %s failed %v, with %d samples", call, c.Name, failed[c.Name], samples[c.Name])
			}
		}
		if l.open != 0 {
			t.Errorf("call %d: %d instances left open", call, l.open)
		}
	}
}

// A stopwatch counts half of the time that its case takes.
type stopwatch struct {
	*fake
	elapsed time.Duration
}

func (s *stopwatch) Run(ctx context.Context, n int) error {
	start := s.lab.now()
	err := s.fake.Run(ctx, n)
	s.elapsed = s.lab.now().Sub(start) / 2
	return err
}

func (s *stopwatch) Elapsed() time.Duration { return s.elapsed }

func TestStopwatch(t *testing.T) {
	l := newLab()
	c := l.newCase("MatVec/variant=a", "g", script{op: 400 * time.Millisecond})
	setup := c.Setup
	c.Setup = func(ctx context.Context) (Instance, error) {
		inst, err := setup(ctx)
		return &stopwatch{fake: inst.(*fake)}, err
	}
	c.Single = true
	r := l.runner()
	r.Count, r.Time, r.Budget = 0, 0, 3*time.Second
	res, _ := measure(t, r, Suite{Cases: []Case{c}})
	for _, s := range res.Samples {
		if ns, _ := s.Value(results.NsPerOp); ns != 200e6 {
			t.Errorf("%v ns/op, want 2e8", ns)
		}
	}
	// What doesn't count is time of the budget nonetheless.
	if len(res.Samples) != minRounds {
		t.Errorf("%d samples, want %d", len(res.Samples), minRounds)
	}
}

func TestPeak(t *testing.T) {
	l := newLab()
	s := fourCases(l)
	peak := l.newCase("DotPeak/isa=x", "g", script{op: time.Millisecond})
	peak.Ceiling, peak.Ops = true, 1000
	s.Cases = append(s.Cases, peak)
	s.Cases[1].Peak, s.Cases[1].Ops, s.Cases[1].Single = peak.Name, 500, true
	res, _ := measure(t, l.runner(), s)
	n := 0
	for _, sm := range res.Samples {
		got, ok := sm.Value(results.PctPeak)
		if ok != (sm.Name.Full == s.Cases[1].Name) {
			t.Errorf("%s: %%peak is there: %v", sm.Name.Full, ok)
		}
		if ok {
			n++
			// Half of the operations in twice the time.
			if math.Abs(got-25) > 1e-9 {
				t.Errorf("%v %%peak, want 25", got)
			}
		}
		if rate, _ := sm.Value(results.OpRate); sm.Name.Full == peak.Name && rate != 1e6 {
			t.Errorf("the ceiling computes %v mac/s, want 1e6", rate)
		}
	}
	if n != 6 {
		t.Errorf("%d samples have a %%peak, want 6", n)
	}
}

func TestStudies(t *testing.T) {
	l := newLab()
	s := fourCases(l)
	s.Cases = append(s.Cases, l.newCase("MatVec/variant=e", "h", script{op: time.Millisecond}))
	first := l.newStudy("Op/variant=a", "g", errWrong, "Op/variant=a/op=q")
	run := first.Run
	first.Run = func(ctx context.Context, emit func(results.Sample) error) error {
		if l.open != 4 {
			t.Errorf("%d instances of its group are open, want 4", l.open)
		}
		return run(ctx, emit)
	}
	s.Studies = []Study{
		l.newStudy("Lockstep/variant=a", "alone", nil, "Lockstep/variant=a/block=0"),
		first,
		l.newStudy("Op/variant=b", "g", nil, "Op/variant=b/op=q", "Op/op=q-7", "Op/variant=b/op=unreached"),
	}
	res, file := measure(t, l.runner(), s)
	if diff := cmp.Diff(res, readBack(t, file)); diff != "" {
		t.Errorf("Read differs (-run +read):\n%s", diff)
	}
	want := map[int]string{42: "Op/variant=a/op=q", 43: "Op/variant=b/op=q", 44 + 12: "Lockstep/variant=a/block=0"}
	names := order(res)
	for i, n := range names {
		if (want[i] != "" || !strings.Contains(n, "MatVec/")) && want[i] != n {
			t.Errorf("sample %d is %s, want %q", i, n, want[i])
		}
	}
	if len(names) != 6*7+2+6*2+1 {
		t.Errorf("%d samples", len(names))
	}
	if got := res.Samples[42]; got.Iters != 1 || got.Values[0].Unit != results.NsPerOp {
		t.Errorf("a study's sample: %+v", got)
	}
	var failed []string
	for _, f := range res.Failures {
		failed = append(failed, f.Name.Full+": "+f.Reason)
	}
	if diff := cmp.Diff([]string{"Op/variant=a: " + errWrong.Error(),
		"Op/variant=b: sample \"Op/op=q-7\": a name that ends in -digits reads as GOMAXPROCS"}, failed); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// TestStudiesAreBudgeted takes the studies' time from the rounds'.
func TestStudiesAreBudgeted(t *testing.T) {
	l := newLab()
	s := fourCases(l)
	s.Studies = []Study{l.newStudy("Op/variant=a", "g", nil, "Op/a", "Op/b", "Op/c")}
	r := l.runner()
	r.Count, r.Time, r.Budget = 0, 0, 4*time.Second
	if got := r.Plan(s).Estimate; got < 3*time.Second || got > r.Budget {
		t.Errorf("planned for %v", got)
	}
	var last Progress
	r.Progress = func(p Progress) { last = p }
	start := l.now()
	res, _ := measure(t, r, s)
	if took := l.now().Sub(start); took > r.Budget || took < 3500*time.Millisecond {
		t.Errorf("took %v of %v", took, r.Budget)
	}
	if last.Doing != "study" || last.Done != len(res.Samples) || last.Total != last.Done {
		t.Errorf("ended with %+v, %d samples", last, len(res.Samples))
	}
}

func TestCloseErrorIsAWarning(t *testing.T) {
	l := newLab()
	c := l.newCase("MatVec/variant=a", "g", script{op: time.Millisecond})
	setup := c.Setup
	c.Setup = func(ctx context.Context) (Instance, error) {
		inst, err := setup(ctx)
		return badClose{inst}, err
	}
	_, file := measure(t, l.runner(), Suite{Cases: []Case{c}})
	if got := readBack(t, file).Warnings; !slices.Equal(got, []string{"closing MatVec/variant=a: munmap failed"}) {
		t.Errorf("warnings: %q", got)
	}
}

type badClose struct{ Instance }

func (badClose) Close() error { return errors.New("munmap\nfailed") }

func TestDoubtsBecomeWarningsOnce(t *testing.T) {
	l := newLab()
	suite := fourCases(l)
	asked := 0
	suite.Doubts = func() []string {
		asked++
		return []string{"a virtual machine", fmt.Sprintf("doubt %d", asked)}
	}
	res, file := measure(t, l.runner(), suite)
	want := []string{"a virtual machine", "doubt 1", "doubt 2"}
	if diff := cmp.Diff(want, res.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if n := strings.Count(string(file), "# warning: "+"a virtual machine\n"); n != 1 {
		t.Errorf("the file holds the warning %d times", n)
	}
}

func TestInvalidSuites(t *testing.T) {
	l := newLab()
	ok := l.newCase("MatVec/variant=a", "g", script{})
	with := func(change func(*Case)) []Case {
		c := ok
		change(&c)
		return []Case{ok, c}
	}
	for _, tc := range []struct {
		want  string
		suite Suite
	}{
		{"no cases", Suite{}},
		{"used twice", Suite{Cases: []Case{ok, ok}}},
		{"it has no name", Suite{Cases: with(func(c *Case) { c.Name = "" })}},
		{"white space", Suite{Cases: with(func(c *Case) { c.Name = "Mat Vec" })}},
		{"GOMAXPROCS", Suite{Cases: with(func(c *Case) { c.Name = "MatVec/test=tg-64" })}},
		{"no Setup", Suite{Cases: with(func(c *Case) { c.Name, c.Setup = "B", nil })}},
		{"negative", Suite{Cases: with(func(c *Case) { c.Name, c.Bytes = "B", -1 })}},
		{"packed-B is NaN", Suite{Cases: with(func(c *Case) {
			c.Name, c.Metrics = "B", []results.Metric{{Unit: results.PackedBytes, Value: math.NaN()}}
		})}},
		{"its roof MatVec/variant=a is not in group", Suite{Cases: with(func(c *Case) { c.Name, c.Group, c.Roof = "B", "h", ok.Name })}},
		{"its roof x is not in group", Suite{Cases: with(func(c *Case) { c.Name, c.Peak = "B", "x" })}},
		{"study Op-1", Suite{Studies: []Study{{Name: "Op-1"}}}},
		{"no Run", Suite{Studies: []Study{{Name: "Op"}}}},
		{"given twice", Suite{Cases: []Case{ok}, Settings: []results.Setting{{Key: "seed", Value: "1"}, {Key: "seed", Value: "2"}}}},
		{"lower case", Suite{Cases: []Case{ok}, Settings: []results.Setting{{Key: "CPU", Value: "x"}}}},
	} {
		var file bytes.Buffer
		_, err := l.runner().Run(t.Context(), tc.suite, &file)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want one that says %q", err, tc.want)
		}
		if file.Len() > 0 || l.setups > 0 {
			t.Errorf("%s: the run began", tc.want)
		}
	}
}

func TestAllocationsAreCounted(t *testing.T) {
	l := newLab()
	c := l.newCase("MatVec/variant=greedy", "g", script{op: 10 * time.Microsecond})
	setup := c.Setup
	c.Setup = func(ctx context.Context) (Instance, error) {
		inst, err := setup(ctx)
		return greedy{inst}, err
	}
	res, _ := measure(t, l.runner(), Suite{Cases: []Case{c}})
	for _, s := range res.Samples {
		// 1000 operations a sample: what the runtime allocates meanwhile
		// vanishes in the division.
		if n, _ := s.Value(results.Allocs); n != 3 {
			t.Errorf("%v allocs/op, want 3", n)
		}
		if b, _ := s.Value(results.AllocBytes); b < 3*1024 || b >= 3*1024+64 {
			t.Errorf("%v B/op, want 3 KiB", b)
		}
	}
}

var kept []byte

type greedy struct{ Instance }

func (g greedy) Run(ctx context.Context, n int) error {
	for range 3 * n {
		kept = make([]byte, 1024)
	}
	return g.Instance.Run(ctx, n)
}

func TestGarbageCollectorIsRestored(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	l := newLab()
	var during []int
	l.onRun = func() {
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		during = append(during, p)
	}
	measure(t, l.runner(), fourCases(l))
	if after := debug.SetGCPercent(77); after != 77 {
		t.Errorf("GC percent %d after the run, want 77", after)
	}
	// Calibration runs with it on, samples with it off.
	if during[len(during)-1] != -1 {
		t.Errorf("GC percent %d in the last sample, want -1", during[len(during)-1])
	}
}

func TestCanary(t *testing.T) {
	for _, tc := range []struct {
		slow time.Duration // in the second group
		want []string
	}{
		{150 * time.Microsecond, nil},
		{170 * time.Microsecond, []string{"group tiny: the canary loop ran 70% slower than at its fastest: " +
			"a CPU was throttled, or busy with something else"}},
	} {
		l := newLab()
		s := l.smallSuite()
		r := l.runner()
		r.canary = func() time.Duration {
			if l.runs[s.Cases[3].Name] > 0 {
				return tc.slow
			}
			return 100 * time.Microsecond
		}
		_, file := measure(t, r, s)
		if got := readBack(t, file).Warnings; !slices.Equal(got, tc.want) {
			t.Errorf("warnings %q, want %q", got, tc.want)
		}
	}
}

func TestChorusTakesTime(t *testing.T) {
	if took := chorus(); took <= 0 || canarySink.Load() == 0 {
		t.Errorf("the canary's loop took %v: it was dropped", took)
	}
}

func TestCalibration(t *testing.T) {
	for _, tc := range []struct {
		op              time.Duration
		slices, n, warm int
	}{
		{time.Nanosecond, 10, 1_000_000, 125_000},
		{3 * time.Microsecond, 10, 333, 41},
		{600 * time.Microsecond, 8, 2, 1}, // no slice of fewer operations
		{4 * time.Millisecond, 2, 1, 0},
		{30 * time.Millisecond, 1, 1, 0},
	} {
		l := newLab()
		c := l.newCase("X", "g", script{op: tc.op})
		inst, err := c.Setup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e := &arm{Case: c, inst: inst}
		if err := e.calibrate(t.Context(), l.now, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		e.size(10*time.Millisecond, time.Millisecond)
		if e.slices != tc.slices || e.n != tc.n || e.warm != tc.warm {
			t.Errorf("%v: %d slices of %d, warm %d; want %d of %d, %d", tc.op, e.slices, e.n, e.warm, tc.slices, tc.n, tc.warm)
		}
	}
}

// A told case has run for so long in Verify.
type told struct {
	Instance
	took time.Duration
}

func (t told) Took() time.Duration { return t.took }

// An operation that outlasts a slice is not run again to be told so, and a shorter one is.
func TestCalibrationIsTold(t *testing.T) {
	for took, runs := range map[time.Duration]int{longSlice: 0, longSlice - 1: 1} {
		l := newLab()
		inst, err := l.newCase("X", "g", script{op: 3 * time.Millisecond}).Setup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e := &arm{inst: told{inst, took}}
		if err := e.calibrate(t.Context(), l.now, shortSlice); err != nil {
			t.Fatal(err)
		}
		want := took
		if runs > 0 {
			want = 3 * time.Millisecond
		}
		if l.runs["X"] != runs || e.cost != want || e.op != float64(want) {
			t.Errorf("told %v: %d operations, %v and %v each; want %d, %v", took, l.runs["X"], e.cost, time.Duration(e.op), runs, want)
		}
	}
}

func TestBudgetIsKept(t *testing.T) {
	for _, tc := range []struct {
		budget, op time.Duration
		least      float64 // share of the budget that is used
	}{
		{4 * time.Minute, 50 * time.Microsecond, 0},
		{2 * time.Second, 50 * time.Microsecond, 0.5},
		{3 * time.Second, 3 * time.Millisecond, 0.5},
		{60 * time.Second, 80 * time.Millisecond, 0.5},
	} {
		l := newLab()
		var s Suite
		for g := range 5 {
			for c := range 8 {
				s.Cases = append(s.Cases, l.newCase(fmt.Sprintf("MatVec/rows=%d/variant=v%d", g, c), fmt.Sprint(g), script{op: tc.op}))
			}
		}
		r := l.runner()
		r.Count, r.Time, r.Budget = 0, 0, tc.budget
		var last Progress
		r.Progress = func(p Progress) {
			if p.Done < last.Done || p.Left < 0 || p.Elapsed < last.Elapsed {
				t.Errorf("progress went from %+v to %+v", last, p)
			}
			last = p
		}
		start := l.now()
		res, _ := measure(t, r, s)
		took := l.now().Sub(start)
		if took > tc.budget || float64(took) < tc.least*float64(tc.budget) {
			t.Errorf("budget %v, op %v: took %v", tc.budget, tc.op, took)
		}
		if n := len(res.Samples) / (5 * 10); n < minRounds {
			t.Errorf("budget %v, op %v: %d rounds", tc.budget, tc.op, n)
		}
		if last.Left > tc.budget/50 || last.Total != len(res.Samples) {
			t.Errorf("budget %v, op %v: ended with %+v, %d samples", tc.budget, tc.op, last, len(res.Samples))
		}
	}
}

// TestLongCasesLeaveTheirTime has a group of long cases after one of short
// ones, which must not take its time.
func TestLongCasesLeaveTheirTime(t *testing.T) {
	l := newLab()
	s := fourCases(l)
	for _, v := range []string{"a", "b"} {
		s.Cases = append(s.Cases, l.newCase("Model/test=tg8/variant="+v, "h", script{op: time.Second}))
		s.Cases[len(s.Cases)-1].Expect = time.Second
	}
	r := l.runner()
	r.Count, r.Time, r.Budget = 0, 0, 40*time.Second
	var last Progress
	r.Progress = func(p Progress) {
		// The forecast holds from the first sample of the long group on.
		if p.Group == "h" && p.Doing == "measure" {
			if end := p.Elapsed + p.Left; end < 22*time.Second || end > 60*time.Second {
				t.Errorf("the end is forecast for %v", end)
			}
		}
		last = p
	}
	start := l.now()
	res, _ := measure(t, r, s)
	if took := l.now().Sub(start); took < 22*time.Second || took > r.Budget {
		t.Errorf("took %v of %v", took, r.Budget)
	}
	samples := make(map[string]int)
	for _, sm := range res.Samples {
		samples[sm.Name.Full]++
	}
	if a, b := samples["MatVec/variant=a"], samples["Model/test=tg8/variant=b"]; a != rounds || b < minRounds {
		t.Errorf("%d samples of a short case, %d of a long one", a, b)
	}
	if last.Done != last.Total {
		t.Errorf("ended with %+v", last)
	}
}

// TestSlowRoundsEndEarly has a case that takes ten times as long once it is
// calibrated, as if a neighbour had come.
func TestSlowRoundsEndEarly(t *testing.T) {
	for _, tc := range []struct{ count, want int }{{0, minRounds}, {9, 9}} {
		l := newLab()
		r := l.runner()
		r.Count, r.Budget = tc.count, 500*time.Millisecond
		slow := func(run int) time.Duration {
			if run > 2 {
				return 100 * time.Millisecond
			}
			return 0
		}
		c := l.newCase("MatVec/variant=a", "g", script{op: 10 * time.Millisecond, jitter: slow})
		var last Progress
		r.Progress = func(p Progress) { last = p }
		res, _ := measure(t, r, Suite{Cases: []Case{c}})
		if len(res.Samples) != 2*tc.want || last.Total < 2*tc.want {
			t.Errorf("count %d: %d samples, %+v; want %d rounds of 2", tc.count, len(res.Samples), last, tc.want)
		}
	}
}

func TestPlan(t *testing.T) {
	l := newLab()
	cases := fourCases(l).Cases // 4 and their doubles: 8 arms
	for _, tc := range []struct {
		r    Runner
		want Plan
	}{
		{Runner{}, Plan{10, 20 * time.Millisecond, 80, 3467 * time.Millisecond}},
		{Runner{Count: 3, Time: 10 * time.Millisecond}, Plan{3, 10 * time.Millisecond, 24, 800 * time.Millisecond}},
		{Runner{Budget: time.Hour}, Plan{10, 50 * time.Millisecond, 80, 8667 * time.Millisecond}},
		{Runner{Budget: 1733333334 * time.Nanosecond}, Plan{10, 10 * time.Millisecond, 80, 1733 * time.Millisecond}},
		{Runner{Budget: time.Millisecond}, Plan{10, time.Millisecond, 80, 173 * time.Millisecond}},
	} {
		s := Suite{Cases: cases}
		got := tc.r.Plan(s)
		got.Estimate = got.Estimate.Round(time.Millisecond)
		if got != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.r, got, tc.want)
		}
		// A case of a second and its pair, in the rounds that there must be,
		// and calibrated, are no others' time.
		s.Cases = append(s.Cases[:4:4], l.newCase("Model/test=tg8", "h", script{}))
		s.Settings = []results.Setting{{Key: results.ClassesKey, Value: "test"}}
		s.Cases[4].Expect = time.Second
		reserved := 2 * (minRounds + 1) * time.Second
		if tc.r.Count > 0 {
			reserved = 2 * time.Duration(tc.r.Count+1) * time.Second
		}
		if tc.r.Budget > 0 {
			tc.r.Budget += reserved
		}
		tc.want.Samples, tc.want.Estimate = 10*tc.want.Count, tc.want.Estimate+reserved
		long := tc.r.Plan(s)
		long.Estimate = long.Estimate.Round(time.Millisecond)
		if long != tc.want {
			t.Errorf("%+v with a long case: %+v, want %+v", tc.r, long, tc.want)
		}
	}
}

func TestRunnerWithRealClock(t *testing.T) {
	l := newLab()
	s := fourCases(l)
	r := &Runner{Count: 2, Time: 100 * time.Microsecond}
	for i := range s.Cases {
		s.Cases[i].Setup = func(context.Context) (Instance, error) { return spinner{}, nil }
	}
	res, file := measure(t, r, s)
	for _, sm := range res.Samples {
		if ns, _ := sm.Value(results.NsPerOp); ns <= 0 {
			t.Errorf("%s: %v ns/op", sm.Name.Full, ns)
		}
	}
	suffix := ""
	if p := runtime.GOMAXPROCS(0); p != 1 {
		suffix = fmt.Sprintf("-%d", p)
	}
	if !strings.Contains(file, "\nBenchmarkMatVec/variant=d"+suffix+" ") {
		t.Errorf("no line with the name go test would print:\n%s", file)
	}
}

type spinner struct{}

func (spinner) Verify(context.Context) ([]results.Metric, error) { return nil, nil }
func (spinner) Run(_ context.Context, n int) error {
	for range n {
		canarySink.Store(spin())
	}
	return nil
}
func (spinner) Close() error { return nil }

// A joulemeter counts two joules and three faults for each operation of a
// case, and none in between.
type joulemeter struct {
	lab    *lab
	before int
	err    error
}

func (m *joulemeter) ops() (n int) {
	for _, of := range m.lab.runs {
		n += of
	}
	return n
}

func (m *joulemeter) Start() error { m.before = m.ops(); return m.err }

func (m *joulemeter) Stop(ops int) ([]results.Metric, error) {
	n := float64(m.ops()-m.before) / float64(ops)
	return []results.Metric{{Unit: results.PageFaults, Value: 3 * n}, {Unit: results.Energy, Value: 2 * n}}, nil
}

// TestMeter: each sample has what was counted of its own operations, without
// those that warmed up, and a token its part.
func TestMeter(t *testing.T) {
	l := newLab()
	c := l.newCase("Model/test=tg4", "g", script{op: time.Millisecond})
	c.Rates = []results.Metric{{Unit: results.TokenRate, Value: 4}}
	r := l.runner()
	r.Meter = &joulemeter{lab: l}
	res, _ := measure(t, r, Suite{Cases: []Case{c}})
	if len(res.Samples) == 0 {
		t.Fatal("no samples")
	}
	for _, s := range res.Samples {
		for unit, want := range map[string]float64{results.PageFaults: 3, results.Energy: 2, results.TokenEnergy: 0.5} {
			if got, ok := s.Value(unit); !ok || got != want {
				t.Errorf("%s: %v %s, want %v", s.Name.Full, got, unit, want)
			}
		}
	}
	r.Meter = &joulemeter{lab: l, err: errWrong}
	res, _ = measure(t, r, Suite{Cases: []Case{c}})
	if len(res.Failures) != 1 || len(res.Samples) != 0 {
		t.Errorf("a meter that fails: %d samples and failures %v", len(res.Samples), res.Failures)
	}
}
