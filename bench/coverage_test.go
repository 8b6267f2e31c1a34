package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCoverageOfRuns reads the results files that the glob ONEBIT_RUNS names,
// runs of one program in the order of their names, and says how often a run's
// figure lies in the interval of the run before, by class and for those in
// whose groups other processes took no time. docs/measurements/noise.md says what it found.
func TestCoverageOfRuns(t *testing.T) {
	glob := os.Getenv("ONEBIT_RUNS")
	if glob == "" {
		t.Skip("ONEBIT_RUNS names no results files")
	}
	paths, err := filepath.Glob(glob)
	if err != nil || len(paths) < 2 {
		t.Fatalf("%s names %d results files: %v", glob, len(paths), err)
	}
	var runs []*Results
	for _, path := range paths {
		r, err := ReadFiles(path)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	all, undisturbed := newCoverage(runs, false), newCoverage(runs, true)
	for _, class := range all.classes {
		t.Logf("%-16s %s; undisturbed: %s", class, all.of[class], undisturbed.of[class])
	}
	t.Logf("%-16s %s; undisturbed: %s", "all", all.of[""], undisturbed.of[""])
}

// A coverage counts comparisons of a run with the next one, by class; "" is
// all of them.
type coverage struct {
	classes []string
	of      map[string]*tally
}

// A tally is what became of intervals.
type tally struct {
	inside, all int
	reaches     []float64 // half their widths, as logarithms
}

func (c *tally) String() string {
	if c == nil {
		return "none"
	}
	return strings.TrimSpace(formatPercent(100*float64(c.inside)/float64(c.all))) + " of " + formatSI("")(float64(c.all)) +
		" inside ±" + formatPercent(100*fraction(Median(c.reaches)))
}

// newCoverage follows the cases of runs, or those of them that no other process
// disturbed in either of two runs.
func newCoverage(runs []*Results, undisturbed bool) *coverage {
	c := &coverage{of: make(map[string]*tally)}
	for i, r := range runs[:len(runs)-1] {
		next := make(map[string]Estimate)
		for _, e := range runs[i+1].Estimates(NsPerOp) {
			next[e.Name.Full] = e
		}
		disturbed := append(disturbedNames(r), disturbedNames(runs[i+1])...)
		for _, e := range r.Estimates(NsPerOp) {
			n, ok := next[e.Name.Full]
			if !ok || !e.NextRun || undisturbed && slices.Contains(disturbed, e.Name.Full) {
				continue
			}
			for _, class := range []string{e.Class, ""} {
				if c.of[class] == nil {
					c.of[class] = &tally{}
					c.classes = append(c.classes, class)
				}
				c.of[class].add(e, n.Center)
			}
		}
	}
	c.classes = slices.DeleteFunc(c.classes, func(class string) bool { return class == "" })
	return c
}

func (c *tally) add(e Estimate, next float64) {
	c.all++
	if e.Lo <= next && next <= e.Hi {
		c.inside++
	}
	c.reaches = append(c.reaches, math.Log(e.Hi/e.Center))
}

func disturbedNames(r *Results) (names []string) {
	others := func(doubt string) bool { return strings.Contains(doubt, "other processes") }
	for _, s := range r.Samples {
		if slices.ContainsFunc(s.Doubts, others) {
			names = append(names, s.Name.Full)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
