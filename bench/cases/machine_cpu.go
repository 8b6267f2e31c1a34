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
	teams "onebit/internal/threads"
	"onebit/kernels"
)

// addPeaks adds the multiply-adds of every instruction set.
func (m *machine) addPeaks() {
	for _, kind := range []string{roofline.Int8, roofline.Float32, roofline.BFloat16} {
		for _, k := range roofline.DotKernels(kind, ^cpu.Set(0)) {
			name := names.DotPeak{Type: kind}
			if missing := m.Features.Missing(k.Requires); missing != 0 {
				name.ISA = k.Name
				m.suite.unavailable(name.String(), fmt.Errorf("this machine lacks %v", missing))
				continue
			}
			for _, threads := range m.Threads {
				c := dotPeakCase(name, k, "multiply-adds", m.pool(threads), m.probe(m.pool(threads)))
				if kind == roofline.Int8 {
					c.Check = m.limits.check(threads)
				}
				m.suite.Cases = append(m.suite.Cases, c)
			}
		}
	}
}

// addCosts adds the clock of the CPUs, and what it costs to read the time and
// to hand out work.
func (m *machine) addCosts() {
	add := func(name string, times func(n int), probe bench.Prober, rates ...results.Metric) *repeated {
		op := &repeated{times: times, Prober: probe}
		m.suite.Cases = append(m.suite.Cases, bench.Case{
			Name: name, Group: "clock and dispatch", Ceiling: true, Rates: rates,
			Setup: func(context.Context) (bench.Instance, error) { return op, nil },
		})
		return op
	}
	add(names.BaseTimer, func(n int) {
		for range n {
			_ = clock.Now()
		}
	}, m.probe(m.pool(1)))
	for _, threads := range m.Threads {
		pool := m.pool(threads)
		each := func(task func(int)) func(n int) {
			return func(n int) {
				for range n {
					pool.ForEach(threads, task)
				}
			}
		}
		add(names.Dispatch(threads), each(func(int) {}), m.probe(pool))
		if n := pool.Threads(); n > 1 {
			// What a dispatch is taken for where it is not measured stands beside what it is.
			add(names.Gather(n), gather(pool), m.probe(pool)).known = []results.Metric{{Unit: results.Estimated, Value: teams.DispatchTime(n)}}
		}
		add(names.Frequency(threads), each(func(int) { _ = roofline.Cycles(cyclesOfOp) }), m.withoutClock(pool),
			results.Metric{Unit: results.ClockRate, Value: cyclesOfOp * roofline.CyclesInLoop})
	}
}

// cyclesOfOp makes an operation of Frequency a third of a millisecond long, so
// that handing it out does not count.
const cyclesOfOp = 1 << 15

// gatherLooks is how often a thread looks for the others before it lets them run.
const gatherLooks = 1 << 14

// gather dispatches tasks that wait for each other, so that every thread takes one.
func gather(pool *kernels.Pool) func(n int) {
	all, begun := pool.Threads(), new(atomic.Int32)
	meet := func(int) {
		begun.Add(1)
		for look := 1; int(begun.Load()) < all; look++ {
			if look%gatherLooks == 0 {
				runtime.Gosched()
			}
		}
	}
	return func(n int) {
		for range n {
			begun.Store(0)
			pool.ForEach(all, meet)
		}
	}
}

// A repeated is an operation that has nothing to set up or verify.
type repeated struct {
	times func(n int)
	known []results.Metric // of the operation, whatever is measured
	bench.Prober
}

func (r *repeated) Run(_ context.Context, n int) error {
	r.times(n)
	return nil
}

func (r *repeated) Verify(context.Context) ([]results.Metric, error) { return r.known, nil }

func (r *repeated) Close() error { return nil }

// A state tells how far apart a pool's threads are, how fast their clocks run,
// and what others took of the CPUs.
type state struct {
	trip  *roundTrip
	pool  *kernels.Pool
	log   *stateLog
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
	return &state{trip: newRoundTrip(pool), pool: pool, log: m.log}
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
	return append(out, s.log.Probe()...)
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
				Setup: func(context.Context) (bench.Instance, error) { return newPair(from, to, m.log) },
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
	*stateLog
}

func newPair(from, to int, log *stateLog) (*pair, error) {
	p := &pair{from: from, to: to, done: make(chan struct{}, 2), stateLog: log}
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

func (p *pair) Verify(context.Context) ([]results.Metric, error) { return nil, nil }

func (p *pair) Close() error {
	for _, c := range p.tasks {
		if c != nil {
			close(c)
		}
	}
	return nil
}
