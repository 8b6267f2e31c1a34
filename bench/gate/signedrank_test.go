package gate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The critical values are those of Hollander, Wolfe and Chicken's table A.4:
// P(T ≥ 49) = 0.014 for n = 10 is P(T ≤ 6), and so on. Small cases by hand: of
// the 8 signs of three differences one has the sum 0, one 1, one 2 and two 3.
func TestCriticalRank(t *testing.T) {
	for _, c := range []struct {
		n     int
		alpha float64
		want  int
	}{
		{3, 0.1, 0}, {3, 0.125, 1}, {3, 0.25, 2}, {3, 0.374, 2}, {3, 0.375, 3}, {3, 0.625, 4},
		{5, 1.0 / 32, 1}, {5, 1.0/32 - 1e-9, 0},
		{10, 0.0137, 7}, {10, 0.025, 9}, {20, 0.025, 53},
	} {
		if got := criticalRank(c.n, c.alpha); got != c.want {
			t.Errorf("criticalRank(%d, %v) = %d, want %d", c.n, c.alpha, got, c.want)
		}
	}
}

func TestHodgesLehmann(t *testing.T) {
	in := hodgesLehmann([]float64{1, 2, 6}, 0.125)
	if want := (Interval{2.75, 1, 6}); in != want { // 1 1.5 2 | 3.5 4 6: the middle of 2 and 3.5
		t.Errorf("got %v, want %v", in, want)
	}
	if in := hodgesLehmann([]float64{1, 2, 6}, 0.1); !math.IsInf(in.Lo, -1) || !math.IsInf(in.Hi, 1) {
		t.Errorf("three differences bound nothing at 10%%, got %v", in)
	}
}

// The bounds hold with heavy tails, for which a t-interval is too wide or too
// narrow.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const runs, alpha = 4000, 0.02
	below, above := 0, 0
	for range runs {
		d := make([]float64, 15)
		for i := range d {
			d[i] = cauchy(rng)
		}
		in := hodgesLehmann(d, alpha)
		if in.Lo > 0 {
			above++
		}
		if in.Hi < 0 {
			below++
		}
	}
	// Three standard deviations of a binomial count.
	limit := runs*alpha + 3*math.Sqrt(runs*alpha)
	if float64(below) > limit || float64(above) > limit || below == 0 || above == 0 {
		t.Errorf("the truth is below the interval in %d and above in %d of %d, want at most %.0f of each", above, below, runs, limit)
	}
}

func cauchy(rng *rand.Rand) float64 { return math.Tan(math.Pi * (rng.Float64() - 0.5)) }
