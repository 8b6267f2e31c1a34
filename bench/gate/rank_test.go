package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
)

// Of the 27 ways to give head one of three places in three rounds, one has it
// last in each; in one round, each sum has a third.
func TestChancesByHand(t *testing.T) {
	worst := triples{{0, 3, 1}, {0, 4, 1}, {0, 5, 1}}
	if large, small := worst.ranked().chances(); math.Abs(large-1.0/27) > 1e-12 || math.Abs(small-1) > 1e-12 {
		t.Errorf("head last in three rounds: %v and %v, want 1/27 and 1", large, small)
	}
	if large, small := (triples{{0, 1, 2}}).ranked().chances(); math.Abs(large-2.0/3) > 1e-12 || math.Abs(small-2.0/3) > 1e-12 {
		t.Errorf("head in the middle of one round: %v and %v, want 2/3 each", large, small)
	}
	equal := triples{{1, 1, 1}, {2, 2, 2}}
	if large, small := equal.ranked().chances(); large < 1-1e-12 || small < 1-1e-12 {
		t.Errorf("all values equal: %v and %v, want 1", large, small)
	}
}

// On identical sides whose noise is skewed and has heavy tails, with a factor
// that a round's values share, a chance below alpha comes in no more than alpha
// of the runs; and the interval misses the truth as seldom.
func TestRanksAreExact(t *testing.T) {
	require.Unplayed(t, "a simulation is the same on every machine")
	rng := rand.New(rand.NewPCG(3, 1))
	const runs, alpha, shift = 2000, 0.02, 0.7
	var large, small, missed int
	for range runs {
		rounds := make(triples, 12)
		for i := range rounds {
			drift := 5 * rng.NormFloat64()
			for side := range 3 {
				rounds[i][side] = drift + math.Abs(cauchy(rng))
			}
		}
		if rounds.above(0) <= alpha {
			large++
		}
		if rounds.below(0) <= alpha {
			small++
		}
		for i := range rounds {
			rounds[i][Head] += shift
		}
		if rounds.above(shift) <= alpha || rounds.below(shift) <= alpha {
			missed++
		}
	}
	limit := runs*alpha + 3*math.Sqrt(runs*alpha)
	if float64(large) > limit || float64(small) > limit || large == 0 || small == 0 {
		t.Errorf("%d and %d of %d runs, want no more than %.0f of each", large, small, runs, limit)
	}
	if missed != large+small {
		t.Errorf("with a shift the truth is refuted in %d runs, without in %d", missed, large+small)
	}
}

// What the looks and the claims spend is all there is.
func TestSpending(t *testing.T) {
	looks := 0.0
	for _, share := range spending {
		looks += share
	}
	if len(spending) != len(lookAt) || math.Abs(looks-1) > 1e-9 || math.Abs(slowerShare+fasterShare+controlShare-1) > 1e-9 {
		t.Errorf("looks spend %v, claims %v, want 1", looks, slowerShare+fasterShare+controlShare)
	}
}
