package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Listing is the benchmarks of a side, with why those that skip themselves do
// so; "" for the others.
type Listing map[Benchmark]string

// A Difference is a benchmark that one side lacks, or that is skipped.
type Difference struct {
	Benchmark
	Missing Side
	Both    bool   // it is skipped on both sides, so there is nothing to compare
	Why     string // it is skipped; "": it is not there
}

func (d Difference) String() string {
	switch {
	case d.Both:
		return fmt.Sprintf("both sides skip Benchmark%s in %s: %s", d.Name, d.Package, d.Why)
	case d.Why != "":
		return fmt.Sprintf("%s skips Benchmark%s in %s: %s", d.Missing, d.Name, d.Package, d.Why)
	}
	return fmt.Sprintf("%s has no Benchmark%s in %s", d.Missing, d.Name, d.Package)
}

// Match returns the benchmarks that both sides have, in order, and the others.
func Match(base, head Listing) (both []Benchmark, differ []Difference) {
	all := maps.Clone(base)
	maps.Copy(all, head)
	for _, b := range slices.SortedFunc(maps.Keys(all), compareBenchmarks) {
		old, inBase := base[b]
		now, inHead := head[b]
		switch {
		case inBase && inHead && old == "" && now == "":
			both = append(both, b)
		case inBase && old != "" && now != "":
			differ = append(differ, Difference{b, Base, true, old})
		case !inBase || old != "":
			differ = append(differ, Difference{b, Base, false, old})
		default:
			differ = append(differ, Difference{b, Head, false, now})
		}
	}
	return both, differ
}

func compareBenchmarks(a, b Benchmark) int {
	return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
}
