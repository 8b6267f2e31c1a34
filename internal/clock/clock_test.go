package clock

import (
	"testing"
	"time"
)

// coarse is a clock that shows every step-th of a time that passes by a
// microsecond per reading.
func coarse(step time.Duration) func() time.Time {
	t := time.Unix(1_700_000_000, 123456)
	return func() time.Time {
		t = t.Add(time.Microsecond)
		return t.Truncate(step)
	}
}

func TestMeasure(t *testing.T) {
	for _, step := range []time.Duration{time.Microsecond, 500 * time.Microsecond, 15 * time.Millisecond} {
		if got := Measure(coarse(step)); got != step {
			t.Errorf("a clock of %v is measured as one of %v", step, got)
		}
	}
}

// TestClock holds this machine's clock to what figures need of it; how fine it is
// is the machine's.
func TestClock(t *testing.T) {
	if s := Step(); s <= 0 {
		t.Errorf("the clock advances by %v", s)
	}
	last := Now()
	for range 1000 {
		now := Now()
		if now.Before(last) {
			t.Fatalf("%v after %v", now, last)
		}
		last = now
	}
	start, wall := Now(), time.Now()
	for Since(start) < 20*time.Millisecond {
	}
	if d := time.Since(wall); d < 10*time.Millisecond {
		t.Errorf("20 ms lasted %v by the system's clock", d)
	}
}

// Profiles read the clock around every operation.
func TestReadingAllocatesNothing(t *testing.T) {
	var d time.Duration
	if n := testing.AllocsPerRun(100, func() { d += Since(Now()) }); n != 0 {
		t.Errorf("%v allocations, and %v", n, d)
	}
}
