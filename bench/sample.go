package bench

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// An entry takes one turn in each round: a case, or an arm of an A/A pair.
type entry struct {
	Case
	name string
	inst Instance
	roof *entry // its ceiling; nil if there is none

	exact []Metric // values that accompany every sample
	once  []Metric // values that accompany the first sample

	n    int           // operations in a sample
	warm int           // operations before it, untimed
	op   time.Duration // length of one operation, from calibration

	rates []float64 // bytes per second, round by round
}

// note sorts the known values into those of every sample and of the first.
// Of two values of one unit the later holds.
func (e *entry) note(metrics []Metric) {
	for i, m := range metrics {
		later := func(o Metric) bool { return o.Unit == m.Unit }
		if slices.ContainsFunc(metrics[i+1:], later) {
			continue
		}
		if UnitOf(m.Unit).Exact {
			e.exact = append(e.exact, m)
		} else {
			e.once = append(e.once, m)
		}
	}
}

const (
	// maxOps bounds calibration of a case that takes no time at all.
	maxOps = 1_000_000_000

	// warmShare of a sample's operations run before it, untimed: the other
	// cases of the round have replaced this one's data in the caches.
	warmShare = 8
)

// calibrate finds how many operations fill a sample.
func (e *entry) calibrate(now func() time.Time, target time.Duration) {
	n := 1
	for {
		start := now()
		e.inst.Run(n)
		d := max(now().Sub(start), 1)
		if d >= target/4 || n >= maxOps {
			e.settle(float64(d)/float64(n), target)
			return
		}
		n *= int(min(max(target/(2*d), 2), 100))
		n = min(n, maxOps)
	}
}

func (e *entry) settle(ns float64, target time.Duration) {
	e.n = int(min(max(math.Round(float64(target)/ns), 1), maxOps))
	e.op = time.Duration(max(ns, 1))
	if e.warm = (e.n + warmShare - 1) / warmShare; e.op >= target {
		// An operation this long warms the caches itself.
		e.warm = 0
	}
}

// roundTime is how long a round of these entries takes.
func roundTime(entries []*entry) time.Duration {
	var sum time.Duration
	for _, e := range entries {
		sum += time.Duration(e.n+e.warm) * e.op
	}
	return sum
}

// withPair adds the two arms of the A/A pair, which double the fastest case.
// They share its instance: nothing differs but the label.
func withPair(entries []*entry) []*entry {
	var fastest *entry
	for _, e := range entries {
		if !e.Ceiling && (fastest == nil || e.op < fastest.op) {
			fastest = e
		}
	}
	if fastest == nil {
		return entries
	}
	all := slices.Clone(entries)
	for _, arm := range []string{"a", "b"} {
		e := *fastest
		e.name = armName(fastest.Name, arm)
		all = append(all, &e)
	}
	return all
}

// A measurement is what one turn of an entry found.
type measurement struct {
	round         int
	elapsed       time.Duration
	bytes, allocs uint64 // per operation
}

// garbageLimit is how much a group may allocate before its garbage is
// collected, between two samples.
const garbageLimit = 64 << 20

// sample takes one sample. Allocations are counted over warm-up and sample
// together, because counting them stops all threads, and whatever is stopped
// just before the clock starts has to wake up at the sample's cost.
func (run *run) sample(e *entry) measurement {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if before.HeapAlloc > run.heap+garbageLimit {
		runtime.GC()
		runtime.ReadMemStats(&before)
		run.heap = before.HeapAlloc
	}
	if e.warm > 0 {
		e.inst.Run(e.warm)
	}
	start := run.now()
	e.inst.Run(e.n)
	elapsed := max(run.now().Sub(start), 1)
	runtime.ReadMemStats(&after)

	m := measurement{round: len(e.rates), elapsed: elapsed}
	ops := uint64(e.n + e.warm)
	m.bytes = (after.TotalAlloc - before.TotalAlloc) / ops
	m.allocs = (after.Mallocs - before.Mallocs) / ops
	e.rates = append(e.rates, perSecond(float64(e.Bytes), e.n, elapsed))
	return m
}

func perSecond(perOp float64, n int, elapsed time.Duration) float64 {
	return perOp * float64(n) / elapsed.Seconds()
}

// A taken sample may have to wait for the roof of its round before it can be
// written.
type taken struct {
	entry *entry
	measurement
}

// split separates the samples whose roof has been measured in this round
// (or that have none) from those that wait for it.
func split(samples []*taken) (ready, waiting []*taken) {
	for _, t := range samples {
		if t.entry.roof == nil || len(t.entry.roof.rates) > t.round {
			ready = append(ready, t)
		} else {
			waiting = append(waiting, t)
		}
	}
	return ready, waiting
}

// roofRate is the roof's bytes per second in the sample's round. A sample
// whose round was interrupted before its roof takes the median of the rounds
// before; false if there is none.
func (t *taken) roofRate() (float64, bool) {
	if t.entry.roof == nil || len(t.entry.roof.rates) == 0 {
		return 0, false
	}
	rates := t.entry.roof.rates
	if t.round < len(rates) {
		return rates[t.round], true
	}
	return median(rates), true
}

// values returns all values of the sample's line, in the order of Units.
func (t *taken) values() []Metric {
	e := t.entry
	values := e.speeds(t.elapsed)
	if roof, ok := t.roofRate(); ok && roof > 0 {
		values = append(values, Metric{PctRoof, 100 * e.rates[t.round] / roof})
	}
	for i, v := range values {
		values[i].Value = rounded(v.Value)
	}
	values = append(values, Metric{AllocBytes, float64(t.bytes)}, Metric{Allocs, float64(t.allocs)})
	values = append(values, e.exact...)
	if t.round == 0 {
		values = append(values, e.once...)
	}
	slices.SortStableFunc(values, func(a, b Metric) int { return unitOrder(a.Unit) - unitOrder(b.Unit) })
	return values
}

// speeds returns what follows from the time that e.n operations took.
func (e *entry) speeds(elapsed time.Duration) []Metric {
	speeds := []Metric{{NsPerOp, float64(elapsed) / float64(e.n)}}
	perOp := []Metric{{WeightRate, float64(e.Bytes)}, {OpRate, float64(e.Ops)}}
	if e.Ceiling {
		perOp[0].Unit = ReadRate
	}
	for _, r := range append(perOp, e.Rates...) {
		if r.Value != 0 {
			speeds = append(speeds, Metric{r.Unit, perSecond(r.Value, e.n, elapsed)})
		}
	}
	return speeds
}

func unitOrder(unit string) int {
	for i, u := range Units {
		if u.Name == unit {
			return i
		}
	}
	return len(Units)
}

// rounded keeps six significant digits, more than any clock is good for.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}
