package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
)

// Of 0, 1, 2, 3 and 100 one value is left out at either end. With these at the ends
// of what is left there are 1, 1, 2, 3 and 3: squares of 4 around 2, by 3 times 2.
func TestTrimmedMeanByHand(t *testing.T) {
	if got, want := trimmedMean([]float64{100, 1, 3, 2, 0}), (shift{2, 4.0 / 6, 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Where noise has heavy tails, and a factor that a round's values share, the interval
// misses the truth no more often than it says.
func TestIntervalHoldsTheTruth(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	rng := rand.New(rand.NewPCG(4, 1))
	const runs, alpha, truth = 2000, 0.05, 0.05
	low, high, width := 0, 0, 0.0
	for range runs {
		rounds := make(triples, 12)
		for i := range rounds {
			drift := 0.01 * rng.NormFloat64()
			for side := range 3 {
				rounds[i][side] = drift + 0.01*rng.NormFloat64()
				if rng.Float64() < 0.1 {
					rounds[i][side] += math.Abs(0.1 * cauchy(rng))
				}
			}
			rounds[i][Head] += truth
		}
		in := rounds.shift().interval(alpha)
		width += (in.Hi - in.Lo) / runs
		if in.Lo > truth {
			low++
		}
		if in.Hi < truth {
			high++
		}
	}
	if limit := runs*alpha + 3*math.Sqrt(runs*alpha); float64(low) > limit || float64(high) > limit {
		t.Errorf("%d and %d of %d intervals are above and below the truth, want no more than %.0f", low, high, runs, limit)
	}
	if width > 0.03 {
		t.Errorf("intervals are %.4f wide in the mean, want no more than 0.03", width)
	}
}

// The interval ends where the chances of what is beyond it are alpha; that of values
// most of which are equal is a point.
func TestIntervalEnds(t *testing.T) {
	rounds := triples{{0, 0.05, 0.01}, {0.02, 0.08, -0.01}, {-0.01, 0.04, 0}, {0.01, 0.07, 0.01}, {0, 0.06, 0.02}, {0.01, 0.05, 0}}
	s := rounds.shift()
	in := s.interval(0.05)
	if math.Abs(s.above(in.Lo)-0.05) > 1e-6 || math.Abs(s.below(in.Hi)-0.05) > 1e-6 || in.Lo >= in.Center || in.Hi <= in.Center {
		t.Errorf("%+v: chances %v and %v at its ends", in, s.above(in.Lo), s.below(in.Hi))
	}
	equal := triples{{1, 2, 1}, {1, 2, 1}, {1, 2, 3}}.shift()
	if in := equal.interval(0.05); in != (Interval{1, 1, 1}) || equal.below(1.5) != 0 || equal.below(0.5) != 1 {
		t.Errorf("mostly equal values: %+v, chances %v and %v", in, equal.below(1.5), equal.below(0.5))
	}
}
