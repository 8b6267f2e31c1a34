package profile

import (
	"slices"
	"time"

	"onebit/bench/names"
)

// Outside is the Block of operations outside the transformer blocks.
const Outside = -1

// A Key names an operation of a block.
type Key struct {
	Block int // or Outside
	Op    string
}

// Unattributed is the key of what a pass spends between its operations, the
// observing included.
var Unattributed = Key{Outside, names.Unattributed}

// Work is what an operation reads, moves and computes.
type Work struct {
	Bytes      int  // weights, or keys and values
	Moved      int  // activations, read and written
	MACs       int  // multiply-adds
	Float      bool // whether they are of float32, and not of int8
	Dispatches int  // how often the threads were given tasks
	Calls      int  // how often the operation ran
}

func (w *Work) add(o Work) {
	w.Bytes += o.Bytes
	w.Moved += o.Moved
	w.MACs += o.MACs
	w.Float = w.Float || o.Float
	w.Dispatches += o.Dispatches
	w.Calls += o.Calls
}

// A Span is an operation that ran once.
type Span struct {
	Key
	Work
	Start, End time.Duration // since the pass began
}

// A State is what a thread does from a mark on.
type State int

// The states of marks.
const (
	Idle State = iota // outside of dispatches
	Dispatching
	Quantizing
	Multiplying
	Running // any other tasks
	Waiting
)

// A Mark says what a thread does from a moment on.
type Mark struct {
	At       time.Duration // since the pass began
	Dispatch int
	State    State
	Product  int // while Multiplying: which tensor of the operation
}

// A Pass is one performance of a test under observation.
type Pass struct {
	Duration time.Duration
	Spans    []Span   // in the order of time, none in another
	Threads  [][]Mark // of each thread, in the order of time; the caller's first
}

// An Activity is what a thread does for a while.
type Activity int

// The activities; the package comment says what each is.
const (
	Quantize Activity = iota
	Multiply
	Other
	Dispatch
	Wait
	Serial
	Activities // how many there are
)

func (a Activity) String() string {
	return [...]string{"quantize", "multiply", "other", "dispatch", "wait", "serial"}[a]
}

var activityOf = map[State]Activity{
	Idle: Serial, Dispatching: Dispatch, Quantizing: Quantize, Multiplying: Multiply, Running: Other, Waiting: Wait,
}

// A Segment is a part of a thread's time in which it does one thing.
type Segment struct {
	Start, End time.Duration
	Activity   Activity
	Span       int // index in Pass.Spans; -1 between operations
	Product    int // while it multiplies
}

// A window is the time of a dispatch.
type window struct {
	dispatch   int
	start, end time.Duration
}

// windows are the dispatches, as the caller's marks tell.
func (p *Pass) windows() (all []window) {
	if len(p.Threads) == 0 {
		return nil
	}
	for _, m := range p.Threads[0] {
		switch {
		case m.State == Dispatching:
			all = append(all, window{m.Dispatch, m.At, p.Duration})
		case m.State == Idle && len(all) > 0:
			all[len(all)-1].end = m.At
		}
	}
	return all
}

// Timeline returns each thread's segments: from 0 to the end of the pass, each
// beginning where the one before ends, cut at the beginning and end of spans.
func (p *Pass) Timeline() [][]Segment {
	windows := p.windows()
	lines := make([][]Segment, len(p.Threads))
	for t, marks := range p.Threads {
		line := &line{pass: p}
		for _, w := range windows {
			line.until(w.start, Serial, 0)
			state, product := Dispatch, 0
			for len(marks) > 0 && marks[0].Dispatch <= w.dispatch {
				m := marks[0]
				marks = marks[1:]
				if m.Dispatch == w.dispatch && m.State != Idle {
					line.until(min(m.At, w.end), state, product)
					state, product = activityOf[m.State], m.Product
				}
			}
			line.until(w.end, state, product)
		}
		line.until(p.Duration, Serial, 0)
		lines[t] = line.segments
	}
	return lines
}

// A line is a thread's segments so far.
type line struct {
	pass     *Pass
	segments []Segment
	at       time.Duration
	span     int // the first that has not ended yet
}

// until adds what the thread did from where the line is to end.
func (l *line) until(end time.Duration, a Activity, product int) {
	end = min(end, l.pass.Duration)
	for l.at < end {
		span, to := -1, end
		for l.span < len(l.pass.Spans) && l.pass.Spans[l.span].End <= l.at {
			l.span++
		}
		if l.span < len(l.pass.Spans) {
			switch s := l.pass.Spans[l.span]; {
			case s.Start > l.at:
				to = min(end, s.Start)
			default:
				span, to = l.span, min(end, s.End)
			}
		}
		l.segments = append(l.segments, Segment{l.at, to, a, span, product})
		l.at = to
	}
}

// A Cost is what an operation of a block took in a pass.
type Cost struct {
	Key
	Work
	Time time.Duration

	// Threads is what each thread did during it, and Products how long each
	// multiplied which tensor.
	Threads  [][Activities]time.Duration
	Products [][]time.Duration
}

// Costs adds up the operations of a pass, Unattributed the last of them, in the
// order in which they first ran. Their times add up to the pass.
func (p *Pass) Costs() []Cost {
	index := map[Key]int{}
	var costs []Cost
	of := func(k Key) *Cost {
		i, ok := index[k]
		if !ok {
			i = len(costs)
			index[k] = i
			costs = append(costs, Cost{Key: k, Threads: make([][Activities]time.Duration, len(p.Threads)), Products: make([][]time.Duration, len(p.Threads))})
		}
		return &costs[i]
	}
	left := p.Duration
	for _, s := range p.Spans {
		c := of(s.Key)
		c.Work.add(s.Work)
		c.Time += s.End - s.Start
		left -= s.End - s.Start
	}
	of(Unattributed).Time += max(left, 0)
	for t, segments := range p.Timeline() {
		for _, s := range segments {
			key := Unattributed
			if s.Span >= 0 {
				key = p.Spans[s.Span].Key
			}
			of(key).spend(t, s)
		}
	}
	p.countDispatches(of)
	return costs
}

func (c *Cost) spend(thread int, s Segment) {
	d := s.End - s.Start
	c.Threads[thread][s.Activity] += d
	if s.Activity == Multiply {
		for len(c.Products[thread]) <= s.Product {
			c.Products[thread] = append(c.Products[thread], 0)
		}
		c.Products[thread][s.Product] += d
	}
}

// countDispatches gives each dispatch to the operation in which it began.
func (p *Pass) countDispatches(of func(Key) *Cost) {
	for _, w := range p.windows() {
		i, _ := slices.BinarySearchFunc(p.Spans, w.start, func(s Span, at time.Duration) int {
			if s.End <= at {
				return -1
			}
			return 1
		})
		if i < len(p.Spans) && p.Spans[i].Start <= w.start {
			of(p.Spans[i].Key).Dispatches++
		}
	}
}
