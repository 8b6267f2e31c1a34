package bench

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/montanaflynn/stats"

	"onebit/bench/results"
	"onebit/internal/clock"
)

// A canary is a loop whose time depends on the clock frequency alone: it
// touches no memory. Run on all threads between samples, it shows what a VM
// without cpufreq cannot tell: that a CPU was throttled, or shared with
// somebody.
type canary struct {
	loop  func() time.Duration
	now   func() time.Time
	step  time.Duration // of the clock
	last  time.Time
	times map[string][]float64 // by group
	order []string
}

const (
	// canaryRest keeps the canary from taking more than a per cent of a run.
	canaryRest = 100 * time.Millisecond

	// canaryDrift is the slowdown from which on a group is in doubt: its mean
	// canary against the fastest of the run. The mean, because whoever takes
	// a share of a CPU leaves most loops of this length alone and delays a
	// few by much; but without the slowest twentieth, because now and then the
	// system has two threads share a CPU for a moment though another idles. Of
	// two virtual CPUs with nobody else on them the slower took up to 47%
	// longer than the fastest did, as threads of one core do; with another
	// program on one of them 75% and more (docs/measurements/machine.md).
	canaryDrift = 1.60

	// canarySteps of the clock are the least that the loop must last to say
	// anything.
	canarySteps = 100
)

func newCanary(loop func() time.Duration, now func() time.Time, step time.Duration) *canary {
	return &canary{loop: loop, now: now, step: step, last: now(), times: make(map[string][]float64)}
}

// sing runs the loop, unless it ran a moment ago.
func (c *canary) sing(group string) {
	if c.now().Sub(c.last) < canaryRest {
		return
	}
	took := c.loop()
	c.last = c.now()
	if _, seen := c.times[group]; !seen {
		c.order = append(c.order, group)
	}
	c.times[group] = append(c.times[group], float64(took))
}

// doubts returns a warning for each group in which the loop ran slow.
func (c *canary) doubts() []string {
	fastest := math.Inf(1)
	for _, times := range c.times {
		fastest = min(fastest, slices.Min(times))
	}
	if fastest <= float64(canarySteps*c.step) {
		return nil
	}
	var doubts []string
	for _, group := range c.order {
		times := slices.Sorted(slices.Values(c.times[group]))
		mean, err := stats.Mean(times[:len(times)-(len(times)+19)/20])
		if slow := mean / fastest; err == nil && slow > canaryDrift {
			doubts = append(doubts, results.AboutGroup(group, fmt.Sprintf("the canary loop ran %.0f%% slower than at its fastest: "+
				"a CPU was throttled, or busy with something else", (slow-1)*100)))
		}
	}
	return doubts
}

// chorus runs the canary's loop on all threads at once and returns the time of
// the slowest.
func chorus() time.Duration {
	var ready atomic.Int32
	var all sync.WaitGroup
	times := make([]time.Duration, runtime.GOMAXPROCS(0))
	for i := range times {
		all.Go(func() {
			// A thread that sleeps would be woken on a CPU of its own, after
			// the others are done.
			ready.Add(1)
			for int(ready.Load()) < len(times) {
				runtime.Gosched()
			}
			start := clock.Now()
			canarySink.Store(spin())
			times[i] = clock.Since(start)
		})
	}
	all.Wait()
	return slices.Max(times)
}

// canarySink keeps the compiler from dropping the loop.
var canarySink atomic.Uint64

// spin is the canary's loop: a chain of dependent integer operations
// (xorshift64: Marsaglia, Journal of Statistical Software 8(14), 2003) that
// lasts a few hundred microseconds.
func spin() uint64 {
	x := uint64(88172645463325252)
	for range 200_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
