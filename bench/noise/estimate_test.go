package noise

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"onebit/bench/results"
	"onebit/internal/require"
)

// A fakeMachine makes results with noise that is known.
type fakeMachine struct {
	rng       *rand.Rand
	processes int
	samples   int     // of each case in a process
	within    float64 // deviation of the logarithms of samples of a process
	between   float64 // and of what a process adds to a case
	uneven    float64 // deviation of the logarithm of a case's own share of the noise
	common    float64 // deviation of what a process adds to all cases
	classes   string
}

func (m *fakeMachine) run(names ...string) *results.Set {
	r := &results.Set{Settings: []results.Setting{{Key: results.ClassesKey, Value: m.classes}}}
	scale := make(map[string]float64)
	for p := range m.processes {
		common := m.common * m.rng.NormFloat64()
		for _, n := range names {
			name := results.ParseName(n)
			of := name.Get("case") // shared by the arms of a pair
			if scale[of] == 0 {
				scale[of] = math.Exp(m.uneven * m.rng.NormFloat64())
			}
			shift := common + scale[of]*m.between*m.rng.NormFloat64()
			for range m.samples {
				ns := 1000 * math.Exp(shift+scale[of]*m.within*m.rng.NormFloat64())
				r.Samples = append(r.Samples, results.Sample{Name: name, Iters: 1, Process: p + 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: ns}}})
			}
		}
	}
	return r
}

func caseNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("MatVec/case=%d/threads=2", i))
	}
	return names
}

// pairNames are cases, each followed by its double.
func pairNames(n int) (names []string) {
	for _, name := range caseNames(n) {
		names = append(names, name, results.DoubleName(name))
	}
	return names
}

func TestIntervalHoldsTheNextRun(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of runs")
	}
	type machine struct {
		cases, processes int
		uneven, common   float64
		lo, hi           float64
	}
	for _, tc := range require.Draw(t, 7, []machine{
		{cases: 30, processes: 3, uneven: 0, lo: 0.93, hi: 0.97},
		{cases: 30, processes: 3, uneven: 0.7, lo: 0.93, hi: 0.97},
		{cases: 30, processes: 5, uneven: 0.7, lo: 0.93, hi: 0.97},
		// The machine drifts as a whole: no number of cases makes up for few
		// processes.
		{cases: 30, processes: 3, common: 0.03, lo: 0.92, hi: 0.99},
		{cases: 30, processes: 5, common: 0.10, lo: 0.92, hi: 0.99},
		{cases: 6, processes: 3, uneven: 0.7, lo: 0.92, hi: 0.99},
		{cases: 1, processes: 3, uneven: 0.7, lo: 0.92, hi: 0.99}, // nothing to pool
	}) {
		m := &fakeMachine{rng: newRand(5), processes: tc.processes, samples: 4, within: 0.03, between: 0.05, common: tc.common}
		inside, all := 0, 0
		for range 9000 / tc.cases {
			a, b := m.twins(tc.uneven, caseNames(tc.cases)...)
			next := Estimates(b, results.NsPerOp)
			for i, e := range Estimates(a, results.NsPerOp) {
				all++
				if !e.NextRun || !e.Bounded() {
					t.Fatalf("%+v has no interval for the next run", e)
				}
				if e.Lo <= next[i].Center && next[i].Center <= e.Hi {
					inside++
				}
			}
		}
		share := float64(inside) / float64(all)
		t.Logf("%+v: %.1f%%", tc, 100*share)
		if share < tc.lo || share > tc.hi {
			t.Errorf("%+v: the next run lies inside in %.1f%% of cases, 95%% is nominal", tc, 100*share)
		}
	}
}

// twins are two runs of the same cases.
func (m *fakeMachine) twins(uneven float64, names ...string) (a, b *results.Set) {
	double := *m
	double.processes, double.uneven = 2*m.processes, uneven
	a, b = &results.Set{}, &results.Set{}
	for _, s := range double.run(names...).Samples {
		if s.Process <= m.processes {
			a.Samples = append(a.Samples, s)
		} else {
			b.Samples = append(b.Samples, s)
		}
	}
	return a, b
}

// estimateOf is the estimate of one case from samples of processes.
func estimateOf(unit string, processes ...[]float64) Estimate {
	r := &results.Set{}
	for p, values := range processes {
		for _, v := range values {
			r.Samples = append(r.Samples, results.Sample{Name: results.ParseName("X"), Process: p, Values: []results.Metric{{Unit: unit, Value: v}}})
		}
	}
	return Estimates(r, unit)[0]
}

func TestEstimateOfOneProcess(t *testing.T) {
	// For 6 samples, the 95% interval of the median is the whole range: it
	// misses with probability 2·(1/2)⁶ = 3.1%.
	e := estimateOf(results.NsPerOp, []float64{9, 5, 6, 8, 7, 4})
	if e.Center != 6.5 || e.Lo != 4 || e.Hi != 9 || len(e.Warnings) != 0 || e.NextRun || e.Processes != 1 {
		t.Errorf("%+v", e)
	}
	e = estimateOf(results.NsPerOp, []float64{5, 6, 7})
	if e.Center != 6 || e.Bounded() || len(e.Warnings) != 1 {
		t.Errorf("3 samples: %+v", e)
	}
	e = estimateOf(results.NMSE, []float64{3e-9, 3e-9}, []float64{3e-9})
	if e.Center != 3e-9 || e.Lo != 3e-9 || e.Hi != 3e-9 || len(e.Warnings) != 0 || e.Spread() != 0 {
		t.Errorf("exact: %+v", e)
	}
}

