package bench

import (
	"testing"
	"time"
)

func TestTimeLeft(t *testing.T) {
	const estimate = time.Minute
	for _, tc := range []struct {
		share   float64
		elapsed time.Duration
		want    time.Duration
	}{
		{0, 0, time.Minute},
		{0, 2 * time.Minute, 0},
		{0.5, 30 * time.Second, 30 * time.Second}, // as was forecast
		{0.5, 60 * time.Second, 45 * time.Second}, // slower: a minute by its own measure
		{0.001, 30 * time.Second, 90 * time.Second},
		{1, 2 * time.Minute, 0},
		{1.1, 2 * time.Minute, 0},
	} {
		got := timeLeft(tc.share, estimate, tc.elapsed)
		if d := got - tc.want; d < -time.Second || d > time.Second {
			t.Errorf("%v done after %v: %v left, want about %v", tc.share, tc.elapsed, got, tc.want)
		}
	}
}
