package compare

import (
	"slices"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
	"onebit/reports/digest"
	"onebit/reports/words"
)

// comparable reports whether the values are positive, and have a ratio that is a number.
func comparable(p noise.Compared) bool {
	old, new := p.Old.Values, p.New.Values
	return slices.Min(old) > 0 && slices.Min(new) > 0 &&
		positive(slices.Min(new)/slices.Max(old)) && positive(slices.Max(new)/slices.Min(old))
}

// A pairing is the cases of two files in one unit.
type pairing struct {
	both             []noise.Compared // in the order of names
	onlyOld, onlyNew int
}

// pairUp joins the cases of two files by name. Which cases are doubled as A/A pairs differs from run
// to run, and parts of models are timed once: neither is compared.
func pairUp(old, new *results.Set, unit string) pairing {
	byName := make(map[string]noise.Estimate)
	for _, e := range noise.Estimates(old, unit) {
		if !names.IsPartOfModel(e.Name) {
			byName[e.Name.Full] = e
		}
	}
	var p pairing
	for _, e := range noise.Estimates(new, unit) {
		if names.IsPartOfModel(e.Name) {
			continue
		}
		if o, ok := byName[e.Name.Full]; ok {
			if e.Class == "" { // a file of before there were classes
				e.Class = conditionsOf(e.Name)
			}
			p.both = append(p.both, noise.Compared{Old: o, New: e})
			delete(byName, e.Name.Full)
		} else {
			p.onlyNew++
		}
	}
	p.onlyOld = len(byName)
	slices.SortStableFunc(p.both, func(a, b noise.Compared) int { return words.Compare(a.New.Name.Full, b.New.Name.Full) })
	return p
}

// conditionsOf says under what condition a case ran.
func conditionsOf(n results.Name) string {
	return digest.PanelOf(n).String()
}
