package profile

import (
	"fmt"
	"time"

	"onebit/bench/names"
	"onebit/bench/noise"
	"onebit/bench/results"
)

// Ceilings are what the machine does at most with so many threads.
type Ceilings struct {
	Threads  int
	Levels   []Level       // the fastest first; the last holds anything
	Int8     float64       // multiply-adds per second; 0: not known
	Float32  float64       // multiply-adds per second; 0: not known
	Dispatch time.Duration // an empty one
	Source   string        // where they are from, for people
}

// A Level is a cache, of one thread or of all, or memory.
type Level struct {
	Name  string  // one of names.Levels
	Bytes int     // what it holds of what all threads read together; 0: anything
	Rate  float64 // bytes per second that all threads read together
}

// level is the first that holds so many bytes; false if none is known.
func (c *Ceilings) level(bytes int) (Level, bool) {
	for _, l := range c.Levels {
		if (l.Bytes == 0 || bytes <= l.Bytes) && l.Rate > 0 {
			return l, true
		}
	}
	return Level{}, false
}

// CeilingsOf takes the ceilings from what onebit machine found with so many
// threads. A level's cases read half of what it holds.
func CeilingsOf(r *results.Set, threads int, source string) (Ceilings, error) {
	c := Ceilings{Threads: threads, Source: source}
	for _, level := range names.Levels {
		best := Level{Name: level}
		for _, e := range noise.Estimates(r, results.ReadRate) {
			if n := e.Name; n.Base == names.BaseBandwidth && n.Get(names.Access) == names.ReadAccess && n.Get(names.Level) == level && names.ThreadsOf(n) == threads && e.Center > best.Rate {
				best.Rate = e.Center
				if level != names.DRAM {
					best.Bytes = 2 * names.BytesOf(n)
				}
			}
		}
		if best.Rate > 0 {
			c.Levels = append(c.Levels, best)
		}
	}
	for _, e := range noise.Estimates(r, results.OpRate) {
		if n := e.Name; n.Base == names.BaseDotPeak && names.ThreadsOf(n) == threads {
			switch n.Get(names.Type) {
			case names.Int8, "":
				c.Int8 = max(c.Int8, e.Center)
			case "f32":
				c.Float32 = max(c.Float32, e.Center)
			}
		}
	}
	for _, e := range noise.Estimates(r, results.NsPerOp) {
		if n := e.Name; n.Base == names.BaseDispatch && names.ThreadsOf(n) == threads {
			c.Dispatch = time.Duration(e.Center)
		}
	}
	if len(c.Levels) == 0 || c.Levels[len(c.Levels)-1].Name != names.DRAM || c.Int8 == 0 {
		return c, fmt.Errorf("%s lacks the ceilings of %d threads: onebit machine --threads %d measures them", source, threads, threads)
	}
	return c, nil
}

// A Bound is the ceiling that an operation meets first.
type Bound struct {
	Name    string  // of a level, int8, float32 or dispatch; "": nothing is known to bound it
	Seconds float64 // at that ceiling
}

// Names of bounds that are no level of memory.
const (
	BoundInt8     = "int8"
	BoundFloat32  = "float32"
	BoundDispatch = "dispatch"
)

// Bound returns what bounds work that finds its weights, keys and values where
// footprint bytes lie, which are all that is read between two calls.
func (c *Ceilings) Bound(w Work, footprint int) Bound {
	var b Bound
	meet := func(name string, amount int, perSecond float64) {
		if s := float64(amount) / perSecond; perSecond > 0 && s > b.Seconds {
			b = Bound{name, s}
		}
	}
	if l, ok := c.level(footprint); ok {
		meet(l.Name, w.Bytes, l.Rate)
	}
	if l, ok := c.level(w.Moved / max(w.Calls, 1)); ok {
		meet(l.Name, w.Moved, l.Rate)
	}
	if w.Float {
		meet(BoundFloat32, w.MACs, c.Float32)
	} else {
		meet(BoundInt8, w.MACs, c.Int8)
	}
	meet(BoundDispatch, w.Dispatches, 1/c.Dispatch.Seconds())
	return b
}
