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
		at, q := energy(x)
		if at == 0 {
			return
		}
		orders := int(2 / level)
		asExtreme := 1
		for range orders - 1 {
			rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			if _, other := energy(x); other >= q {
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

// energy returns the split with the largest energy statistic.
func energy(x []float64) (at int, best float64) {
	n := len(x)
	// sums[i][j] is the sum of the distances among x[:i] and x[:j].
	sums := make([][]float64, n+1)
	sums[0] = make([]float64, n+1)
	for i := range n {
		sums[i+1] = make([]float64, n+1)
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
		t.Skip("hundreds of histories")
	}
	const histories, points, level = 30, 60, 0.05 / 20
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
				for _, s := range splits(h.Series[0].Values, level, 20, rng) {
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
			t.Logf("%s in %s noise: %d, E-divisive %d of %d", change.name, name, a, b, histories)
			ours, theirs = ours+a, theirs+b
		}
	}
	if ours < theirs {
		t.Errorf("%d changes found, and %d by E-divisive", ours, theirs)
	}
}
