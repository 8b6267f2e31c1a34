package perplexity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The interval of the divergence holds the true mean about as often as it
// says, also for few positions and skewed divergences. The normal interval of
// the mean holds it in 87% of texts of 16 positions that are as skewed as the
// second distribution here.
func TestKLDIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name   string
		draw   func() float64
		mean   float64
		atMost float64 // share of texts in which the interval misses
	}{
		{"exponential", rng.ExpFloat64, 1, 0.08},
		{"log-normal", func() float64 { return math.Exp(0.8 * rng.NormFloat64()) }, math.Exp(0.32), 0.09},
	} {
		for _, n := range []int{16, 32, 128} {
			const texts = 4000
			missed := 0
			for range texts {
				var e Estimate
				for range n {
					e.KLD.add(1e-4 * test.draw())
				}
				if lo, hi := e.KLDInterval(); lo > 1e-4*test.mean || hi < 1e-4*test.mean {
					missed++
				}
			}
			if share := float64(missed) / texts; share > test.atMost || share < 0.03 {
				t.Errorf("%s, %d positions: the interval misses the mean in %.1f%% of texts", test.name, n, 100*share)
			}
		}
	}
}

func TestKLDIntervalEnds(t *testing.T) {
	var e Estimate
	if lo, hi := e.KLDInterval(); lo != 0 || !math.IsInf(hi, 1) {
		t.Errorf("of nothing: %v to %v", lo, hi)
	}
	e.KLD.add(2e-4)
	if lo, hi := e.KLDInterval(); lo != 0 || !math.IsInf(hi, 1) {
		t.Errorf("of one position: %v to %v", lo, hi)
	}
	e.KLD.add(2e-4)
	if lo, hi := e.KLDInterval(); lo != 2e-4 || hi != 2e-4 {
		t.Errorf("of equal positions: %v to %v", lo, hi)
	}
	var rounding Estimate
	for _, v := range []float64{-2e-17, 1e-17, -1e-17} {
		rounding.KLD.add(v)
	}
	if lo, hi := rounding.KLDInterval(); !(lo < 0 && hi > 0) {
		t.Errorf("of rounding: %v to %v", lo, hi)
	}
}

// The figures are of Newcombe, Statistics in Medicine 17 (1998), table I,
// method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
func TestShareIntervals(t *testing.T) {
	for _, test := range []struct {
		yes, n int
		want   string
	}{
		{81, 263, "0.2553 0.3662"}, {15, 148, "0.0624 0.1605"}, {0, 20, "0.0000 0.1611"}, {1, 29, "0.0061 0.1718"},
	} {
		var e Estimate
		for i := range test.n {
			share := 0.0
			if i < test.yes {
				share = 1
			}
			e.SameTop.add(share)
			e.Top5.add(share)
		}
		lo, hi := e.SameTopInterval()
		if got := fmt.Sprintf("%.4f %.4f", lo, hi); got != test.want {
			t.Errorf("%d of %d: %s, want %s", test.yes, test.n, got, test.want)
		}
		if lo5, hi5 := e.Top5Interval(); lo5 != lo || hi5 != hi {
			t.Errorf("%d of %d: %v to %v for the five likeliest, %v to %v for the likeliest", test.yes, test.n, lo5, hi5, lo, hi)
		}
	}
	if lo, hi := (Estimate{}).SameTopInterval(); lo != 0 || hi != 1 {
		t.Errorf("of nothing: %v to %v", lo, hi)
	}
}
