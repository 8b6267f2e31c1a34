package profile

import "time"

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
