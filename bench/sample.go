package bench

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// An entry takes one turn in each round: a case, or its double in an A/A pair.
type entry struct {
	Case
	name string
	inst Instance
	roof *entry // its ceiling in bytes; nil if there is none
	peak *entry // its ceiling in multiply-adds; nil if there is none

	exact []Metric // values that accompany every sample
	once  []Metric // values that accompany the first sample

	n    int           // operations in a sample
	warm int           // operations before it, untimed
	op   time.Duration // length of one operation, from calibration
	cost time.Duration // the same with what doesn't count; see Stopwatch

	rates []float64 // operations per second, round by round
}

// run performs n operations, and returns how long they took in all and, of
// that, the time that counts.
func (e *entry) run(ctx context.Context, now func() time.Time, n int) (cost, counted time.Duration, err error) {
	start := now()
	err = e.inst.Run(ctx, n)
	cost = max(now().Sub(start), 1)
	if s, ok := e.inst.(Stopwatch); ok && err == nil {
		return cost, max(s.Elapsed(), 1), nil
	}
	return cost, cost, err
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
	// minSteps of the clock are the least that a sample lasts.
	minSteps = 1000

	// maxOps bounds calibration of a case that takes no time at all.
	maxOps = 1_000_000_000

	// warmShare of a sample's operations run before it, untimed: the other
	// cases of the round have replaced this one's data in the caches.
	warmShare = 8
)

// calibrate finds how many operations fill a sample.
func (e *entry) calibrate(ctx context.Context, now func() time.Time, target time.Duration) error {
	n := 1
	for {
		cost, d, err := e.run(ctx, now, n)
		if err != nil {
			return err
		}
		if cost >= target/4 || n >= maxOps {
			e.settle(float64(d)/float64(n), target)
			e.cost = max(cost/time.Duration(n), 1)
			return nil
		}
		n *= int(min(max(target/(2*d), 2), 100))
		n = min(n, maxOps)
	}
}

// shortest is how long a sample lasts at least, for the clock's sake.
func (run *run) shortest() time.Duration { return minSteps * run.step }

// lengthen raises the operations of a sample that turned out shorter than the
// clock can tell.
func (e *entry) lengthen(elapsed, shortest time.Duration) {
	factor := min(max(5*shortest/(4*elapsed), 2), 100)
	e.n = min(e.n*int(factor), maxOps)
}

func (e *entry) settle(ns float64, target time.Duration) {
	e.n = int(min(max(math.Round(float64(target)/ns), 1), maxOps))
	e.op = time.Duration(max(ns, 1))
	if e.warm = (e.n + warmShare - 1) / warmShare; e.op >= target && !e.Ceiling {
		// An operation this long warms the caches itself. A ceiling must not
		// pay for pages that the system took back while others ran.
		e.warm = 0
	}
}

// roundTime is how long a round of these entries takes.
func roundTime(entries []*entry) time.Duration {
	var sum time.Duration
	for _, e := range entries {
		sum += time.Duration(e.n+e.warm) * e.cost
	}
	return sum
}

// withDoubles adds the arms b of A/A pairs, the doubles of cases. They share
// the case's instance: nothing differs but the label.
func withDoubles(entries []*entry, doubled map[string]bool) []*entry {
	all := slices.Clone(entries)
	for _, e := range entries {
		if doubled[e.Name] {
			double := *e
			double.name = doubleName(e.Name)
			all = append(all, &double)
		}
	}
	return all
}

// A measurement is what one turn of an entry found.
type measurement struct {
	round         int
	elapsed       time.Duration
	bytes, allocs uint64   // per operation
	state         []Metric // of the machine; see Prober
	counted       []Metric // see Meter
}

// garbageLimit is how much a group may allocate before its garbage is
// collected, between two samples.
const garbageLimit = 64 << 20

// sample takes one sample. Allocations are counted over warm-up and sample
// together, because counting them stops all threads, and whatever is stopped
// just before the clock starts has to wake up at the sample's cost.
func (run *run) sample(ctx context.Context, e *entry) (measurement, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if before.HeapAlloc > run.heap+garbageLimit {
		runtime.GC()
		runtime.ReadMemStats(&before)
		run.heap = before.HeapAlloc
	}
	if e.warm > 0 {
		if err := e.inst.Run(ctx, e.warm); err != nil {
			return measurement{}, err
		}
	}
	m := measurement{round: len(e.rates)}
	ops, err := run.time(ctx, e, &m)
	if err != nil {
		return measurement{}, err
	}
	runtime.ReadMemStats(&after)
	ops += uint64(e.warm)
	m.bytes = (after.TotalAlloc - before.TotalAlloc) / ops
	m.allocs = (after.Mallocs - before.Mallocs) / ops
	if p, ok := e.inst.(Prober); ok {
		m.state = p.Probe()
	}
	if err := finite(m.state); err != nil {
		return measurement{}, err
	}
	e.rates = append(e.rates, perSecond(1, e.n, m.elapsed))
	return m, nil
}

