package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A noise draws relative deviations, of a size of about 1.
type noise func(rng *rand.Rand) float64

// noises are what benchmarks on shared machines show: some days are far off.
var noises = map[string]noise{
	"normal":   func(rng *rand.Rand) float64 { return rng.NormFloat64() },
	"t2":       func(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) },
	"bimodal":  func(rng *rand.Rand) float64 { return 6*float64(rng.IntN(2)) + rng.NormFloat64() },
	"outliers": func(rng *rand.Rand) float64 { return rng.NormFloat64() + 20*float64(rng.IntN(10)/9) },
}

// simulated is a history of series with noise around a level that depends on the
// series and the point.
func simulated(rng *rand.Rand, series, points int, sigma float64, draw noise, level func(series, point int) float64) *History {
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

// TestFalseAlarms simulates histories in which nothing changes. The level is 5%,
// and 400 histories have more than 33 alarms with a chance of 1 in 400 if it is
// kept.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of histories")
	}
	for name, draw := range noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			alarms := 0
			for range 400 {
				h := simulated(rng, 10, 60, 0.02, draw, flat)
				if len(trends(t, h).Changes) > 0 {
					alarms++
				}
			}
			t.Logf("%d of 400 histories of 10 series have a change", alarms)
			if alarms > 33 {
				t.Errorf("%d of 400 histories without a change have one: more than 5%%", alarms)
			}
		})
	}
}

// TestDetection simulates a change in one of 20 series and looks for it, and for
// nothing else.
func TestDetection(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of histories")
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
	}{
		{"step in the middle", "normal", 60, step(30, 1.05), []int{30}, 99},
		{"heavy tails", "t2", 60, step(30, 1.05), []int{30}, 75},
		{"outliers", "outliers", 60, step(30, 1.05), []int{30}, 90},
		{"faster", "normal", 60, step(20, 0.95), []int{20}, 99},
		{"at the end", "normal", 200, step(193, 1.05), []int{193}, 90},
		{"came back", "normal", 80, bump, []int{30, 45}, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, 4))
			found, extra := 0, 0
			for range 100 {
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
			t.Logf("found in %d of 100, and %d others", found, extra)
			if found < c.least || extra > 12 {
				t.Errorf("found in %d of 100 histories, want %d; %d changes where there are none", found, c.least, extra)
			}
		})
	}
}

func abs(n int) int { return max(n, -n) }
