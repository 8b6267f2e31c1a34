package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/bench/results"
)

// neighbourRun simulates a run of 9 groups in 2 classes. The machine does something to
// each pass, and something else to each group; slow is what the program does, by the
// names of cases.
func neighbourRun(rng *rand.Rand, slow func(group int, variant string) float64) (cases, ceilings []Estimate) {
	r := &results.Set{Settings: []results.Setting{{Key: results.ClassesKey, Value: "threads"}}}
	for group := range 9 {
		for threads := 1; threads <= 2; threads++ {
			state := 0.05 * rng.NormFloat64()
			for process := 1; process <= 5; process++ {
				passes := make([]float64, 20)
				for k := range passes {
					passes[k] = state + 0.3*rng.ExpFloat64()
				}
				for v, variant := range []string{"a", "b", "c", "read"} {
					own := math.Log(1e4) + 0.2*float64(v) + slow(group, variant) + 0.01*rng.NormFloat64()
					times := make([]float64, len(passes))
					for k, pass := range passes {
						times[k] = math.Exp(own + pass + 0.02*rng.NormFloat64())
					}
					r.Samples = append(r.Samples, results.Sample{
						Name:  results.ParseName(fmt.Sprintf("MatVec/format=f%d/variant=%s/threads=%d", group, variant, threads)),
						Iters: 1, Process: process, Group: fmt.Sprintf("f%d", group), Slices: times,
						Values: []results.Metric{{Unit: results.NsPerOp, Value: Median(times)}},
					})
				}
			}
		}
	}
	for _, e := range Estimates(r, results.NsPerOp) {
		if e.Name.Get("variant") == "read" {
			ceilings = append(ceilings, e)
		} else {
			cases = append(cases, e)
		}
	}
	return cases, ceilings
}

func compareNeighbours(rng *rand.Rand, disturbed bool, slow func(group int, variant string) float64) *Changes {
	both := func(old, new []Estimate) []Compared {
		out := make([]Compared, len(old))
		for i := range old {
			format := old[i].Name.Get("format")
			out[i] = Compared{Old: old[i], New: new[i], Family: old[i].Name.Get("variant") + " of " + format, Subject: format, Unlike: disturbed}
		}
		return out
	}
	oldCases, oldCeilings := neighbourRun(rng, func(int, string) float64 { return 0 })
	newCases, newCeilings := neighbourRun(rng, slow)
	return CompareRuns(both(oldCases, newCases), both(oldCeilings, newCeilings))
}

// TestNeighbours: a machine that does something else to each group and pass hides
// neither a variant that is a tenth slower, nor a group that takes eight times as
// long, and is not taken for either; a format is told apart sooner than its groups.
func TestNeighbours(t *testing.T) {
	for _, c := range []struct {
		group   int
		variant string // "" for all
		factor  float64
		want    []string
	}{
		{0, "a", 1, nil},
		{3, "b", 1.1, []string{"b of f3"}},
		{5, "", 8, []string{"all of f5"}},
		{6, "", 2, []string{"all of f6"}},
	} {
		rng, right := rand.New(rand.NewPCG(1, 2)), 0
		const comparisons = 20
		for range comparisons {
			found := compareNeighbours(rng, false, func(group int, variant string) float64 {
				if group == c.group && (variant == c.variant || c.variant == "" && variant != "read") {
					return math.Log(c.factor)
				}
				return 0
			})
			var named []string
			for _, f := range found.Families {
				if f.Sign != 0 {
					named = append(named, f.Name)
				}
			}
			if cases, shifted := found.found(); !shifted && slices.Equal(named, c.want) && (len(cases) == 0 || c.variant == "b") {
				right++
			}
		}
		if right < comparisons-2 {
			t.Errorf("%q of group %d times %v: %d of %d comparisons say that and nothing else", c.variant, c.group, c.factor, right, comparisons)
		}
	}
}

// TestSubjectsOfDisturbedRuns: what disturbed runs differ by in all of a format is no verdict on it.
func TestSubjectsOfDisturbedRuns(t *testing.T) {
	found := compareNeighbours(rand.New(rand.NewPCG(1, 2)), true, func(group int, _ string) float64 {
		return map[int]float64{6: math.Log(4)}[group]
	})
	for _, f := range found.Families {
		if f.Kind == Subject && f.Sign != 0 {
			t.Errorf("%s is named: %+v", f.Name, f.Change)
		}
	}
}
