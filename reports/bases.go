package reports

import (
	"cmp"
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/results"
)

// bases lists the benchmarks, those with variants first.
func (d *digest) bases() []string {
	var bases uniqueList
	for _, t := range d.tasks {
		bases.add(t.base)
	}
	for _, c := range d.cases {
		bases.add(c.name.Base)
	}
	return bases.list
}

// A uniqueList has each text once, in the order of first appearance.
type uniqueList struct {
	list []string
	has  map[string]bool
}

func (u *uniqueList) add(text string) {
	if u.has == nil {
		u.has = make(map[string]bool)
	}
	if !u.has[text] {
		u.has[text] = true
		u.list = append(u.list, text)
	}
}

// ofBase lists the cases of a benchmark: task by task, condition by condition, fastest first.
func (d *digest) ofBase(base string) []*caseStats {
	cases := slices.Clone(d.byBase[base])
	work := func(c *caseStats) string { return c.name.Without(names.Variant, names.Act) }
	slices.SortStableFunc(cases, func(a, b *caseStats) int {
		if c := naturalCompare(work(a), work(b)); c != 0 {
			return c
		}
		x, okX := a.center(results.NsPerOp)
		y, okY := b.center(results.NsPerOp)
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
	var keys uniqueList
	for _, c := range cases {
		for _, k := range c.name.Keys {
			keys.add(k.Key)
		}
	}
	if len(keys.list) == 0 {
		return []string{""}
	}
	return keys.list
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

// unitsIn lists the units that any of the cases has.
func (d *digest) unitsIn(cases []*caseStats) []string {
	has := make(map[string]bool)
	for _, c := range cases {
		for u := range c.stats {
			has[u] = true
		}
	}
	return inOrder(has)
}
