package noise

import (
	"math"
	"slices"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
)

// TestFloorIsExceededOnceInTwenty takes floors from as many pairs as a run has,
// and asks how often further comparisons of identical code exceed them.
func TestFloorIsExceededOnceInTwenty(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of runs")
	}
	type machine struct {
		pairs  int
		uneven float64
	}
	// Fewer floors by default, whose shares scatter more.
	runs, lo, hi := 60, 0.02, 0.09
	if require.All() {
		runs, lo, hi = 200, 0.03, 0.07
	}
	for _, tc := range require.Draw(t, 6, []machine{{leastPairs, 0}, {leastPairs, 0.5}, {8, 0}, {8, 0.5}, {25, 0.5}, {25, 1}}) {
		m := &fakeMachine{rng: newRand(43), processes: 3, samples: 4, within: 0.02, between: 0.03, uneven: tc.uneven, classes: "threads"}
		beyond, all := 0, 0
		for range runs {
			floors := FloorsOf(m.run(pairNames(tc.pairs)...))
			if len(floors) != 1 || floors[0].Pairs != tc.pairs || floors[0].Class != "2 threads" || !floors[0].Known() {
				t.Fatalf("%d pairs give %+v", tc.pairs, floors)
			}
			further := gather(m.run(pairNames(50)...), results.NsPerOp, func(results.Name) bool { return true })
			for arms := range slices.Chunk(further, 2) {
				all++
				if d := floors.Compare(arms[0], arms[1]).Ratio; fraction(math.Abs(math.Log(d))) > floors[0].Floor {
					beyond++
				}
			}
		}
		share := float64(beyond) / float64(all)
		t.Logf("%+v: %.1f%%", tc, 100*share)
		if share < lo || share > hi {
			t.Errorf("%+v: identical code exceeded the floor in %.1f%% of comparisons, want about 5%%", tc, 100*share)
		}
	}
}

// TestFloorFindsTheNoise compares floors with what theory says of noise that is
// the same in all cases.
func TestFloorFindsTheNoise(t *testing.T) {
	for _, sigma := range []float64{0.001, 0.05} {
		m := &fakeMachine{rng: newRand(42), processes: 5, samples: 1, between: sigma}
		f := FloorsOf(m.run(pairNames(60)...))[0]
		// The difference of two arms has √2 times the deviation, and its
		// median over five processes 0.2868 of the variance (David and
		// Nagaraja, Order Statistics, table 3.2).
		want := fraction(1.96 * sigma * math.Sqrt(2*0.2868))
		if f.Floor < 0.85*want || f.Floor > 1.15*want || f.Lo > f.Floor || f.Hi < f.Floor || f.Hi > 1.5*want || f.Worst < f.Floor {
			t.Errorf("σ %v: %+v, want a floor near %v", sigma, f, want)
		}
	}
}

func TestFloorsAreOfClasses(t *testing.T) {
	r := &results.Set{Settings: []results.Setting{{Key: results.ClassesKey, Value: "threads cache"}}}
	add := func(name string, process int, ns float64) {
		r.Samples = append(r.Samples, results.Sample{Name: results.ParseName(name), Iters: 1, Process: process, Values: []results.Metric{{Unit: results.NsPerOp, Value: ns}}})
	}
	for p := range 3 {
		add("MatVec/rows=1/threads=1/cache=warm", p, 5)
		for c := range leastPairs {
			name := "MatVec/rows=" + string(rune('2'+c)) + "/threads=2/cache=cold"
			add(name, p, 100)
			add(results.DoubleName(name), p, 100+float64(2*c+p))
		}
		add("AA/MatVec/rows=7/threads=2/cache=warm/arm=a", p, 100) // of an older file
		add("AA/MatVec/rows=7/threads=2/cache=warm/arm=b", p, 110)
		add("MatVec/rows=7/threads=2/cache=warm", p, 90)
		add("AA/MatVec/rows=8/threads=2/cache=warm/arm=b", p, 110) // whose case failed
	}
	floors := FloorsOf(r)
	var classes []string
	for _, f := range floors {
		classes = append(classes, f.Class)
	}
	if want := []string{"1 thread, warm", "2 threads, cold", "2 threads, warm"}; !slices.Equal(classes, want) {
		t.Fatalf("classes %q, want %q", classes, want)
	}
	if f := floors.Of("1 thread, warm"); f.Pairs != 0 || f.Known() || f.Floor != 0 {
		t.Errorf("without pairs: %+v", f)
	}
	if f := floors.Of("2 threads, cold"); f.Pairs != leastPairs || !f.Known() || math.Abs(f.Worst-float64(2*leastPairs-1)/100) > 1e-12 {
		t.Errorf("with %d pairs: %+v", leastPairs, f)
	}
	if f := floors.Of("2 threads, warm"); f.Pairs != 1 || f.Known() || math.Abs(f.Worst-0.1) > 1e-12 {
		t.Errorf("with one pair: %+v", f)
	}
	for _, e := range Estimates(r, results.NsPerOp) {
		if e.Name.IsArm() {
			t.Errorf("%s is no case", e.Name.Full)
		}
	}
}

