package clock

import (
	"testing"
	"time"
)

// Windows promises a counter of 0.3 µs or finer, where time.Now has 0.5 ms at best.
func TestStepIsTheCounters(t *testing.T) {
	if s := Step(); s >= 100*time.Microsecond {
		t.Errorf("the clock advances by %v", s)
	}
}

func TestTicksOfADayDoNotOverflow(t *testing.T) {
	for _, hertz := range []int64{10_000_000, 3_579_545, 2_596_000_000} {
		const days = 400 * 24 * 3600
		if got, want := duration(days*hertz+hertz/2, hertz), days*time.Second+time.Duration(hertz/2*int64(time.Second)/hertz); got != want {
			t.Errorf("%d Hz: %v, want %v", hertz, got, want)
		}
	}
}
