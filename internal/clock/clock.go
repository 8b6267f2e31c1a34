// Package clock is the one clock of onebit: every timing that becomes a figure
// is taken with it.
//
// Go's time.Now advances by 0.5 to 15 ms on Windows (golang/go#67066), where a
// product takes microseconds. There the clock is QueryPerformanceCounter;
// elsewhere it is time.Now's monotonic reading.
package clock

import (
	"sync"
	"time"
)

// Now returns the time. Differences of two of its results are exact to a Step;
// times of other origin are not to be subtracted from them.
func Now() time.Time { return now() }

// Since returns how long ago t was, which Now returned.
func Since(t time.Time) time.Duration { return since(t) }

// Step returns the shortest time that the clock can tell from none: what it
// advances by, or what a reading costs if that is longer. It was measured when
// it was first asked for.
func Step() time.Duration { return step() }

var step = sync.OnceValue(func() time.Duration { return Measure(now) })

// readings is how many steps Measure waits for. Even steps of 15 ms make it
// last no longer than a sixth of a second.
const readings = 10

// Measure returns the step of a clock, the shortest of ten.
func Measure(now func() time.Time) time.Duration {
	var shortest time.Duration
	for range readings {
		start := now()
		d := now().Sub(start)
		for d <= 0 {
			d = now().Sub(start)
		}
		if shortest == 0 || d < shortest {
			shortest = d
		}
	}
	return shortest
}
