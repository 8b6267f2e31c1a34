package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/montanaflynn/stats"
)

// A canary is a loop whose time depends on the clock frequency alone: it
// touches no memory. Run between samples, it shows what a VM without cpufreq
// cannot tell: that the CPU was throttled, or shared with somebody.
type canary struct {
	loop  func()
	now   func() time.Time
	last  time.Time
	times map[string][]float64 // by group
	order []string
}

const (
	// canaryRest keeps the canary from taking more than a few per cent of a
	// run whose samples are short.
	canaryRest = 5 * time.Millisecond

	// canaryDrift is the slowdown from which on a group is in doubt: its mean
	// canary against the fastest of the run. The mean, because whoever takes
	// a share of the CPU leaves most loops of this length alone and delays a
	// few by much.
	canaryDrift = 1.10
)

func newCanary(loop func(), now func() time.Time) *canary {
	return &canary{loop: loop, now: now, last: now(), times: make(map[string][]float64)}
}

// sing runs the loop, unless it ran a moment ago.
func (c *canary) sing(group string) {
	start := c.now()
	if start.Sub(c.last) < canaryRest {
		return
	}
	c.loop()
	c.last = c.now()
	if _, seen := c.times[group]; !seen {
		c.order = append(c.order, group)
	}
	c.times[group] = append(c.times[group], float64(c.last.Sub(start)))
}

// doubts returns a warning for each group in which the loop ran slow.
func (c *canary) doubts() []string {
	fastest := math.Inf(1)
	for _, times := range c.times {
		fastest = min(fastest, slices.Min(times))
	}
	var doubts []string
	for _, group := range c.order {
		mean, err := stats.Mean(c.times[group])
		if slow := mean / fastest; err == nil && slow > canaryDrift {
			doubts = append(doubts, fmt.Sprintf("group %s: the canary loop ran %.0f%% slower than at its fastest: "+
				"the CPU was throttled, or busy with something else", group, (slow-1)*100))
		}
	}
	return doubts
}

// canarySink keeps the compiler from dropping the loop.
var canarySink uint64

// spin is the canary's loop: a chain of dependent integer operations
// (xorshift64: Marsaglia, Journal of Statistical Software 8(14), 2003) that
// lasts a few hundred microseconds.
func spin() {
	x := uint64(88172645463325252)
	for range 200_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	canarySink = x
}
