package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/bench/results"
	"onebit/internal/require"
)

// A pairing simulates two runs of one suite at different times.
type pairing struct {
	cases     int // in each of two classes
	processes int
	samples   [2]int // of a process, by run

	sample  float64 // scale of what slows a sample (exponential)
	process float64 // deviation of processes
	run     float64 // deviation between runs, of tails as heavy as t of 4's
	slow    float64 // chance that a sample is taken in a state in which it takes 1.8 times as long

	// machine is by how much both classes differ between the runs, as a
	// logarithm, and ceiling by how much their ceilings do. The first half of
	// the cases of a class follows the ceiling.
	machine, ceiling [2]float64

	planted map[int]float64 // by case: a difference of the program
}

// compare draws the two runs and compares them.
func (p pairing) compare(rng *rand.Rand) *Changes {
	var both [2]*results.Set
	base := make([]float64, 2*p.cases)
	for i := range base {
		base[i] = math.Log(1e4) + 2*rng.Float64()
	}
	for run := range both {
		r := &results.Set{Settings: []results.Setting{{Key: results.ClassesKey, Value: "threads cache"}}}
		for i := range base {
			class := i / p.cases
			center := base[i] + p.run/math.Sqrt2*studentT4(rng)
			if run == 1 {
				center += p.machine[class] + p.planted[i]
				if i%2 == 0 {
					center += p.ceiling[class]
				}
			}
			name := results.ParseName(fmt.Sprintf("MatVec/variant=v%d/threads=%d/cache=cold", i, class+1))
			for process := range p.processes {
				c := center + p.process*rng.NormFloat64()
				for range p.samples[run] {
					v := c + p.sample*rng.ExpFloat64()
					if rng.Float64() < p.slow {
						v += math.Log(1.8)
					}
					r.Samples = append(r.Samples, results.Sample{Name: name, Iters: 1, Process: process + 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: math.Exp(v)}}})
				}
			}
		}
		both[run] = r
	}
	old, new := Estimates(both[0], results.NsPerOp), Estimates(both[1], results.NsPerOp)
	compared := make([]Compared, len(old))
	for i := range old {
		compared[i] = Compared{Old: old[i], New: new[i]}
		if c := p.ceiling[i/p.cases]; c != 0 {
			compared[i].Limits = []float64{math.Exp(c)}
		}
	}
	return CompareRuns(compared, nil)
}

func studentT4(rng *rand.Rand) float64 {
	sum := 0.0
	for range 4 {
		x := rng.NormFloat64()
		sum += x * x
	}
	return rng.NormFloat64() / math.Sqrt(sum/4)
}

var quiet = pairing{cases: 42, processes: 3, samples: [2]int{3, 3}, sample: 0.01, process: 0.003, run: 0.003}

func (c *Changes) found() (cases []int, shifted bool) {
	for i, x := range c.Cases {
		if x.Sign != 0 {
			cases = append(cases, i)
		}
	}
	for _, s := range append(c.Classes, c.Suite) {
		shifted = shifted || s.Sign != 0
	}
	return cases, shifted
}

// TestCompareRunsFalseAlarms: of comparisons of equal programs at most one in
// twenty finds anything.
func TestCompareRunsFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of runs")
	}
	with := func(change func(*pairing)) pairing {
		p := quiet
		change(&p)
		return p
	}
	type named struct {
		name string
		pairing
	}
	tests := []named{
		{"quiet", quiet},
		{"processes differ", with(func(p *pairing) { p.process = 0.03 })},
		{"runs differ, heavy tail", with(func(p *pairing) { p.run = 0.03 })},
		{"loud", with(func(p *pairing) { p.sample, p.process, p.run = 0.1, 0.05, 0.02 })},
		{"two states", with(func(p *pairing) { p.slow = 0.3 })},
		{"two processes", with(func(p *pairing) { p.processes, p.process, p.run = 2, 0.02, 0.01 })},
		{"one process", with(func(p *pairing) { p.processes, p.samples, p.run = 1, [2]int{10, 10}, 0.02 })},
		{"one process, two states", with(func(p *pairing) { p.processes, p.samples, p.run, p.slow = 1, [2]int{10, 10}, 0.02, 0.3 })},
		{"one sample", with(func(p *pairing) { p.processes, p.samples, p.run = 1, [2]int{1, 1}, 0.02 })},
		{"short against full", with(func(p *pairing) { p.samples, p.sample = [2]int{2, 12}, 0.05 })},
		{"classes of few cases", with(func(p *pairing) { p.cases = 6 })},
		{"few cases", with(func(p *pairing) { p.cases, p.run = 2, 0.02 })},
		{"the machine is slower", with(func(p *pairing) { p.machine, p.ceiling = [2]float64{0.02, -0.02}, [2]float64{0.6, 0.3} })},
		{"the machine is faster", with(func(p *pairing) { p.ceiling = [2]float64{-0.7, 0} })},
	}
	const comparisons = 200
	for _, p := range require.Draw(t, len(tests), tests) {
		t.Run(p.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(len(p.name))))
			alarms := 0
			var shows []float64
			for range comparisons {
				ch := p.compare(rng)
				cases, shifted := ch.found()
				if len(cases) > 0 || shifted {
					alarms++
				}
				shows = append(shows, ch.Cases[0].Shows)
			}
			t.Logf("%d of %d comparisons find something; a case shows from %.0f%%", alarms, comparisons, 100*Median(shows))
			if alarms > comparisons/20 {
				t.Errorf("%d of %d comparisons of equal programs find a difference", alarms, comparisons)
			}
		})
	}
}

