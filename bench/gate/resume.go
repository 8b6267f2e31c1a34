package gate

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// resumedShare is the part of a gate's chance of a false claim that a gate which
// adds rounds to it has, so that the sum over any number of these is no more than
// half as much again.
const resumedShare = 1.0 / 3

// A resumption is the gate that another one adds rounds to.
type resumption struct {
	resumed  int           // how often rounds were added
	rounds   int           // before
	spent    time.Duration // on them and all before them
	measured time.Duration // the part of it after setting up
}

// resume goes on where a finished gate ended: what it proved stays, and the rest
// is judged by its rounds together with those that are added.
func (g *gate) resume(before *Results) error {
	if before == nil {
		return nil
	}
	r := before.Report
	switch {
	case r.Unfinished != "":
		return errors.New("the gate that rounds are to be added to did not come to its end: " + r.Unfinished)
	case len(r.Alarms) > 0:
		return errors.New("base differed from itself in the gate that rounds are to be added to: begin anew")
	}
	g.resumption = resumption{r.Resumed + 1, r.Rounds, r.Elapsed, r.Elapsed - r.Setup}
	g.round, g.Alarm, g.looked = r.Rounds, r.Options.Alarm, slices.Clone(r.looks)
	g.Start, g.Budget = g.Start.Add(-r.Elapsed), g.Budget+r.Elapsed
	for _, c := range before.recordings() {
		known := g.cases[c.Benchmark]
		if known == nil {
			return fmt.Errorf("the gate that rounds are to be added to measured Benchmark%s of %s, which is not compared now", c.Name, c.Package)
		}
		known.units, known.order = c.units, c.order
	}
	g.reopen(r.Findings)
	for _, c := range g.order {
		if len(c.units) == 0 {
			return fmt.Errorf("the gate that rounds are to be added to did not measure Benchmark%s of %s", c.Name, c.Package)
		}
	}
	if len(g.undecided()) == 0 {
		return errors.New("nothing is undecided in the gate that rounds are to be added to")
	}
	return nil
}

// reopen lets more rounds decide what findings leave open.
func (g *gate) reopen(findings []Finding) {
	g.Alarm *= resumedShare
	g.looks, g.KeepGoing = 0, true
	for _, c := range g.order {
		c.decided = true
	}
	for _, f := range findings {
		c := g.cases[f.Benchmark]
		switch {
		case len(f.Control) == 0: // instructions, which are counted anew
		case f.open() && !f.leaves():
			c.decided, c.units[f.Unit].proved = false, nil
		case f.Judged() && !f.Exact:
			c.units[f.Unit].proved = &f
		}
	}
}

// FalseAlarms is the promised chance of any false claim among all verdicts, also
// those of the gates that rounds were added to.
func (r *Report) FalseAlarms() float64 {
	sum, share := 0.0, r.Options.Alarm
	for range r.Resumed + 1 {
		sum += share
		share /= resumedShare
	}
	return sum
}
