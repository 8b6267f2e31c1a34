package cases

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/clock"
	"onebit/internal/cpu"
	"onebit/internal/threads"
	"onebit/kernels"
)

// addPeaks adds the multiply-adds of every instruction set.
func (m *machine) addPeaks() {
	const group = "multiply-adds"
	lacks := func(name names.DotPeak, requires cpu.Set) bool {
		missing := m.Features.Missing(requires)
		if missing != 0 {
			m.suite.unavailable(name.String(), fmt.Errorf("this machine lacks %v", missing))
		}
		return missing != 0
	}
	for _, k := range roofline.DotKernels(^cpu.Set(0)) {
		name := names.DotPeak{Type: names.Int8, ISA: k.Name}
		if lacks(name, k.Requires) {
			continue
		}
		for _, threads := range m.Threads {
			c := dotPeakCase(name, k, group, m.pool(threads), m.probe(m.pool(threads)))
			c.Check = m.limits.check(threads)
			m.suite.Cases = append(m.suite.Cases, c)
		}
	}
	for _, k := range roofline.FloatKernels(^cpu.Set(0)) {
		name := names.DotPeak{Type: k.Type, ISA: k.Name}
		if lacks(name, k.Requires) {
			continue
		}
		for _, threads := range m.Threads {
			m.suite.Cases = append(m.suite.Cases, dotPeakCase(name, k, group, m.pool(threads), m.probe(m.pool(threads))))
		}
	}
}

// addCosts adds the clock of the CPUs, and what it costs to read the time and
// to hand out work.
func (m *machine) addCosts() {
	const group = "clock and dispatch"
	add := func(name string, op *repeated, rates ...results.Metric) {
		m.suite.Cases = append(m.suite.Cases, bench.Case{
			Name: name, Group: group, Ceiling: true, Rates: rates,
			Setup: func(context.Context) (bench.Instance, error) { return op, nil },
		})
	}
	add(names.BaseTimer, &repeated{func(n int) {
		for range n {
			_ = clock.Now()
		}
	}, m.probe(m.pool(1))})
	for _, threads := range m.Threads {
		pool := m.pool(threads)
		nothing := func(int) {}
		add(names.Dispatch(threads), &repeated{func(n int) {
			for range n {
				pool.ForEach(threads, nothing)
			}
		}, m.probe(pool)})
		if pool.Threads() > 1 {
			m.suite.Cases = append(m.suite.Cases, gatherCase(pool, group, m.probe(pool)))
		}
		count := func(int) { _ = roofline.Cycles(cyclesOfOp) }
		add(names.Frequency(threads), &repeated{func(n int) {
			for range n {
				pool.ForEach(threads, count)
			}
		}, m.withoutClock(pool)}, results.Metric{Unit: results.ClockRate, Value: cyclesOfOp * roofline.CyclesInLoop})
	}
}

// gatherCase is one of how long it takes until a pool's threads have all begun and ended.
func gatherCase(pool *kernels.Pool, group string, probe bench.Prober) bench.Case {
	g := &gathering{pool: pool, Prober: probe}
	g.task = g.meet
	return bench.Case{
		Name: names.Gather(pool.Threads()), Group: group, Ceiling: true,
		Setup: func(context.Context) (bench.Instance, error) { return g, nil },
	}
}

// A gathering is a dispatch whose tasks wait for each other, so that every thread
// takes one.
type gathering struct {
	pool  *kernels.Pool
	task  func(int)
	begun atomic.Int32
	bench.Prober
}

func (g *gathering) Run(ctx context.Context, n int) error {
	for range n {
		g.begun.Store(0)
		g.pool.ForEach(g.pool.Threads(), g.task)
	}
	return ctx.Err()
}

// gatherLooks is how often a thread looks for the others before it lets them run.
const gatherLooks = 1 << 14

func (g *gathering) meet(int) {
	all := int32(g.pool.Threads())
	g.begun.Add(1)
	for look := 1; g.begun.Load() < all; look++ {
		if look%gatherLooks == 0 {
			runtime.Gosched()
		}
	}
}

// Verify tells what a dispatch is taken for where it is not measured.
func (g *gathering) Verify(context.Context) ([]results.Metric, error) {
	return []results.Metric{{Unit: results.Estimated, Value: threads.DispatchTime(g.pool.Threads())}}, nil
}

func (g *gathering) Close() error { return nil }

// cyclesOfOp makes an operation of Frequency a third of a millisecond long, so
// that handing it out does not count.
const cyclesOfOp = 1 << 15

// A repeated is an operation that has nothing to set up or verify.
type repeated struct {
	times func(n int)
	bench.Prober
}

func (r *repeated) Run(_ context.Context, n int) error {
	r.times(n)
	return nil
}

func (r *repeated) Verify(context.Context) ([]results.Metric, error) { return nil, nil }

func (r *repeated) Close() error { return nil }

// A state tells how far apart a pool's threads are, how fast their clocks run,
// and what others took of the CPUs.
type state struct {
	trip  *roundTrip
	pool  *kernels.Pool
	log   *stateLog
	cpus  int
	rates []float64 // by thread, in Hz; nil: not to be measured
	task  func(thread int)
}

