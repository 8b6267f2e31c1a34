package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"onebit/bench/names"
	"onebit/bench/noise"
)

// A Test is what was found of one test.
type Test struct {
	names.ModelTest
	Threads int

	// Plain and Observed are how long passes took without observation and
	// with it: pairs that were measured right after each other.
	Plain, Observed []time.Duration

	Passes  [][]Cost         // of each observed pass
	Shown   *Pass            // the fastest of them
	Counts  Counts           // of further passes, where events were counted
	Tensors map[Key][]string // what an operation multiplies, by Mark.Product
}

// Add adds a pair: a pass, and how long one without observation took.
func (t *Test) Add(observed *Pass, plain time.Duration) {
	t.Plain, t.Observed = append(t.Plain, plain), append(t.Observed, observed.Duration)
	t.Passes = append(t.Passes, observed.Costs())
	if t.Shown == nil || observed.Duration < t.Shown.Duration {
		t.Shown = observed
	}
}

// Units is what times are divided by: the tokens of a decode test, else 1.
func (t *Test) Units() int {
	if t.Kind == names.Decode {
		return max(t.Tokens, 1)
	}
	return 1
}

// Unit is what times are of.
func (t *Test) Unit() string {
	if t.Kind == names.Decode {
		return "token"
	}
	return "prompt"
}

// Time is the time of a token, or of a prompt, without observation, in seconds.
func (t *Test) Time() noise.Figure { return noise.FigureOf(seconds(t.Plain, t.Units())) }

func seconds(times []time.Duration, units int) []float64 {
	out := make([]float64, len(times))
	for i, d := range times {
		out[i] = d.Seconds() / float64(units)
	}
	return out
}

// Rate is the tokens per second, without observation.
func (t *Test) Rate() noise.Figure {
	per := float64(t.Tokens) / float64(t.Units())
	return t.Time().Map(func(s float64) float64 { return per / s })
}

// Overhead is by how much observing makes a pass longer, as a share of it.
func (t *Test) Overhead() noise.Figure { return noise.ChangeOf(t.Observed, t.Plain) }

// mostOverhead is as much as observing should cost.
const mostOverhead = 0.02

// Doubt says that observing costs much; "" if that is not shown: where the
// interval begins below, it may be noise.
func (t *Test) Doubt() string {
	if o := t.Overhead(); o.Bounded() && o.Lo > mostOverhead {
		return fmt.Sprintf("observing makes %s %.0f%% longer, because its operations are short: their times are too long by as much", t, 100*o.Center)
	}
	return ""
}

// Beaten says that the ceilings are too low; "" if no operation of weight beats
// its bound by much.
func (t *Test) Beaten(c *Ceilings) string {
	const much, weight = 1.2, 0.05
	for _, o := range t.Operations(c, Filter{}) {
		if o.OfBound() > much && o.Share > weight && o.Bound.Name != BoundInt8 { // look-ups beat int8
			return fmt.Sprintf("%s of %s is at %.0f%% of its bound, %s: something disturbed the ceilings; repeat the run, or take them from onebit machine (--machine)",
				o.Op, t, 100*o.OfBound(), o.Bound.Name)
		}
	}
	return ""
}

// Footprint is the bytes that are read between two calls of an operation: those
// of one token or batch.
func (t *Test) Footprint() int {
	total, calls := 0, 1
	for _, c := range t.first() {
		total += c.Bytes
		calls = max(calls, c.Calls)
	}
	return total / calls
}

// first is the costs of a pass: their work is that of every pass.
func (t *Test) first() []Cost {
	if len(t.Passes) == 0 {
		return nil
	}
	return t.Passes[0]
}

// A Filter chooses operations and blocks; the zero value takes all.
type Filter struct {
	Ops    []string
	Blocks []int // Outside among them
}

// Match reports whether an operation of a block is chosen.
func (f Filter) Match(k Key) bool {
	return (len(f.Ops) == 0 || slices.Contains(f.Ops, k.Op)) && (len(f.Blocks) == 0 || slices.Contains(f.Blocks, k.Block))
}

// An Operation is an operation in all blocks that were chosen.
type Operation struct {
	Op     string
	Blocks int
	Time   noise.Figure // seconds per unit of the test
	Share  float64      // of all operations, chosen or not
	Work                // of all passes' units together: see PerUnit
	Bound               // of a unit
	Won    float64      // seconds per unit; what it takes beyond its bound
	// Activities are the seconds per unit that each thread spent, by Activity.
	Activities [][Activities]float64
	units      int
}

// PerUnit is an amount of Work per unit of the test.
func (o Operation) PerUnit(amount int) float64 { return float64(amount) / float64(o.units) }

// PerSecond is an amount of Work per second.
func (o Operation) PerSecond(amount int) float64 {
	if !(o.Time.Center > 0) {
		return 0
	}
	return o.PerUnit(amount) / o.Time.Center
}

// OfBound is the share of its bound that an operation reached; 0 if nothing is
// known to bound it.
func (o Operation) OfBound() float64 {
	if !(o.Time.Center > 0) {
		return 0
	}
	return o.Bound.Seconds / o.Time.Center
}

