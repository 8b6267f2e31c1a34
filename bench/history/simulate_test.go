package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
)

// simulations is how many of n simulated histories a test looks at: a tenth, or all
// under ONEBIT_ALL.
func simulations(n int) int {
	if require.All() {
		return n
	}
	return n / 10
}

// A deviate draws relative deviations, of a size of about 1.
type deviate func(rng *rand.Rand) float64

// noises are what benchmarks on shared machines show: some days are far off.
var noises = map[string]deviate{
	"normal":   func(rng *rand.Rand) float64 { return rng.NormFloat64() },
	"t2":       func(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) },
	"bimodal":  func(rng *rand.Rand) float64 { return 6*float64(rng.IntN(2)) + rng.NormFloat64() },
	"outliers": func(rng *rand.Rand) float64 { return rng.NormFloat64() + 20*float64(rng.IntN(10)/9) },
}

// simulated is a history of series with noise around a level that depends on the
// series and the point.
func simulated(rng *rand.Rand, series, points int, sigma float64, draw deviate, level func(series, point int) float64) *History {
	h := &History{Points: make([]Point, points)}
	for i := range series {
		s := Series{Case: Case{Name: fmt.Sprint("Case", i), Unit: "ns/op"}, Better: -1}
		for p := range points {
			s.At, s.Files = append(s.At, int32(p)), append(s.Files, 1)
			s.Values = append(s.Values, 1000*level(i, p)*math.Exp(sigma*draw(rng)))
		}
		h.Series = append(h.Series, s)
	}
	return h
}

func flat(int, int) float64 { return 1 }

func trends(t testing.TB, h *History) *Trends {
	t.Helper()
	found, err := h.Trends(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestFalseAlarms simulates histories in which nothing changes. The level is 5%: if
// it is kept, 400 histories have more than 33 alarms, and 40 more than 6, with a
// chance of 1 in 300 to 400.
func TestFalseAlarms(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	if testing.Short() {
		t.Skip("dozens of histories")
	}
	histories, most := simulations(400), 6
	if require.All() {
		most = 33
	}
	for name, draw := range noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			alarms := 0
			for range histories {
				h := simulated(rng, 10, 60, 0.02, draw, flat)
				if len(trends(t, h).Changes) > 0 {
					alarms++
				}
			}
			if alarms > most {
				t.Errorf("%d of %d histories without a change have one: more than 5%%", alarms, histories)
			}
		})
	}
}

// TestDetection simulates a change in one of 20 series and looks for it, and for
// nothing else.
func TestDetection(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	if testing.Short() {
		t.Skip("dozens of histories")
	}
	step := func(at int, by float64) func(int, int) float64 {
		return func(series, point int) float64 {
			if series == 7 && point >= at {
				return by
			}
			return 1
		}
	}
	bump := func(series, point int) float64 {
		if series == 7 && point >= 30 && point < 45 {
			return 1.05
		}
		return 1
	}
	for _, c := range []struct {
		name   string
		noise  string
		points int
		level  func(int, int) float64
		at     []int
		least  int // of 100 histories
		tenth  int // least of 10: where least of 100 are found on average, fewer are in 1 run of 200 at most
	}{
		{"step in the middle", "normal", 60, step(30, 1.05), []int{30}, 99, 9},
		{"heavy tails", "t2", 60, step(30, 1.05), []int{30}, 75, 4},
		{"outliers", "outliers", 60, step(30, 1.05), []int{30}, 90, 6},
		{"faster", "normal", 60, step(20, 0.95), []int{20}, 99, 9},
		{"at the end", "normal", 200, step(193, 1.05), []int{193}, 90, 6},
		{"came back", "normal", 80, bump, []int{30, 45}, 80, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, 4))
			found, extra := 0, 0
			histories, least, most := simulations(100), c.tenth, 3
			if require.All() {
				least, most = c.least, 12
			}
			for range histories {
				h := simulated(rng, 20, c.points, 0.02, noises[c.noise], c.level)
				near := 0
				for _, x := range trends(t, h).Changes {
					hit := false
					for _, at := range c.at {
						hit = hit || x.Series == 7 && abs(x.After.From-at) <= 5
					}
					if hit {
						near++
					} else {
						extra++
					}
				}
				if near == len(c.at) {
					found++
				}
			}
			if found < least || extra > most {
				t.Errorf("found in %d of %d histories, want %d; %d changes where there are none, want %d at most", found, histories, least, extra, most)
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }
