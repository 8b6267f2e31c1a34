package clock

import (
	"testing"
	"time"
)

func TestTicksOfADayDoNotOverflow(t *testing.T) {
	for _, hertz := range []int64{10_000_000, 3_579_545, 2_596_000_000} {
		const days = 400 * 24 * 3600
		if got, want := duration(days*hertz+hertz/2, hertz), days*time.Second+time.Duration(hertz/2*int64(time.Second)/hertz); got != want {
			t.Errorf("%d Hz: %v, want %v", hertz, got, want)
		}
	}
}
