package reports

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench"
	"onebit/bench/names"
)

// bases lists the benchmarks, those with contenders first.
func (d *digest) bases() []string {
	var bases []string
	for _, t := range d.tasks {
		bases = append(bases, t.base)
	}
	for _, c := range d.cases {
		bases = append(bases, c.name.Base)
	}
	var unique []string
	for _, b := range bases {
		if !slices.Contains(unique, b) {
			unique = append(unique, b)
		}
	}
	return unique
}

// ofBase lists the cases of a benchmark: task by task, condition by condition, fastest first.
func (d *digest) ofBase(base string) []*caseStats {
	var cases []*caseStats
	for _, c := range d.cases {
		if c.name.Base == base {
			cases = append(cases, c)
		}
	}
	work := func(c *caseStats) string { return c.name.Without(names.Variant, names.Act) }
	slices.SortStableFunc(cases, func(a, b *caseStats) int {
		if c := naturalCompare(work(a), work(b)); c != 0 {
			return c
		}
		x, okX := a.center(bench.NsPerOp)
		y, okY := b.center(bench.NsPerOp)
		if !okX || !okY {
			return 0
		}
		return cmp.Compare(x, y)
	})
	return cases
}

// nameKeys lists the keys of the cases' names in the order of their first appearance; "" is for what
// has no key, or for the whole name where there are no keys at all.
func nameKeys(cases []*caseStats) []string {
	var keys []string
	for _, c := range cases {
		for _, k := range c.name.Keys {
			if !slices.Contains(keys, k.Key) {
				keys = append(keys, k.Key)
			}
		}
	}
	if len(keys) == 0 {
		return []string{""}
	}
	return keys
}

// nameValue is a name's value for a key; for no key, its parts without one or its base.
func nameValue(n bench.Name, key string) string {
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

// unitsIn lists the units that any of the cases has.
func (d *digest) unitsIn(cases []*caseStats) []string {
	var units []string
	for _, u := range d.units {
		if slices.ContainsFunc(cases, func(c *caseStats) bool { _, ok := c.stats[u]; return ok }) {
			units = append(units, u)
		}
	}
	return units
}
