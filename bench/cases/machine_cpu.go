package cases

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

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
					c.Check = m.limits.Check(threads)
				}
				m.suite.Cases = append(m.suite.Cases, c)
			}
		}
	}
}

// dotPeakCase is the peak of a kernel on the pool's threads.
func dotPeakCase(name names.DotPeak, k roofline.DotKernel, group string, pool *kernels.Pool, probe bench.Prober) bench.Case {
	peak := roofline.NewPeak(k, pool, probe)
	name.ISA, name.Threads = k.Name, pool.Threads()
	return bench.Case{
		Name: name.String(), Group: group, Ops: peak.Ops(), Ceiling: true,
		Setup: func(context.Context) (bench.Instance, error) { return peak, nil },
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
	trip  *roofline.RoundTrip
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
	return &state{trip: roofline.NewRoundTrip(pool), pool: pool, log: m.log}
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

func (s *state) count(thread int) { s.rates[thread] = roofline.ClockRate() }

// mostCPUs is between how many CPUs each round trip is measured: of 16 there
// are 120.
const mostCPUs = 16

// addPairs adds the round trip between every two CPUs.
func (m *machine) addPairs() {
	cpus, err := roofline.UsableCPUs()
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
				Setup: func(context.Context) (bench.Instance, error) { return roofline.NewPair(from, to, m.log) },
			})
		}
	}
}
