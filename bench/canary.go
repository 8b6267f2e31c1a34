package bench

import (
	"fmt"
	"slices"
	"time"
)

// A canary is a loop whose time depends on the clock frequency alone: it
// touches no memory. Run between rounds, it shows what a VM without cpufreq
// cannot tell: that the CPU was throttled, or shared with somebody.
type canary struct {
	loop  func()
	now   func() time.Time
	times map[string][]float64 // by group
	order []string
}

// canaryDrift is the slowdown of a group's median canary, against the fastest
// of the run, from which on the group's numbers are in doubt.
const canaryDrift = 1.10

func newCanary(loop func(), now func() time.Time) *canary {
	return &canary{loop: loop, now: now, times: make(map[string][]float64)}
}

func (c *canary) sing(group string) {
	start := c.now()
	c.loop()
	if _, seen := c.times[group]; !seen {
		c.order = append(c.order, group)
	}
	c.times[group] = append(c.times[group], float64(c.now().Sub(start)))
}

// doubts returns a warning for each group in which the loop ran slow.
func (c *canary) doubts() []string {
	var fastest float64
	for _, times := range c.times {
		if m := slices.Min(times); fastest == 0 || m < fastest {
			fastest = m
		}
	}
	if fastest <= 0 {
		return nil
	}
	var doubts []string
	for _, group := range c.order {
		if slow := median(c.times[group]) / fastest; slow > canaryDrift {
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