func TestEstimateOfProcesses(t *testing.T) {
	// Medians 100, 110 and 121: a deviation of log 1.1, with two degrees of
	// freedom, for which Student's t is 4.303.
	e := estimateOf(results.NsPerOp, []float64{99, 100, 101}, []float64{110}, []float64{120, 121, 122})
	factor := math.Exp(4.303 * math.Log(1.1) * math.Sqrt(2*ofMedian(3)))
	if e.Center != 110 || !e.NextRun || math.Abs(e.Hi/(110*factor)-1) > 1e-3 || math.Abs(e.Lo*factor/110-1) > 1e-3 {
		t.Errorf("%+v, want 110 and a factor of %v", e, factor)
	}
	// Nothing has a logarithm here, and nothing varies.
	if e = estimateOf(results.AllocBytes, []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}); e.Center != 0 || e.Lo != 0 || e.Hi != 0 {
		t.Errorf("%+v", e)
	}
}

// TestModeration has classes of which one case was lucky: its processes agree
// to the last digit.
func TestModeration(t *testing.T) {
	m := &fakeMachine{rng: newRand(3), processes: 3, samples: 4, between: 0.05}
	r := m.run(caseNames(20)...)
	for p := range 3 {
		r.Samples = append(r.Samples, results.Sample{Name: results.ParseName("Lucky"), Process: p + 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: 1000}}})
	}
	// A case that only one process measured has its class to go by.
	r.Samples = append(r.Samples, results.Sample{Name: results.ParseName("Once"), Process: 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: 1000}}})
	all := Estimates(r, results.NsPerOp)
	for _, e := range all[20:] {
		if !e.NextRun || e.Spread() < 0.05 || e.Spread() > 0.5 {
			t.Errorf("%s: ±%v", e.Name.Full, e.Spread())
		}
	}
}

func TestTrigammaInverse(t *testing.T) {
	for _, x := range []float64{1e-5, 0.1, 0.5, 1, 3, 50, 1e5, 1e7} {
		if got := trigammaInverse(trigamma(x)); math.Abs(got/x-1) > 1e-6 {
			t.Errorf("trigamma⁻¹(trigamma(%v)) = %v", x, got)
		}
	}
	if got, want := trigamma(1), math.Pi*math.Pi/6; math.Abs(got-want) > 1e-12 {
		t.Errorf("trigamma(1) = %v, want %v", got, want)
	}
}

func TestStates(t *testing.T) {
	for _, tc := range []struct {
		name  string
		trips []float64
		want  []State
	}{
		{"two", []float64{52, 315, 50, 320, 58, 324}, []State{{52, 3, 3}, {320, 4, 3}}},
		{"one", []float64{50, 52, 51, 55, 58, 54}, nil},
		{"a straggler", []float64{50, 52, 51, 55, 58, 315}, nil},
		{"no gap", []float64{50, 80, 120, 180, 260, 390}, nil},
		{"unknown", nil, nil},
		{"partly unknown", []float64{52, 315, 50, 320, 58}, nil},
	} {
		if diff := cmp.Diff(tc.want, statesOf([]float64{1, 2, 3, 4, 5, 6}, tc.trips)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tc.name, diff)
		}
	}
	r := &results.Set{}
	for i, trip := range []float64{50, 50, 50, 310, 310, 310} {
		values := []results.Metric{{Unit: results.NsPerOp, Value: 100 + 100*float64(i/3)}, {Unit: results.RoundTrip, Value: trip}}
		r.Samples = append(r.Samples, results.Sample{Name: results.ParseName("X"), Values: values})
	}
	if got := Estimates(r, results.NsPerOp)[0].States; len(got) != 2 || got[0].Center != 100 || got[1].Center != 200 {
		t.Errorf("states %+v", got)
	}
}

// No samples, however odd, make figures that are no numbers.
func FuzzEstimates(f *testing.F) {
	f.Add([]byte("Unit ns/op better=lower\nBenchmarkAA/X/arm=a 1 5 ns/op\nBenchmarkAA/X/arm=b 1 0 ns/op\n"))
	f.Add([]byte("# process 1\nBenchmarkX 1 1e308 ns/op\n# process 2\nBenchmarkX 1 1e-300 ns/op\n"))
	f.Add([]byte("# process 1\n# slices 1 2 0\nBenchmarkX 1 1 ns/op\n# slices 1e-300 1e300\nBenchmarkX 1 0 ns/op\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		res, err := results.Read(bytes.NewReader(data), "fuzz.txt")
		if err != nil {
			return
		}
		for _, f := range FloorsOf(res) {
			if math.IsNaN(f.Floor) || math.IsNaN(f.Worst) {
				t.Errorf("%+v", f)
			}
		}
		for _, e := range Estimates(res, results.NsPerOp) {
			if math.IsNaN(e.Lo) || math.IsNaN(e.Hi) || e.Lo > e.Hi || e.Processes < 1 {
				t.Errorf("%+v", e)
			}
		}
	})
}
