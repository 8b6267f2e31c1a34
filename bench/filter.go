package bench

import (
	"fmt"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// Filter returns the cases that match an expression in benchproc's filter
// syntax (go doc golang.org/x/perf/benchproc/syntax), such as
//
//	/format:q1_0_g128 /variant:(avx2 OR scalar) .name:MatVec
//
// together with their roofs, without which they would lose %roof. The empty
// expression matches all. That nothing matches is an error.
func Filter(cases []Case, expr string) ([]Case, error) {
	if expr == "" {
		return cases, nil
	}
	filter, err := benchproc.NewFilter(expr)
	if err != nil {
		return nil, fmt.Errorf("bench: filter %q: %w", expr, err)
	}
	keep := make(map[string]bool)
	for _, c := range cases {
		// A filter keeps measurements, so the case needs one to be kept by.
		res := &benchfmt.Result{Name: benchfmt.Name(c.Name), Values: []benchfmt.Value{{Unit: "sec/op"}}}
		if ok, _ := filter.Apply(res); ok {
			keep[c.Name] = true
			keep[c.Roof] = true
		}
	}
	var kept []Case
	for _, c := range cases {
		if keep[c.Name] {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("bench: filter %q matches none of the %d cases", expr, len(cases))
	}
	return kept, nil
}
