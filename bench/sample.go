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

	slices int           // that a sample is taken in
	n      int           // operations in a slice
	warm   int           // operations before it, untimed
	op     time.Duration // length of one operation, from calibration
	cost   time.Duration // the same with what doesn't count; see Stopwatch

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

	// warmShare of a slice's operations run before it, untimed: the other
	// cases of the round have replaced this one's data in the caches.
	warmShare = 8

	// A sample is taken in slices, which take turns with those of the group's
	// other cases, so that neighbours in time meet the same machine. There are
	// sliceCount where an operation is short enough: a slice lasts from
	// shortSlice to longSlice, and has leastOps operations at least, of which
	// one more warms up.
	sliceCount = 20
	shortSlice = 250 * time.Microsecond
	longSlice  = time.Millisecond
	leastOps   = 4
)

// calibrate finds how many operations fill a sample, and a slice of it.
func (e *entry) calibrate(ctx context.Context, now func() time.Time, target, sliceTime time.Duration) error {
	n := 1
	for {
		cost, d, err := e.run(ctx, now, n)
		if err != nil {
			return err
		}
		if cost >= target/4 || n >= maxOps {
			e.settle(float64(d)/float64(n), target, sliceTime)
			e.cost = max(cost/time.Duration(n), 1)
			return nil
		}
		n *= int(min(max(target/(2*d), 2), 100))
		n = min(n, maxOps)
	}
}

// shortest is how long a sample lasts at least, for the clock's sake.
func (run *run) shortest() time.Duration { return minSteps * run.step }

// sliceTime is how long a slice of a sample lasts. Events are counted of whole
// samples: to begin and to end counting takes longer than some operations.
func (run *run) sliceTime(target time.Duration) time.Duration {
	if run.Meter != nil {
		return target
	}
	return max(min(max(target/sliceCount, shortSlice), longSlice), run.shortest())
}

// lengthen raises the operations of a slice that turned out shorter than the
// clock can tell.
func (e *entry) lengthen(elapsed, shortest time.Duration) {
	factor := min(max(5*shortest/(4*elapsed), 2), 100)
	e.n = min(e.n*int(factor), maxOps)
}

func (e *entry) settle(ns float64, target, sliceTime time.Duration) {
	fill := func(d time.Duration) int { return int(min(max(math.Round(float64(d)/ns), 1), maxOps)) }
	all := fill(target)
	e.n = min(max(fill(sliceTime), leastOps), all)
	e.slices = all / e.n
	e.op = time.Duration(max(ns, 1))
	if e.warm = (e.n + warmShare - 1) / warmShare; e.op >= target && !e.Ceiling {
		// An operation this long warms the caches itself. A ceiling must not
		// pay for pages that the system took back while others ran.
		e.warm = 0
	}
}

// farBehind is how many times as long as the fastest of the same work a case takes
// that needs no telling apart: pure Go beside SIMD takes 40 to 130 times.
const farBehind = 10

// hurry leaves a case that is far behind others of the same work and class one slice
// in each sample, and as few operations as last as long as a slice: the time is
// better spent on those that are near each other.
func hurry(entries []*entry, classes string) {
	type work struct {
		ops   int64
		class string
	}
	of := func(e *entry) work { return work{e.Ops, classOf(ParseName(e.Name), classes)} }
	fastest := make(map[work]time.Duration)
	for _, e := range entries {
		if best, ok := fastest[of(e)]; !e.Ceiling && (!ok || e.op < best) {
			fastest[of(e)] = e.op
		}
	}
	for _, e := range entries {
		if e.Ops > 0 && !e.Ceiling && e.op > farBehind*fastest[of(e)] {
			e.slices, e.n = 1, int(min(max(shortSlice/e.op, 1), time.Duration(e.n)))
			e.warm = min(e.warm, e.n)
		}
	}
}

