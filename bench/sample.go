package bench

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"onebit/bench/noise"
	"onebit/bench/results"
)

// An arm takes one turn in each round: a case, or its double in an A/A pair.
type arm struct {
	Case
	name string
	inst Instance
	roof *arm // its ceiling in bytes; nil if there is none
	peak *arm // its ceiling in multiply-adds; nil if there is none

	exact []results.Metric // values that accompany every sample
	once  []results.Metric // values that accompany the first sample

	class  string        // see Results.Class
	behind float64       // how many times as long as the fastest of its work and class it takes
	far    bool          // it needs no telling apart; see markFar
	slices int           // that a sample is taken in
	n      int           // operations in a slice
	warm   int           // operations before it, untimed
	op     float64       // ns of one operation, from calibration
	cost   time.Duration // the same with what doesn't count; see Stopwatch

	rates []float64 // operations per second, round by round
}

// run performs n operations, and returns how long they took in all and, of
// that, the time that counts.
func (e *arm) run(ctx context.Context, now func() time.Time, n int) (cost, counted time.Duration, err error) {
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
func (e *arm) note(metrics []results.Metric) {
	for i, m := range metrics {
		later := func(o results.Metric) bool { return o.Unit == m.Unit }
		if slices.ContainsFunc(metrics[i+1:], later) {
			continue
		}
		if results.UnitOf(m.Unit).Exact {
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
	// up to sliceCount: the file holds each. A slice lasts from shortSlice to
	// longSlice, and has leastOps operations unless one takes as long.
	sliceCount = 50
	shortSlice = 250 * time.Microsecond
	longSlice  = time.Millisecond
	leastOps   = 2
)

// calibrate finds how long an operation lasts, from some that take so long or more.
func (e *arm) calibrate(ctx context.Context, now func() time.Time, least time.Duration) error {
	if v, ok := e.inst.(Timed); ok && v.Took() >= longSlice {
		e.op, e.cost = float64(v.Took()), v.Took()
		return nil
	}
	n := 1
	for {
		cost, d, err := e.run(ctx, now, n)
		if err != nil {
			return err
		}
		if cost >= least || n >= maxOps {
			e.op, e.cost = float64(d)/float64(n), max(cost/time.Duration(n), 1)
			return nil
		}
		n *= int(min(max(2*least/d, 2), 100))
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
	return min(max(min(max(target/sliceCount, shortSlice), longSlice), run.shortest()), target)
}

// lengthen raises the operations of a slice that turned out shorter than the
// clock can tell.
func (e *arm) lengthen(elapsed, shortest time.Duration) {
	factor := min(max(5*shortest/(4*elapsed), 2), 100)
	e.n = min(e.n*int(factor), maxOps)
}

// size finds how many operations fill a slice, and how many slices a sample. A case
// that is far behind has one slice, and as few operations as last as long: the time
// is better spent on those that are near each other.
func (e *arm) size(target, slice time.Duration) {
	fill := func(d time.Duration) int { return int(min(max(math.Round(float64(d)/e.op), 1), maxOps)) }
	if e.n = fill(slice); e.op < float64(longSlice) {
		e.n = max(e.n, min(leastOps, fill(target)))
	}
	e.slices = int(min(max(float64(target)/(e.op*float64(e.n)), 1), float64(target/slice)))
	e.warm = max(1, e.n/warmShare)
	if e.far {
		e.slices, e.n = 1, min(e.n, fill(shortSlice))
		e.warm = min(e.warm, e.n)
	}
	if e.op >= float64(longSlice) && !e.Ceiling {
		// An operation this long warms the caches itself. A ceiling must not
		// pay for pages that the system took back while others ran.
		e.warm = 0
	}
}

// fitting is how long samples may last that so many rounds of these arms fit into
// the time that is left. Those whose operation lasts longer have one, and those far
// behind have few.
func fitting(arms []*arm, rounds int, left time.Duration) time.Duration {
	const spare = 0.95 // of the time, for clocks and canaries
	sample := maxTime
	for range 3 { // each knows better who is too long for it
		each, share := spare*float64(left)/float64(rounds), 0.0
		for _, e := range arms {
			switch own := float64(e.cost); {
			case e.far:
				each -= max(own, float64(shortSlice))
			case e.op > float64(sample):
				each -= own
			default:
				share += own / e.op * (1 + 1.0/warmShare)
			}
		}
		sample = time.Duration(min(max(each/max(share, 1), float64(minTime)), float64(maxTime)))
	}
	return sample
}

// markFar finds who is far behind others of the same work and class.
func markFar(arms []*arm) {
	type work struct {
		ops   int64
		class string
	}
	fastest := make(map[work]float64)
	for _, e := range arms {
		of := work{e.Ops, e.class}
		if best, ok := fastest[of]; !e.Ceiling && (!ok || e.op < best) {
			fastest[of] = e.op
		}
	}
	for _, e := range arms {
		if e.behind = 1; e.Ops > 0 && !e.Ceiling {
			e.behind = e.op / fastest[work{e.Ops, e.class}]
		}
		e.far = e.behind > noise.FarBehind
	}
}

// roundTime is how long a round of these arms takes.
func roundTime(arms []*arm) time.Duration {
	var sum time.Duration
	for _, e := range arms {
		sum += time.Duration(e.slices*(e.n+e.warm)) * e.cost
	}
	return sum
}

// withDoubles adds the arms b of A/A pairs, the doubles of cases. They share
// the case's instance: nothing differs but the label. A case that is far behind
// has none, for nobody asks by how little it is, nor one that another process may
// find so.
func (run *run) withDoubles(arms []*arm, g *group) []*arm {
	all := slices.Clone(arms)
	doubled := g.doubles(run.results.Setting(results.ClassesKey), func(name string) bool {
		return slices.ContainsFunc(arms, func(e *arm) bool { return e.Name == name && e.behind < noise.FarBehind/2 })
	})
	for _, e := range arms {
		if doubled[e.Name] {
			double := *e
			double.name = results.DoubleName(e.Name)
			all = append(all, &double)
		}
	}
	return all
}

// A measurement is what one round found of an arm.
type measurement struct {
	round         int
	ops           int              // timed
	elapsed       time.Duration    // as long as they take at the median of the slices
	bytes, allocs uint64           // per operation
	state         []results.Metric // of the machine; see Prober
	counted       []results.Metric // see Meter
	byPass        []float64        // see Sample.Slices
}

// garbageLimit is how much a group may allocate before its garbage is
// collected, between two samples.
const garbageLimit = 64 << 20

// A turn is an arm's share of a round: its sample, slice by slice.
type turn struct {
	*arm
	measurement
	phase int       // where in a round its slices are, if it has fewer than others
	perOp []float64 // ns, by pass; 0 where it had no slice
	taken int       // slices so far
}

// due reports whether the turn has a slice in pass i of so many: fewer slices are
// spread over all passes.
func (t *turn) due(i int) bool {
	passes := len(t.perOp)
	return ((i+1)*t.slices+t.phase)/passes > (i*t.slices+t.phase)/passes
}

// slice takes the slice of a pass, and makes a sample of them all with the last. Allocations
// are counted over warm-up and the first slice together, because counting them
// stops all threads, and whatever is stopped just before the clock starts has to
// wake up at the slice's cost.
func (run *run) slice(ctx context.Context, t *turn, pass int, states map[string][]results.Metric) (*taken, error) {
	first := t.taken == 0
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
	ops, err := run.time(ctx, t, pass)
	if err != nil {
		return nil, err
	}
	if first {
		runtime.ReadMemStats(&after)
		ops += uint64(t.warm)
		t.bytes = (after.TotalAlloc - before.TotalAlloc) / ops
		t.allocs = (after.Mallocs - before.Mallocs) / ops
	}
	if t.taken < t.slices {
		return nil, nil
	}
	return t.sample(states)
}

// sample is the median of the slices, which whoever interrupts a few of them does
// not move. The first of its class in the round asks in what state the machine is.
func (t *turn) sample(states map[string][]results.Metric) (*taken, error) {
	t.round = len(t.rates)
	times := slices.DeleteFunc(slices.Clone(t.perOp), func(ns float64) bool { return ns == 0 })
	t.elapsed = max(time.Duration(math.Round(noise.Median(times)*float64(t.ops))), 1)
	if t.Check != nil {
		if err := t.Check(t.speeds(t.ops, t.elapsed)); err != nil {
			return nil, err
		}
	}
	if p, ok := t.inst.(Prober); ok {
		if _, asked := states[t.class]; !asked {
			states[t.class] = p.Probe()
		}
		t.state = states[t.class]
	}
	if err := results.Finite(t.state); err != nil {
		return nil, err
	}
	if len(times) > 1 {
		for _, ns := range t.perOp {
			t.byPass = append(t.byPass, rounded(ns, 5)) // there are many: a file should stay small
		}
	}
	t.rates = append(t.rates, perSecond(1, t.ops, t.elapsed))
	return &taken{t.arm, t.measurement}, nil
}

// time performs the operations of a slice, more of them and again until they
// last long enough for the clock. It notes how long the last of them took and what
// the meter counted, and returns how many there were in all.
func (run *run) time(ctx context.Context, t *turn, pass int) (ops uint64, err error) {
	for {
		elapsed, counted, err := run.metered(ctx, t.arm)
		ops += uint64(t.n)
		if err != nil {
			return ops, err
		}
		if elapsed >= run.shortest() || t.n >= maxOps {
			t.perOp[pass] = float64(elapsed) / float64(t.n)
			t.taken++
			t.ops, t.counted = t.ops+t.n, counted
			return ops, nil
		}
		t.lengthen(elapsed, run.shortest())
	}
}

// metered performs e.n operations and counts events meanwhile.
func (run *run) metered(ctx context.Context, e *arm) (elapsed time.Duration, counted []results.Metric, err error) {
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
func (e *arm) perToken(counted []results.Metric) []results.Metric {
	for _, c := range counted {
		for _, r := range e.Rates {
			if c.Unit == results.Energy && r.Unit == results.TokenRate && r.Value > 0 {
				return []results.Metric{{Unit: results.TokenEnergy, Value: c.Value / r.Value}}
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
	arm *arm
	measurement
}

// split separates the samples whose ceilings have been measured in this round
// (or that have none) from those that wait for them.
func split(samples []*taken) (ready, waiting []*taken) {
	for _, t := range samples {
		if t.arm.roof.measured(t.round) && t.arm.peak.measured(t.round) {
			ready = append(ready, t)
		} else {
			waiting = append(waiting, t)
		}
	}
	return ready, waiting
}

// measured reports whether a ceiling has its sample of a round.
func (e *arm) measured(round int) bool { return e == nil || len(e.rates) > round }

// share is the sample's amount per second as a share of its ceiling's, in per
// cent. A sample whose round was interrupted before its ceiling takes the
// median of the rounds before; false if there is none. A rate that is known
// stands for a ceiling's.
func (t *taken) share(ceiling *arm, known float64, amount func(Case) int64) (float64, bool) {
	if mine := amount(t.arm.Case); known > 0 && mine > 0 {
		return 100 * t.arm.rates[t.round] * float64(mine) / known, true
	}
	if ceiling == nil || len(ceiling.rates) == 0 || amount(ceiling.Case) == 0 {
		return 0, false
	}
	rate := noise.Median(ceiling.rates)
	if t.round < len(ceiling.rates) {
		rate = ceiling.rates[t.round]
	}
	mine := t.arm.rates[t.round] * float64(amount(t.arm.Case))
	return 100 * mine / (rate * float64(amount(ceiling.Case))), true
}

// values returns all values of the sample's line, in the order of Units.
func (t *taken) values() []results.Metric {
	e := t.arm
	values := e.speeds(t.ops, t.elapsed)
	if v, ok := t.share(e.roof, e.RoofRate, func(c Case) int64 { return c.Bytes }); ok {
		values = append(values, results.Metric{Unit: results.PctRoof, Value: v})
	}
	if v, ok := t.share(e.peak, e.PeakRate, func(c Case) int64 { return c.Ops }); ok {
		values = append(values, results.Metric{Unit: results.PctPeak, Value: v})
	}
	values = slices.Concat(values, t.state, t.counted)
	for i, v := range values {
		values[i].Value = rounded(v.Value, 6)
	}
	values = append(values, results.Metric{Unit: results.AllocBytes, Value: float64(t.bytes)}, results.Metric{Unit: results.Allocs, Value: float64(t.allocs)})
	values = append(values, e.exact...)
	if t.round == 0 {
		values = append(values, e.once...)
	}
	return values
}

// speeds returns what follows from the time that so many operations took.
func (e *arm) speeds(ops int, elapsed time.Duration) []results.Metric {
	speeds := []results.Metric{{Unit: results.NsPerOp, Value: float64(elapsed) / float64(ops)}}
	perOp := []results.Metric{{Unit: results.WeightRate, Value: float64(e.Bytes)}, {Unit: results.OpRate, Value: float64(e.Ops)}}
	if e.Ceiling {
		perOp[0].Unit = results.ReadRate
	}
	for _, r := range append(perOp, e.Rates...) {
		if r.Value != 0 {
			speeds = append(speeds, results.Metric{Unit: r.Unit, Value: perSecond(r.Value, ops, elapsed)})
		}
	}
	return speeds
}

// rounded keeps some significant digits: six are more than any clock is good for.
func rounded(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}