// Operations returns the chosen operations, each added up over the chosen
// blocks, the one that most could be won from first.
func (t *Test) Operations(c *Ceilings, f Filter) []Operation {
	index := map[string]int{}
	var ops []Operation
	for pass, costs := range t.Passes {
		for _, cost := range costs {
			if !f.Match(cost.Key) {
				continue
			}
			i, ok := index[cost.Op]
			if !ok {
				i = len(ops)
				index[cost.Op] = i
				ops = append(ops, Operation{Op: cost.Op, units: t.Units(), Activities: make([][Activities]float64, t.Threads)})
			}
			t.include(&ops[i], cost, pass, c)
		}
	}
	times, all := t.times(f), t.total()
	for i := range ops {
		o := &ops[i]
		o.Time = noise.FigureOf(times[o.Op])
		o.Share = o.Time.Center / all
		if o.Bound.Name != "" {
			o.Won = max(0, o.Time.Center-o.Bound.Seconds)
		}
	}
	slices.SortStableFunc(ops, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(b.Won, a.Won), cmp.Compare(b.Time.Center, a.Time.Center))
	})
	return ops
}

// total is what shares are of: the sum of all operations' times, so that shares
// add up to one. Medians of parts don't add up to the median of the whole.
func (t *Test) total() (sum float64) {
	times := t.times(Filter{})
	for _, op := range slices.Sorted(maps.Keys(times)) {
		sum += noise.FigureOf(times[op]).Center
	}
	return sum
}

// times are the seconds per unit of the chosen operations, by pass.
func (t *Test) times(f Filter) map[string][]float64 {
	times := map[string][]float64{}
	for pass, costs := range t.Passes {
		for _, c := range costs {
			if !f.Match(c.Key) {
				continue
			}
			if times[c.Op] == nil {
				times[c.Op] = make([]float64, len(t.Passes))
			}
			times[c.Op][pass] += c.Time.Seconds() / float64(t.Units())
		}
	}
	return times
}

// include adds a block's part. The work of all passes is the same, and counted
// of the first.
func (t *Test) include(o *Operation, c Cost, pass int, ceilings *Ceilings) {
	scale := 1 / float64(len(t.Passes)*t.Units())
	for thread, activities := range c.Threads {
		for a, d := range activities {
			o.Activities[thread][a] += d.Seconds() * scale
		}
	}
	if pass > 0 {
		return
	}
	o.Blocks++
	o.Work.add(c.Work)
	b := ceilings.Bound(c.Work, t.Footprint())
	b.Seconds /= float64(t.Units())
	if b.Seconds*float64(o.Blocks) > o.Bound.Seconds { // dearer than blocks before
		o.Bound.Name = b.Name
	}
	o.Bound.Seconds += b.Seconds
}

// Activities adds up what each thread did, in seconds per unit, over the chosen
// operations.
func (t *Test) Activities(f Filter) [][Activities]noise.Figure {
	values := make([][Activities][]float64, t.Threads)
	for pass, costs := range t.Passes {
		for thread := range values {
			for a := range Activities {
				values[thread][a] = append(values[thread][a], 0)
			}
		}
		for _, c := range costs {
			if !f.Match(c.Key) {
				continue
			}
			for thread, activities := range c.Threads {
				for a, d := range activities {
					values[thread][a][pass] += d.Seconds() / float64(t.Units())
				}
			}
		}
	}
	out := make([][Activities]noise.Figure, t.Threads)
	for thread := range values {
		for a := range Activities {
			out[thread][a] = noise.FigureOf(values[thread][a])
		}
	}
	return out
}

// Predict is the time of a unit, in seconds, if operations did other work or
// the machine had other ceilings. What an operation takes changes by as much as
// its bound does: it goes on to lose beside that what it lost. With another
// number of threads, what they share is shared anew, and takes no less than its
// bound.
func (t *Test) Predict(now, then *Ceilings, change func(Key, Work) Work) float64 {
	footprint, changed, calls := t.Footprint(), 0, 1
	for _, c := range t.first() {
		changed += change(c.Key, c.Work).Bytes
		calls = max(calls, c.Calls)
	}
	total := 0.0
	for i, c := range t.first() {
		old, next := now.Bound(c.Work, footprint), then.Bound(change(c.Key, c.Work), changed/calls)
		took := t.median(i, func(c Cost) time.Duration { return c.Time })
		if now.Threads == then.Threads {
			total += max(next.Seconds, took+next.Seconds-old.Seconds)
			continue
		}
		serial := t.median(i, func(c Cost) time.Duration { return c.Threads[0][Serial] })
		total += max(next.Seconds, serial+(took-serial)*float64(now.Threads)/float64(then.Threads))
	}
	return total / float64(t.Units())
}

// median is that over the passes of what cost i took, in seconds.
func (t *Test) median(i int, of func(Cost) time.Duration) float64 {
	var times []float64
	for _, costs := range t.Passes {
		if i < len(costs) {
			times = append(times, of(costs[i]).Seconds())
		}
	}
	return noise.FigureOf(times).Center
}
