package bench

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
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
	filter, err := benchproc.NewFilter(expr)
	if err != nil {
		return Suite{}, fmt.Errorf("bench: filter %q: %w", expr, err)
	}
	matches := func(name string) bool {
		// A filter keeps measurements, so the name needs one to be kept by.
		res := &benchfmt.Result{Name: benchfmt.Name(name), Values: []benchfmt.Value{{Unit: "sec/op"}}}
		ok, _ := filter.Apply(res)
		return ok
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
