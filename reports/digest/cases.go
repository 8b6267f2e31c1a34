package digest

import (
	"slices"
	"strings"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
)

// Case is one case: a benchmark name with all of its samples.
type Case struct {
	Name    results.Name
	Variant string // what competes: the variant, with its activation scheme if need be, and its packing
	Panel   Panel
	Stats   map[string]stat
	samples int
	Signs   string // of less trust; see sign
}

// A stat is one case's values in one unit.
type stat struct {
	noise.Estimate
	Values []float64 // as measured, in the order of the rounds
}

// Center returns the case's median in a unit.
func (c *Case) Center(unit string) (float64, bool) {
	s, ok := c.Stats[unit]
	return s.Center, ok
}

// ByScheme is the variant with its activation scheme, which its name may lack: several variants of a name differ in
// nothing else.
func (c *Case) ByScheme() string {
	act := c.Name.Get(names.Act)
	if act == "" || strings.Contains(" "+c.Variant+" ", " "+act+" ") {
		return c.Variant
	}
	return c.Variant + " under " + act
}

// partOfModel reports whether a case tells of a part of a model, and so has no row of its own.
func (c *Case) partOfModel() bool {
	return names.IsPartOfModel(c.Name)
}

// condensed takes the interval of a case's time from its line, where one line stands for all samples; see Share.
func (c *Case) condensed() {
	low, high := results.Bounds(results.NsPerOp)
	lo, lower := c.Center(low)
	hi, upper := c.Center(high)
	if time, timed := c.Stats[results.NsPerOp]; timed && lower && upper && lo <= time.Center && time.Center <= hi {
		time.Lo, time.Hi, time.NextRun = lo, hi, true
		c.Stats[results.NsPerOp] = time
	}
}

// LogitsOf is the error of the predictions of a case's model and variant; nil if it was not measured.
func (d *Digest) LogitsOf(c *Case) *Case {
	return SameVariant(slices.DeleteFunc(slices.Clone(d.ByBase[names.BaseLogits]), func(l *Case) bool {
		return l.Name.Get(names.Model) != c.Name.Get(names.Model)
	}), c)
}

// SameVariant finds the case of c's variant and, if the names have one, activation scheme.
func SameVariant(cases []*Case, c *Case) *Case {
	for _, other := range cases {
		act := other.Name.Get(names.Act)
		if other.Name.Get(names.Variant) == c.Name.Get(names.Variant) && (act == "" || act == c.Name.Get(names.Act)) {
			return other
		}
	}
	return nil
}