// TestCompareRunsFinds plants differences.
func TestCompareRunsFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of runs")
	}
	all := func(d float64, from, to int) map[int]float64 {
		m := make(map[int]float64)
		for i := from; i < to; i++ {
			m[i] = d
		}
		return m
	}
	slower := math.Log(1.3)
	tests := []struct {
		name  string
		p     pairing
		case_ int // that is found and nothing else; -1: none
		suite int
		class int // sign of the second class
	}{
		{"a case", pairing{planted: map[int]float64{7: slower}}, 7, 0, 0},
		{"a case of a quiet file is faster", pairing{planted: map[int]float64{50: -slower}}, 50, 0, 0},
		{"a case while the machine is slower", pairing{planted: map[int]float64{8: 0.9}, ceiling: [2]float64{0.4, 0.4}}, 8, 0, 0},
		{"the suite", pairing{planted: all(0.1, 0, 84)}, -1, 1, 1},
		{"the suite, more than its ceilings, which moved", pairing{planted: all(-0.3, 0, 84), ceiling: [2]float64{-0.1, -0.1}}, -1, 0, 0},
		{"a class", pairing{planted: all(0.1, 42, 84)}, -1, 0, 1},
	}
	for _, tt := range require.Draw(t, 3, tests) {
		t.Run(tt.name, func(t *testing.T) {
			p := quiet
			p.planted, p.ceiling = tt.p.planted, tt.p.ceiling
			rng := rand.New(rand.NewPCG(2, 2))
			others := 0
			for range 50 {
				ch := p.compare(rng)
				cases, _ := ch.found()
				found := slices.Contains(cases, tt.case_)
				if others += len(cases); found {
					others--
				}
				if found != (tt.case_ >= 0) || ch.Suite.Sign != tt.suite || ch.Classes[1].Sign != tt.class || ch.Classes[0].Sign != tt.suite {
					t.Fatalf("found cases %v, suite %+v, classes %+v", cases, ch.Suite, ch.Classes)
				}
			}
			if others > 5 { // one in twenty of what is found may be false
				t.Errorf("%d other cases in 50 comparisons", others)
			}
		})
	}
}

// TestCompareRunsBlamesTheMachine: all cases take 1.8 times as long, as do the
// ceilings.
func TestCompareRunsBlamesTheMachine(t *testing.T) {
	p := quiet
	p.machine = [2]float64{math.Log(1.8), math.Log(1.8)}
	p.planted = make(map[int]float64)
	rng := rand.New(rand.NewPCG(3, 3))
	if ch := p.compare(rng); ch.Suite.Sign != 1 || ch.Suite.Machine() {
		t.Errorf("without ceilings: %+v", ch.Suite)
	}
	p.machine = [2]float64{}
	p.ceiling = [2]float64{math.Log(1.8), math.Log(1.8)}
	for i := range 2 * p.cases {
		if i%2 == 1 {
			p.planted[i] = math.Log(1.8) // the other half follows as well
		}
	}
	ch := p.compare(rng)
	if cases, _ := ch.found(); len(cases) > 0 || ch.Suite.Sign != 0 || !ch.Suite.Machine() {
		t.Errorf("with ceilings: cases %v, suite %+v", cases, ch.Suite)
	}
}

// TestDiscover holds the weighted procedure of Benjamini and Hochberg to a case by hand: three
// cases and a family share the false discoveries half and half, so that a case's chance counts
// six times, and the family's twice. The family lies below 5% by its rank alone.
func TestDiscover(t *testing.T) {
	ch := Changes{
		Cases:    []Change{{P: 0.9, Sign: 1, tests: 6}, {P: 0.004, Sign: -1, tests: 6}, {P: 0.03, Sign: 1, tests: 6}},
		Families: []FamilyChange{{Change: Change{P: 0.0399, Sign: 1, tests: 2}}},
	}
	ch.discover()
	for i, want := range []Change{{Q: 1}, {Q: 0.024, Sign: -1}, {Q: 0.06}} {
		if got := ch.Cases[i]; got.Sign != want.Sign || math.Abs(got.Q-want.Q) > 1e-12 {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
	if f := ch.Families[0]; f.Sign != 1 || math.Abs(f.Q-0.0399) > 1e-12 {
		t.Errorf("family %+v", f)
	}
	ch = Changes{Cases: []Change{{P: 0.03, Sign: 1, tests: 2}, {P: 0.049, Sign: -1, tests: 2}}}
	if ch.discover(); ch.Cases[0].Sign != 1 || ch.Cases[1].Sign != -1 || ch.Cases[0].Q != ch.Cases[1].Q {
		t.Errorf("%+v: the larger chance keeps both", ch.Cases)
	}
}
