package gate

import (
	"fmt"
	"math"
	"slices"

	"onebit/bench/noise"
	"onebit/bench/results"
)

func (c *comparison) report() *Report {
	r := &Report{Rounds: c.round, Needed: leastProcesses, Elapsed: c.Now().Sub(c.Start), Options: c.Options, baseline: true, classes: c.classes}
	judged := map[*series]Finding{}
	units := c.measured()
	for _, unit := range units {
		c.judge(unit, c.Alarm/float64(len(units)), judged)
	}
	for _, x := range c.order {
		for _, unit := range x.order {
			s := x.units[unit]
			if len(s.sides[Head]) == 0 || len(s.sides[Base]) == 0 {
				continue
			}
			f, ok := judged[s]
			if !ok {
				f = c.unmeasured(x, unit)
			}
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

// unmeasured is the verdict where chance has no part, or where too little is
// known.
func (c *comparison) unmeasured(x *caseState, unit string) Finding {
	f, s := c.finding(x, unit), x.units[unit]
	switch {
	case !f.Judged():
		f.Pass = true
	case s.same():
		f = f.exactly(c.rule(x, unit), c.Better(unit))
	case noise.Median(f.Base) == 0 && noise.Median(f.Head) == 0:
		f.Verdict, f.Pass = Same, true // a byte in one process of many
	default:
		f.Change = Interval{0, math.Inf(-1), math.Inf(1)} // nothing is known of its noise
		if base, head := noise.Median(f.Base), noise.Median(f.Head); base > 0 && head > 0 {
			f.Change.Center = -float64(c.Better(unit)) * math.Log(head/base)
		}
	}
	return f
}

// finding has everything but the verdict.
func (c *comparison) finding(x *caseState, unit string) Finding {
	s := x.units[unit]
	return Finding{
		Benchmark: x.Benchmark, Unit: unit, Better: c.Better(unit),
		Threshold: math.Expm1(c.rule(x, unit).threshold), Base: s.sides[Base], Head: s.sides[Head],
	}
}

func (c *comparison) rule(x *caseState, unit string) rule {
	return rule{threshold: math.Log1p(c.matters(x.Benchmark, unit, x.units[unit].same())), alarm: c.Alarm}
}

// same reports whether no process changes the value, on either side.
func (s *series) same() bool {
	for _, values := range [][]float64{s.sides[Base], s.sides[Head]} {
		if slices.Min(values) != slices.Max(values) {
			return false
		}
	}
	return true
}

// comparable reports whether a unit of a benchmark has a direction, differs
// between processes and has values with logarithms on both sides.
func (c *comparison) comparable(x *caseState, unit string) bool {
	s := x.units[unit]
	if s == nil || c.Better(unit) == 0 || len(s.sides[Base]) == 0 || len(s.sides[Head]) < leastProcesses || s.same() {
		return false
	}
	return slices.Min(s.sides[Base]) > 0 && slices.Min(s.sides[Head]) > 0
}

// measured are the units of which chance can decide.
func (c *comparison) measured() (units []string) {
	for _, x := range c.order {
		for _, unit := range x.order {
			if c.comparable(x, unit) && !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
	}
	return units
}

// judge compares all benchmarks in a unit, as noise.CompareRuns does.
func (c *comparison) judge(unit string, alarm float64, to map[*series]Finding) {
	var cases []*caseState
	for _, x := range c.order {
		if c.comparable(x, unit) {
			cases = append(cases, x)
		}
	}
	old, now := c.estimates(cases, unit, Base), c.estimates(cases, unit, Head)
	compared := make([]noise.Compared, len(cases))
	for i := range cases {
		compared[i] = noise.Compared{Old: old[i], New: now[i]}
	}
	for i, change := range noise.CompareRuns(compared, nil).Cases {
		to[cases[i].units[unit]] = c.verdict(cases[i], unit, change, alarm/float64(len(cases)))
	}
}

// estimates are those of a side's values, of which more is worse.
func (c *comparison) estimates(cases []*caseState, unit string, side Side) []noise.Estimate {
	res := &results.Set{Settings: []results.Setting{{Key: results.ClassesKey, Value: c.classes}}}
	for i, x := range cases {
		for process, v := range x.units[unit].sides[side] {
			if c.Better(unit) > 0 {
				v = 1 / v
			}
			name := results.ParseName(fmt.Sprintf("Case%d/%s", i, x.Name)) // packages may share names
			res.Samples = append(res.Samples, results.Sample{
				Name: name, Iters: 1, Process: process + 1, Values: []results.Metric{{Unit: results.NsPerOp, Value: v}},
			})
		}
	}
	return noise.Estimates(res, results.NsPerOp)
}

// verdict is SLOWER only where chance and the time between both measurements
// do not explain the change, and it is more than the threshold.
func (c *comparison) verdict(x *caseState, unit string, change noise.Change, alarm float64) Finding {
	f := c.finding(x, unit)
	center, threshold := math.Log(change.Ratio), c.rule(x, unit).threshold
	f.Change = Interval{center, center - change.Reach, center + change.Reach}
	f.Floor = math.Log1p(change.Shows)
	proved := change.P < alarm && math.Abs(center) > threshold
	switch {
	case proved && change.Sign > 0:
		f.Verdict = Slower
	case proved && change.Sign < 0:
		f.Verdict = Faster
	case -threshold <= f.Change.Lo && f.Change.Hi <= threshold:
		f.Verdict = Same
	}
	f.Pass = f.Verdict != Slower && f.Change.Hi <= threshold || f.Verdict == Faster
	return f
}
