package bench

import (
	"fmt"
	"slices"

	"onebit/bench/results"
)

// Filter returns the suite with the cases and studies that match an expression
// in benchproc's filter syntax (go doc golang.org/x/perf/benchproc/syntax),
// such as
//
//	/format:q1_0_g128 /variant:(avx2 OR scalar) .name:MatVec
//
// together with the ceilings of the cases, without which they would lose %roof
// and %peak. The empty expression matches all. That nothing matches is an
// error.
func (s Suite) Filter(expr string) (Suite, error) {
	if expr == "" {
		return s, nil
	}
	matches, err := results.Matcher(expr)
	if err != nil {
		return Suite{}, fmt.Errorf("bench: filter %q: %w", expr, err)
	}
	keep := make(map[string]bool)
	for _, c := range s.Cases {
		if matches(c.Name) {
			keep[c.Name], keep[c.Roof], keep[c.Peak] = true, true, true
		}
	}
	kept := s
	kept.Cases = slices.DeleteFunc(slices.Clone(s.Cases), func(c Case) bool { return !keep[c.Name] })
	kept.Studies = slices.DeleteFunc(slices.Clone(s.Studies), func(st Study) bool { return !matches(st.Name) })
	if len(kept.Cases)+len(kept.Studies) == 0 {
		return Suite{}, fmt.Errorf("bench: filter %q matches none of the %d cases", expr, len(s.Cases)+len(s.Studies))
	}
	return kept, nil
}