// time performs the operations of a sample, more of them and again until they
// last long enough for the clock. It notes how long the last e.n took and what
// the meter counted of them, and returns how many there were in all.
func (run *run) time(ctx context.Context, e *entry, m *measurement) (ops uint64, err error) {
	for {
		m.elapsed, m.counted, err = run.metered(ctx, e)
		ops += uint64(e.n)
		if err != nil {
			return ops, err
		}
		if m.elapsed >= run.shortest() || e.n >= maxOps {
			break
		}
		e.lengthen(m.elapsed, run.shortest())
	}
	if e.Check != nil {
		err = e.Check(e.speeds(m.elapsed))
	}
	return ops, err
}

// metered performs e.n operations and counts events meanwhile.
func (run *run) metered(ctx context.Context, e *entry) (elapsed time.Duration, counted []Metric, err error) {
	if run.Meter == nil {
		_, elapsed, err = e.run(ctx, run.now, e.n)
		return elapsed, nil, err
	}
	if err := run.Meter.Start(); err != nil {
		return 0, nil, err
	}
	if _, elapsed, err = e.run(ctx, run.now, e.n); err != nil {
		return 0, nil, err
	}
	counted, err = run.Meter.Stop(e.n)
	return elapsed, append(counted, e.perToken(counted)...), err
}

// perToken is the energy of a token, where tokens and energy are counted.
func (e *entry) perToken(counted []Metric) []Metric {
	for _, c := range counted {
		for _, r := range e.Rates {
			if c.Unit == Energy && r.Unit == TokenRate && r.Value > 0 {
				return []Metric{{TokenEnergy, c.Value / r.Value}}
			}
		}
	}
	return nil
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

// split separates the samples whose ceilings have been measured in this round
// (or that have none) from those that wait for them.
func split(samples []*taken) (ready, waiting []*taken) {
	for _, t := range samples {
		if t.entry.roof.measured(t.round) && t.entry.peak.measured(t.round) {
			ready = append(ready, t)
		} else {
			waiting = append(waiting, t)
		}
	}
	return ready, waiting
}

// measured reports whether a ceiling has its sample of a round.
func (e *entry) measured(round int) bool { return e == nil || len(e.rates) > round }

// share is the sample's amount per second as a share of its ceiling's, in per
// cent. A sample whose round was interrupted before its ceiling takes the
// median of the rounds before; false if there is none. A rate that is known
// stands for a ceiling's.
func (t *taken) share(ceiling *entry, known float64, amount func(Case) int64) (float64, bool) {
	if mine := amount(t.entry.Case); known > 0 && mine > 0 {
		return 100 * t.entry.rates[t.round] * float64(mine) / known, true
	}
	if ceiling == nil || len(ceiling.rates) == 0 || amount(ceiling.Case) == 0 {
		return 0, false
	}
	rate := Median(ceiling.rates)
	if t.round < len(ceiling.rates) {
		rate = ceiling.rates[t.round]
	}
	mine := t.entry.rates[t.round] * float64(amount(t.entry.Case))
	return 100 * mine / (rate * float64(amount(ceiling.Case))), true
}

// values returns all values of the sample's line, in the order of Units.
func (t *taken) values() []Metric {
	e := t.entry
	values := e.speeds(t.elapsed)
	if v, ok := t.share(e.roof, e.RoofRate, func(c Case) int64 { return c.Bytes }); ok {
		values = append(values, Metric{PctRoof, v})
	}
	if v, ok := t.share(e.peak, e.PeakRate, func(c Case) int64 { return c.Ops }); ok {
		values = append(values, Metric{PctPeak, v})
	}
	values = slices.Concat(values, t.state, t.counted)
	for i, v := range values {
		values[i].Value = rounded(v.Value)
	}
	values = append(values, Metric{AllocBytes, float64(t.bytes)}, Metric{Allocs, float64(t.allocs)})
	values = append(values, e.exact...)
	if t.round == 0 {
		values = append(values, e.once...)
	}
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

// sortUnits puts values in the order of Units.
func sortUnits(values []Metric) {
	slices.SortStableFunc(values, func(a, b Metric) int { return unitOrder(a.Unit) - unitOrder(b.Unit) })
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
