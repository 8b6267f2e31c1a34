package history

import (
	"math"
	"math/rand/v2"
	"testing"
)

// edivisive finds splits as Matteson and James (JASA 2014) do: energy distances
// with exponent 1 between all pairs, the best split of all beginnings of a
// segment, significance by permutation. It is what splits is measured against.
func edivisive(values []float64, level float64, rng *rand.Rand) (found []int) {
	var search func(from, to int)
	search = func(from, to int) {
		x := append([]float64{}, values[from:to]...)
		table := newSums(len(x))
		at, q := table.energy(x)
		if at == 0 {
			return
		}
		orders := int(2 / level)
		asExtreme := 1
		for range orders - 1 {
			rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			if _, other := table.energy(x); other >= q {
				if asExtreme++; float64(asExtreme)/float64(orders) > level {
					return
				}
			}
		}
		found = append(found, from+at)
		search(from, from+at)
		search(from+at, to)
	}
	search(0, len(values))
	return found
}

// sums has at [i][j] the sum of the distances between x[:i] and x[:j].
type sums [][]float64

func newSums(n int) sums {
	s := make(sums, n+1)
	for i := range s {
		s[i] = make([]float64, n+1)
	}
	return s
}

// energy returns the split with the largest energy statistic.
func (sums sums) energy(x []float64) (at int, best float64) {
	n := len(x)
	for i := range n {
		row := 0.0
		for j := range n {
			row += math.Abs(x[i] - x[j])
			sums[i+1][j+1] = sums[i][j+1] + row
		}
	}
	for k := leastSegment; k <= n-leastSegment; k++ {
		for end := k + leastSegment; end <= n; end++ {
			a, b := float64(k), float64(end-k)
			within := sums[k][k] / 2
			between := sums[k][end] - sums[k][k]
			beyond := (sums[end][end] - 2*sums[k][end] + sums[k][k]) / 2
			q := a * b / (a + b) * (2/(a*b)*between - within/(a*(a-1)/2) - beyond/(b*(b-1)/2))
			if q > best {
				at, best = k, q
			}
		}
	}
	return at, best
}

// TestAgainstEDivisive gives both the same series at the level that one of 20
// has. Over all kinds of noise and change, splits finds at least as much.
func TestAgainstEDivisive(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of histories")
	}
	const points, level = 60, 0.05 / 20
	histories := simulations(30)
	ours, theirs := 0, 0
	for _, change := range []struct {
		name  string
		from  int
		until int
	}{{"step", 30, points}, {"late step", 52, points}, {"bump", 22, 40}} {
		for _, name := range []string{"normal", "t2", "outliers"} {
			rng := rand.New(rand.NewPCG(5, 6))
			a, b := 0, 0
			for range histories {
				h := simulated(rng, 1, points, 0.02, noises[name], func(_, p int) float64 {
					if p >= change.from && p < change.until {
						return 1.05
					}
					return 1
				})
				near := func(at int) bool { return abs(at-change.from) <= 5 }
				for _, s := range splits(t.Context(), h.Series[0].Values, level, 20, rng) {
					if near(s.at) {
						a++
						break
					}
				}
				for _, at := range edivisive(h.Series[0].Values, level, rng) {
					if near(at) {
						b++
						break
					}
				}
			}
			ours, theirs = ours+a, theirs+b
		}
	}
	if ours < theirs {
		t.Errorf("%d changes found, and %d by E-divisive", ours, theirs)
	}
}