func (m *machine) probe(pool *kernels.Pool) bench.Prober {
	s := m.withoutClock(pool)
	s.rates = make([]float64, pool.Threads())
	s.task = s.count
	return s
}

func (m *machine) withoutClock(pool *kernels.Pool) *state {
	return &state{trip: newRoundTrip(pool), pool: pool, log: m.log, cpus: m.Host.UsableCPUs}
}

// Probe takes some tens of microseconds, and a round trip's where there are
// several threads.
func (s *state) Probe() []results.Metric {
	out := s.trip.Probe()
	if s.rates != nil {
		s.pool.ForEach(len(s.rates), s.task)
		sum := 0.0
		for _, r := range s.rates {
			sum += r
		}
		out = append(out, results.Metric{Unit: results.ClockRate, Value: sum / float64(len(s.rates))})
	}
	return append(out, s.log.metrics(s.cpus)...)
}

func (s *state) count(thread int) { s.rates[thread] = clockRate() }

// clockRate is the frequency of the calling thread's clock, in Hz, measured three
// times: whoever interrupts it does not interrupt all of them.
func clockRate() float64 {
	const iterations = 1 << 10 // 10 µs
	best := time.Duration(1 << 62)
	for range 3 {
		start := clock.Now()
		_ = roofline.Cycles(iterations)
		best = min(best, max(clock.Since(start), 1))
	}
	return iterations * roofline.CyclesInLoop / best.Seconds()
}

// mostCPUs is between how many CPUs each round trip is measured: of 16 there
// are 120.
const mostCPUs = 16

// addPairs adds the round trip between every two CPUs.
func (m *machine) addPairs() {
	cpus, err := usableCPUs()
	if err != nil {
		m.suite.unavailable(names.RoundTrip(0, 1), err)
		return
	}
	if min(len(cpus), m.Host.UsableCPUs) < 2 {
		m.suite.unavailable(names.RoundTrip(0, 1), fmt.Errorf("this process may use one CPU"))
		return
	}
	if n := len(cpus); n > mostCPUs {
		var some []int
		for i := range mostCPUs {
			some = append(some, cpus[i*n/mostCPUs])
		}
		m.warn(fmt.Sprintf("round trips are those of %d of the %d CPUs", mostCPUs, n))
		cpus = some
	}
	for i, from := range cpus {
		for _, to := range cpus[i+1:] {
			m.suite.Cases = append(m.suite.Cases, bench.Case{
				Name: names.RoundTrip(from, to), Group: "round trips", Ceiling: true,
				Setup: func(context.Context) (bench.Instance, error) { return newPair(from, to, m.log, m.Host.UsableCPUs) },
			})
		}
	}
}

// A pair is two threads, each on a CPU of its own, between which a cache line
// goes.
type pair struct {
	from, to int
	trip     *roundTrip
	tasks    [2]chan func()
	done     chan struct{}
	elapsed  time.Duration
	log      *stateLog
	cpus     int
}

func newPair(from, to int, log *stateLog, cpus int) (*pair, error) {
	p := &pair{from: from, to: to, done: make(chan struct{}, 2), log: log, cpus: cpus}
	p.trip = newTrip(p.each)
	bound := make(chan error, 2)
	for i, on := range []int{from, to} {
		p.tasks[i] = make(chan func())
		go func() {
			// A goroutine that ends locked takes its thread, and what that is
			// bound to, with it.
			runtime.LockOSThread()
			bound <- bindTo(on)
			for task := range p.tasks[i] {
				task()
				p.done <- struct{}{}
			}
		}()
	}
	for range 2 {
		if err := <-bound; err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// each runs two tasks at once.
func (p *pair) each(n int, task func(i int)) {
	for i := range n {
		p.tasks[i] <- func() { task(i) }
	}
	for range n {
		<-p.done
	}
}

// pairRetries are so many that a busy machine lets both CPUs run at once for
// one of them.
const pairRetries = 20

// Run sends the line to and fro; what counts is the median of a few thousand
// trips, for each of n.
func (p *pair) Run(ctx context.Context, n int) error {
	p.elapsed = 0
	for left := n; left > 0; left -= tripBatches * batchTrips {
		batch := p.trip.measure()
		for range pairRetries {
			if batch > 0 || ctx.Err() != nil {
				break
			}
			batch = p.trip.measure()
		}
		if batch == 0 {
			return fmt.Errorf("CPU %d and CPU %d did not run at once: others keep one of them busy", p.from, p.to)
		}
		p.elapsed += batch * time.Duration(min(left, tripBatches*batchTrips)) / batchTrips
	}
	return ctx.Err()
}

// Elapsed implements bench.Stopwatch.
func (p *pair) Elapsed() time.Duration { return p.elapsed }

// Probe tells what others took of the CPUs.
func (p *pair) Probe() []results.Metric { return p.log.metrics(p.cpus) }

func (p *pair) Verify(context.Context) ([]results.Metric, error) { return nil, nil }

func (p *pair) Close() error {
	for _, c := range p.tasks {
		if c != nil {
			close(c)
		}
	}
	return nil
}
