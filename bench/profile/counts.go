package profile

import (
	"slices"

	"onebit/bench/noise"
	"onebit/bench/results"
)

// Counts are what was counted of a test's operations, in passes of their own:
// counters are read between operations, which takes longer than some of them.
type Counts struct {
	Passes []map[Key]Count
	Keys   []Key // in the order of the operations
}

// A Count is what an operation counted in a pass, by unit of a meter, for the whole
// pass.
type Count map[string]float64

// Include adds what one call of an operation counted. nothing is what was counted
// where nothing happened: reading counters is work too.
func (c Count) Include(values, nothing []results.Metric) {
	for _, v := range values {
		if v.Unit == results.PctCounted { // the least
			if least, ok := c[v.Unit]; !ok || v.Value < least {
				c[v.Unit] = v.Value
			}
			continue
		}
		for _, n := range nothing {
			if n.Unit == v.Unit {
				v.Value = max(0, v.Value-n.Value)
			}
		}
		c[v.Unit] += v.Value
	}
}

// Add adds a pass.
func (c *Counts) Add(pass map[Key]Count, order []Key) {
	c.Passes = append(c.Passes, pass)
	if len(c.Keys) == 0 {
		c.Keys = order
	}
}

// An OperationCount is what an operation counted in the chosen blocks, per unit of
// the test.
type OperationCount struct {
	Op     string
	Values map[string]noise.Figure // by unit of a meter
}

// PerCycle is the instructions for each cycle; false where either is not counted.
func (o OperationCount) PerCycle() (float64, bool) {
	cycles, instructions := o.Values[results.Cycles].Center, o.Values[results.Instructions].Center
	return instructions / cycles, cycles > 0 && instructions > 0
}

// Counted adds up what was counted over the chosen operations and blocks.
func (t *Test) Counted(f Filter) (all []OperationCount) {
	index := map[string]int{}
	var values []map[string][]float64 // by operation, unit and pass
	for _, key := range t.Counts.Keys {
		if !f.Match(key) {
			continue
		}
		i, ok := index[key.Op]
		if !ok {
			i = len(all)
			index[key.Op] = i
			all = append(all, OperationCount{Op: key.Op, Values: map[string]noise.Figure{}})
			values = append(values, map[string][]float64{})
		}
		for pass, counts := range t.Counts.Passes {
			for unit, v := range counts[key] {
				if values[i][unit] == nil {
					values[i][unit] = make([]float64, len(t.Counts.Passes))
				}
				if unit == results.PctCounted {
					if old := values[i][unit][pass]; old == 0 || v < old {
						values[i][unit][pass] = v
					}
					continue
				}
				values[i][unit][pass] += v / float64(t.Units())
			}
		}
	}
	for i := range all {
		for unit, v := range values[i] {
			all[i].Values[unit] = noise.FigureOf(v)
		}
	}
	return all
}

// CountedUnits are the units of what was counted, in the order of results.Units; those
// that were 0 for every operation apart.
func CountedUnits(all []OperationCount) (units, zero []string) {
	for _, u := range results.Units {
		has := func(o OperationCount) bool { _, ok := o.Values[u.Name]; return ok }
		switch {
		case slices.ContainsFunc(all, func(o OperationCount) bool { return o.Values[u.Name].Center != 0 }):
			units = append(units, u.Name)
		case slices.ContainsFunc(all, has):
			zero = append(zero, u.Name)
		}
	}
	return units, zero
}
