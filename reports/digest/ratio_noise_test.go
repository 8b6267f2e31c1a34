package digest

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/internal/require"
	"onebit/reports/reportstest"
)

// withDoubles is a copy of a recording in which the double of each A/A pair is a variant of its own, that takes
// longer than its case by a factor.
func withDoubles(run *results.Set, factor float64) (*results.Set, map[string]string) {
	doubles := *run
	doubles.Samples = nil
	doubleOf := make(map[string]string)
	for _, s := range run.Samples {
		if s.Name.IsArm() {
			of := strings.TrimSuffix(strings.TrimPrefix(s.Name.Full, "AA/"), "/arm=b")
			s.Name = results.ParseName(strings.Replace(of, "/act=", "-double/act=", 1))
			doubleOf[of] = s.Name.Full
			s = reportstest.Stretched(s, factor)
		}
		doubles.Samples = append(doubles.Samples, s)
	}
	return &doubles, doubleOf
}

// TestDoublesOfRecordedRuns: of real runs, identical code is called different about once in twenty, beyond the floor
// of another run too, and code that is a tenth slower in nearly every comparison.
func TestDoublesOfRecordedRuns(t *testing.T) {
	reportstest.OfRecordings(t, reportstest.Sliced, testDoubles)
}

func testDoubles(t *testing.T, runs []*results.Set) {
	folder := filepath.Base(t.Name())
	type counts struct {
		all, apart, beyond, floors int
		ofClass, apartOf           map[string]int
	}
	said := make(map[float64]*counts)
	for _, factor := range []float64{1, 1.03, 1.05, 1.1} {
		said[factor] = &counts{ofClass: make(map[string]int), apartOf: make(map[string]int)}
	}
	half := make(map[string][]float64)
	if !require.All() {
		delete(said, 1.03)
		delete(said, 1.05)
	}
	floorsOf := make([]noise.Floors, len(runs))
	for i, run := range runs {
		floorsOf[i] = noise.FloorsOf(run)
	}
	for factor, n := range said {
		for i, run := range runs {
			doubles, doubleOf := withDoubles(run, factor)
			floors, others := floorsOf[i], floorsOf[(i+1)%len(runs)]
			byName := make(map[string]noise.Estimate)
			for _, e := range noise.Estimates(doubles, results.NsPerOp) {
				byName[e.Name.Full] = e
			}
			for of, double := range doubleOf {
				a, b := byName[of], byName[double]
				d := floors.Compare(a, b)
				n.all++
				n.ofClass[a.Class]++
				if !d.Tie {
					n.apart++
					n.apartOf[a.Class]++
				}
				if other := others.Of(a.Class); other.Known() {
					n.floors++
					if max(d.Ratio, 1/d.Ratio)-1 > other.Floor {
						n.beyond++
					}
				}
				if factor == 1 {
					half[a.Class] = append(half[a.Class], max(d.Ratio, 1/d.Ratio)-1)
				}
			}
		}
		t.Logf("slower by %.0f%%: %d of %d told apart, by class %v of %v", 100*(factor-1), n.apart, n.all, n.apartOf, n.ofClass)
	}
	for _, class := range []string{"1 thread, warm", "2 threads, warm", "1 thread, cold", "2 threads, cold"} {
		t.Logf("%s: 95%% of %d A/A ratios lie within %.2f%%", class, len(half[class]), 100*noise.Percentile(half[class], 95))
	}
	same, tenth := said[1], said[1.1]
	t.Logf("identical code lies beyond the floor of another run in %d of %d", same.beyond, same.floors)
	if 10*same.apart > same.all {
		t.Errorf("identical code is told apart in %d of %d comparisons", same.apart, same.all)
	}
	if 10*same.beyond > same.floors {
		t.Errorf("identical code lies beyond the floor of another run in %d of %d comparisons", same.beyond, same.floors)
	}
	least := 0.95
	if folder == "default" {
		least = 0.85 // in most groups others took a CPU
	}
	if float64(tenth.apart) < least*float64(tenth.all) {
		t.Errorf("of cases that are a tenth apart only %d of %d are told apart", tenth.apart, tenth.all)
	}
}

// TestRatiosOfRecordedRuns: the interval behind a ratio holds what other runs find, their median, four times in five
// where neighbours change what the machine is (docs/measurements/noise.md).
func TestRatiosOfRecordedRuns(t *testing.T) {
	reportstest.OfRecordings(t, reportstest.Sliced, testRatios)
}

func testRatios(t *testing.T, runs []*results.Set) {
	type pair struct{ class, a, b string }
	found := make(map[pair][]noise.Difference) // by run
	half := make(map[string][]float64)
	for _, run := range runs {
		floors := noise.FloorsOf(run)
		estimates := noise.Estimates(run, results.NsPerOp)
		slices.SortFunc(estimates, func(a, b noise.Estimate) int {
			return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(matrixOf(a.Name), matrixOf(b.Name)), cmp.Compare(a.Name.Full, b.Name.Full))
		})
		var before *noise.Estimate
		for _, e := range estimates {
			if slices.Contains([]string{"scalar", "unrolled", "reference"}, e.Name.Get("variant")) {
				continue
			}
			if before != nil && before.Class == e.Class && matrixOf(before.Name) == matrixOf(e.Name) {
				d, at := floors.Compare(*before, e), pair{e.Class, before.Name.Full, e.Name.Full}
				found[at] = append(found[at], d)
			}
			before = &e
		}
	}
	inside, all := 0, 0
	for at, diffs := range found {
		if len(diffs) < len(runs) {
			continue // it failed in some
		}
		for i, d := range diffs {
			var others []float64
			for k, o := range diffs {
				if k != i {
					others = append(others, o.Ratio)
				}
			}
			truth := noise.Median(others)
			if all++; d.Lo <= truth && truth <= d.Hi {
				inside++
			}
			half[at.class] = append(half[at.class], d.Spread())
		}
	}
	t.Logf("%d of %d intervals hold what the other runs find", inside, all)
	for class, spreads := range half {
		t.Logf("%s: half width %.1f%% (median of %d)", class, 100*noise.Median(spreads), len(spreads))
	}
	if all == 0 || 4*inside < 3*all {
		t.Errorf("only %d of %d intervals hold what the other runs find", inside, all)
	}
}

// matrixOf is what the variants of a matrix share, which are measured among each other.
func matrixOf(n results.Name) string {
	return strings.Join([]string{n.Base, n.Get("format"), n.Get("rows"), n.Get("cols")}, " ")
}