// TestTies compares cases of which one is slower by a known share.
func TestTies(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	type planted struct {
		slower float64
		lo, hi float64 // share of comparisons that are no tie
	}
	for _, tc := range require.Draw(t, 3, []planted{{0, 0, 0.06}, {0.02, 0, 0.2}, {0.30, 0.95, 1}}) {
		m := &fakeMachine{rng: newRand(7), processes: 3, samples: 4, within: 0.02, between: 0.03}
		apart, all := 0, 0
		for range 30 {
			r := m.run(pairNames(30)...)
			floors := FloorsOf(r)
			cases := Estimates(r, results.NsPerOp)
			for i := range len(cases) / 2 {
				a, b := cases[2*i], cases[2*i+1]
				for _, m := range b.medians {
					for k := range m.samples {
						m.samples[k] *= 1 + tc.slower
					}
				}
				d := floors.Compare(a, b)
				all++
				if !d.Tie {
					apart++
				}
				if d.Lo > d.Ratio || d.Hi < d.Ratio || !d.Tie && d.Lo <= 1 && d.Hi >= 1 {
					t.Fatalf("%+v", d)
				}
			}
		}
		if share := float64(apart) / float64(all); share < tc.lo || share > tc.hi {
			t.Errorf("slower by %v: told apart in %.1f%%, want %v to %v", tc.slower, 100*share, tc.lo, tc.hi)
		}
	}
}

// The machine is in another state in some rounds, and changes within one of them:
// the medians of the two cases are of different states, their rounds are not.
func TestRoundsCancel(t *testing.T) {
	r := &results.Set{}
	for p := range 3 {
		for i, slow := range [][2]float64{{1, 1}, {1.8, 1.8}, {1, 1}, {1.8, 1.8}, {1, 1.8}} {
			for side, name := range []string{"A", "B"} {
				ns := slow[side] * (100 + float64(2*side)) * (1 + 0.001*float64((i+p)%3))
				r.Samples = append(r.Samples, results.Sample{Name: results.ParseName(name), Process: p + 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: ns}}})
			}
		}
	}
	e := Estimates(r, results.NsPerOp)
	if d := FloorsOf(r).Compare(e[0], e[1]); d.Tie || math.Abs(d.Ratio-1.02) > 1e-3 || d.Hi-d.Lo > 0.01 {
		t.Errorf("%+v, want B slower by 2%% for sure", d)
	}
}

// One process of five found the machine's threads far apart, where B takes less: the ratio is that of the others. Of
// two such processes too few are left, and all count.
func TestNearProcesses(t *testing.T) {
	for _, far := range []int{1, 2} {
		r := &results.Set{}
		for p := range 5 {
			for i, name := range []string{"A", "B"} {
				ns, trip := float64(100+5*i)+0.1*float64(p), 60.0
				if p < far {
					ns, trip = 200-40*float64(i), 350
				}
				r.Samples = append(r.Samples, results.Sample{Name: results.ParseName(name), Process: p + 1,
					Values: []results.Metric{{Unit: results.NsPerOp, Value: ns}, {Unit: results.RoundTrip, Value: trip}}})
			}
		}
		e := Estimates(r, results.NsPerOp)
		d := FloorsOf(r).Compare(e[0], e[1])
		if math.Abs(d.Ratio-1.05) > 1e-3 || (d.Spread() < 0.01) != (far == 1) {
			t.Errorf("%d far: %+v", far, d)
		}
	}
}

// TestProcessesCancel compares cases that a slow process slows alike.
func TestProcessesCancel(t *testing.T) {
	r := &results.Set{}
	for p, slow := range []float64{1, 2, 1.5} {
		for i, name := range []string{"A", "B"} {
			for range 3 {
				r.Samples = append(r.Samples, results.Sample{Name: results.ParseName(name), Process: p + 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: slow * float64(100+5*i)}}})
			}
		}
	}
	e := Estimates(r, results.NsPerOp)
	if d := FloorsOf(r).Compare(e[0], e[1]); d.Tie || math.Abs(d.Ratio-1.05) > 1e-9 || d.Hi-d.Lo > 1e-9 {
		t.Errorf("%+v, want B slower by 5%% for sure", d)
	}
}
