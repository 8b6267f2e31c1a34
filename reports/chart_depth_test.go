package reports

import (
	"math"
	"testing"
)

func TestDepthCost(t *testing.T) {
	for _, c := range []struct {
		first, last [2]float64
		want        string
	}{
		// 20 ms a token, and 28 ms behind 4000 more.
		{[2]float64{0, 50}, [2]float64{4000, 1 / 0.028}, "; every 1000 tokens before it make a token take 2.00 ms longer"},
		{[2]float64{1000, 50}, [2]float64{2000, 50}, ""}, // no slower
		{[2]float64{1000, 50}, [2]float64{2000, 60}, ""}, // faster
		{[2]float64{1000, 50}, [2]float64{1000, 40}, ""}, // one depth
		{[2]float64{0, 50}, [2]float64{1000, 0}, ""},     // no rate
		{[2]float64{0, math.NaN()}, [2]float64{1000, 5}, ""},
	} {
		if got := depthCost(c.first, c.last); got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.first, c.last, got, c.want)
		}
	}
}