// roundTime is how long a round of these entries takes.
func roundTime(entries []*entry) time.Duration {
	var sum time.Duration
	for _, e := range entries {
		sum += time.Duration(e.slices*(e.n+e.warm)) * e.cost
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

// A measurement is what one round found of an entry.
type measurement struct {
	round         int
	ops           int           // timed
	elapsed       time.Duration // as long as they take at the median of the slices
	bytes, allocs uint64        // per operation
	state         []Metric      // of the machine; see Prober
	counted       []Metric      // see Meter
}

// garbageLimit is how much a group may allocate before its garbage is
// collected, between two samples.
const garbageLimit = 64 << 20

// A turn is an entry's share of a round: its sample, slice by slice.
type turn struct {
	*entry
	measurement
	phase int       // where in a round its slices are, if it has fewer than others
	perOp []float64 // ns, by slice
}

// due reports whether the turn has a slice in pass i of so many: fewer slices are
// spread over all passes.
func (t *turn) due(i, passes int) bool {
	return ((i+1)*t.slices+t.phase)/passes > (i*t.slices+t.phase)/passes
}

// slice takes one slice, and makes a sample of them all with the last. Allocations
// are counted over warm-up and the first slice together, because counting them
// stops all threads, and whatever is stopped just before the clock starts has to
// wake up at the slice's cost.
func (run *run) slice(ctx context.Context, t *turn) (*taken, error) {
	first := len(t.perOp) == 0
	var before, after runtime.MemStats
	if first {
		runtime.ReadMemStats(&before)
		if before.HeapAlloc > run.heap+garbageLimit {
			runtime.GC()
			runtime.ReadMemStats(&before)
			run.heap = before.HeapAlloc
		}
	}
	if t.warm > 0 {
		if err := t.inst.Run(ctx, t.warm); err != nil {
			return nil, err
		}
	}
	ops, err := run.time(ctx, t)
	if err != nil {
		return nil, err
	}
	if first {
		runtime.ReadMemStats(&after)
		ops += uint64(t.warm)
		t.bytes = (after.TotalAlloc - before.TotalAlloc) / ops
		t.allocs = (after.Mallocs - before.Mallocs) / ops
	}
	if len(t.perOp) < t.slices {
		return nil, nil
	}
	return t.sample()
}

// sample is the median of the slices, which whoever interrupts a few of them does
// not move.
func (t *turn) sample() (*taken, error) {
	t.round = len(t.rates)
	t.elapsed = max(time.Duration(math.Round(Median(t.perOp)*float64(t.ops))), 1)
	if t.Check != nil {
		if err := t.Check(t.speeds(t.ops, t.elapsed)); err != nil {
			return nil, err
		}
	}
	if p, ok := t.inst.(Prober); ok {
		t.state = p.Probe()
	}
	if err := finite(t.state); err != nil {
		return nil, err
	}
	t.rates = append(t.rates, perSecond(1, t.ops, t.elapsed))
	return &taken{t.entry, t.measurement}, nil
}

// time performs the operations of a slice, more of them and again until they
// last long enough for the clock. It notes how long the last of them took and what
// the meter counted, and returns how many there were in all.
func (run *run) time(ctx context.Context, t *turn) (ops uint64, err error) {
	for {
		elapsed, counted, err := run.metered(ctx, t.entry)
		ops += uint64(t.n)
		if err != nil {
			return ops, err
		}
		if elapsed >= run.shortest() || t.n >= maxOps {
			t.perOp = append(t.perOp, float64(elapsed)/float64(t.n))
			t.ops, t.counted = t.ops+t.n, counted
			return ops, nil
		}
		t.lengthen(elapsed, run.shortest())
	}
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
	values := e.speeds(t.ops, t.elapsed)
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

// speeds returns what follows from the time that so many operations took.
func (e *entry) speeds(ops int, elapsed time.Duration) []Metric {
	speeds := []Metric{{NsPerOp, float64(elapsed) / float64(ops)}}
	perOp := []Metric{{WeightRate, float64(e.Bytes)}, {OpRate, float64(e.Ops)}}
	if e.Ceiling {
		perOp[0].Unit = ReadRate
	}
	for _, r := range append(perOp, e.Rates...) {
		if r.Value != 0 {
			speeds = append(speeds, Metric{r.Unit, perSecond(r.Value, ops, elapsed)})
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
