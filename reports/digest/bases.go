package digest

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/reports/words"
)

// Bases lists the benchmarks, those with variants first.
func (d *Digest) Bases() []string {
	var bases words.UniqueList
	for _, t := range d.Tasks {
		bases.Add(t.Base)
	}
	for _, c := range d.Cases {
		bases.Add(c.Name.Base)
	}
	return bases.List
}

// OfBase lists the cases of a benchmark: task by task, condition by condition, fastest first.
func (d *Digest) OfBase(base string) []*Case {
	cases := slices.Clone(d.ByBase[base])
	work := func(c *Case) string { return c.Name.Without(names.Variant, names.Act) }
	slices.SortStableFunc(cases, func(a, b *Case) int {
		if c := words.Compare(work(a), work(b)); c != 0 {
			return c
		}
		x, okX := a.Center(results.NsPerOp)
		y, okY := b.Center(results.NsPerOp)
		if !okX || !okY {
			return 0
		}
		return cmp.Compare(x, y)
	})
	return cases
}

// nameKeys lists the keys of the cases' names in the order of their first appearance; "" is for what
// has no key, or for the whole name where there are no keys at all.
func nameKeys(cases []*Case) []string {
	var keys words.UniqueList
	for _, c := range cases {
		for _, k := range c.Name.Keys {
			keys.Add(k.Key)
		}
	}
	if len(keys.List) == 0 {
		return []string{""}
	}
	return keys.List
}

// nameValue is a name's value for a key; for no key, its parts without one or its base.
func nameValue(n results.Name, key string) string {
	if key != "" {
		return n.Get(key)
	}
	var parts []string
	for _, k := range n.Keys {
		if k.Key == "" {
			parts = append(parts, k.Value)
		}
	}
	if len(n.Keys) == 0 {
		return n.Base
	}
	return strings.Join(parts, "/")
}

// UnitsIn lists the units that any of the cases has.
func (d *Digest) UnitsIn(cases []*Case) []string {
	has := make(map[string]bool)
	for _, c := range cases {
		for u := range c.Stats {
			has[u] = true
		}
	}
	return inOrder(has)
}
