package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// noisy makes the samples of A/A pairs whose logarithms are normal with the
// given deviation.
func noisy(rng *rand.Rand, pairs, rounds int, sigma float64) *Results {
	r := &Results{}
	for p := range pairs {
		for range rounds {
			for _, arm := range []string{"a", "b"} {
				ns := 1000 * math.Exp(sigma*rng.NormFloat64())
				name := ParseName(armName(fmt.Sprintf("MatVec/rows=%d", p), arm))
				r.Samples = append(r.Samples, Sample{Name: name, Iters: 1, Values: []Metric{{NsPerOp, ns}}})
			}
		}
	}
	return r
}

// The median of n normal samples has the deviation σ·sqrt(π/2n), for large n;
// a difference of two, √2 times that; and 1.96 of these are exceeded in one
// case out of twenty.
func expectedFloor(rounds int, sigma float64) float64 {
	return math.Expm1(1.96 * math.Sqrt2 * sigma * math.Sqrt(math.Pi/2/float64(rounds)))
}

func TestNoiseFloorFindsTheNoise(t *testing.T) {
	rng := newRand(42)
	for _, sigma := range []float64{0.001, 0.05} {
		const rounds = 21
		n, ok := noisy(rng, 30, rounds, sigma).Noise()
		want := expectedFloor(rounds, sigma)
		if !ok || n.Pairs != 30 || n.Floor < 0.8*want || n.Floor > 1.2*want {
			t.Errorf("σ %v: %+v, want a floor near %v", sigma, n, want)
		}
		if n.Lo >= n.Hi || n.Floor < 0.9*n.Lo || n.Floor > 1.1*n.Hi {
			t.Errorf("σ %v: interval %v to %v does not fit %v", sigma, n.Lo, n.Hi, n.Floor)
		}
	}
}

// TestNoiseFloorIsExceededOnceInTwenty takes the floor from a few pairs, as a
// run does, and asks how often further comparisons of identical code exceed it.
func TestNoiseFloorIsExceededOnceInTwenty(t *testing.T) {
	rng := newRand(43)
	const sigma, rounds = 0.02, 10
	beyond, all := 0, 0
	for range 10 {
		limit := floor(rng, noisy(rng, 8, rounds, sigma).pairs(), 4000)
		for _, p := range noisy(rng, 200, rounds, sigma).pairs() {
			all++
			if fraction(p.difference()) > limit {
				beyond++
			}
		}
	}
	if share := float64(beyond) / float64(all); share < 0.025 || share > 0.075 {
		t.Errorf("identical code exceeded the floor in %.1f%% of comparisons, want about 5%%", 100*share)
	}
}

func TestNoiseIgnoresWhatIsNoPair(t *testing.T) {
	r := &Results{}
	add := func(name string, ns float64) {
		r.Samples = append(r.Samples, Sample{Name: ParseName(name), Iters: 1, Values: []Metric{{NsPerOp, ns}}})
	}
	add("MatVec/rows=1", 5)
	add("AA/MatVec/rows=1/arm=a", 100)
	if n, ok := r.Noise(); ok {
		t.Errorf("one arm gives %+v", n)
	}
	add("AA/MatVec/rows=1/arm=b", 110)
	add("AA/MatVec/rows=1/arm=a", 900) // the round was interrupted
	n, ok := r.Noise()
	if !ok || n.Pairs != 1 || math.Abs(n.Worst-0.1) > 1e-12 || math.Abs(n.Floor-0.1) > 1e-12 {
		t.Errorf("%+v, want one pair 10%% apart", n)
	}
	if s := r.Series(NsPerOp); len(s) != 1 || s[0].Name.Full != "MatVec/rows=1" {
		t.Errorf("series include an arm: %+v", s)
	}
}

func TestSummary(t *testing.T) {
	// For 6 samples, the 95% interval of the median is the whole range: it
	// misses with probability 2·(1/2)⁶ = 3.1%.
	s := Series{Unit: NsPerOp, Values: []float64{9, 5, 6, 8, 7, 4}}.Summary()
	if s.Center != 6.5 || s.Lo != 4 || s.Hi != 9 || len(s.Warnings) != 0 {
		t.Errorf("%+v", s)
	}
	s = Series{Unit: NsPerOp, Values: []float64{5, 6, 7}}.Summary()
	if s.Center != 6 || !math.IsInf(s.Hi, 1) || len(s.Warnings) != 1 {
		t.Errorf("3 samples: %+v", s)
	}
	s = Series{Unit: NMSE, Values: []float64{3e-9, 3e-9}}.Summary()
	if s.Center != 3e-9 || s.Lo != 3e-9 || s.Hi != 3e-9 || len(s.Warnings) != 0 {
		t.Errorf("exact: %+v", s)
	}
}

func TestCompare(t *testing.T) {
	rng := newRand(44)
	series := func(center float64) Series {
		s := Series{Unit: NsPerOp}
		for range 12 {
			s.Values = append(s.Values, center*math.Exp(0.01*rng.NormFloat64()))
		}
		return s
	}
	covered := 0
	for range 100 {
		if r := Compare(series(1000), series(1250)); r.Lo <= 1.25 && 1.25 <= r.Hi {
			covered++
		}
	}
	if covered < 90 {
		t.Errorf("the 95%% interval held the true ratio %d times in 100", covered)
	}
	old, new := series(1000), series(1250)
	r := Compare(old, new)
	if r.P > 0.001 || r.Lo <= 1.2 || r.Hi >= 1.3 || r.Lo > r.Value || r.Value > r.Hi {
		t.Errorf("25%% slower: %+v", r)
	}
	if again := Compare(old, new); again.Lo != r.Lo || again.Hi != r.Hi {
		t.Error("the same input gave another interval")
	}
	exact := Compare(Series{Unit: PackedBytes, Values: []float64{200}}, Series{Unit: PackedBytes, Values: []float64{100}})
	if exact.Value != 0.5 || exact.Lo != 0.5 || exact.Hi != 0.5 || exact.P != 0 {
		t.Errorf("exact: %+v", exact)
	}
	if empty := Compare(Series{Unit: NsPerOp}, old); !math.IsNaN(empty.Value) || len(empty.Warnings) != 1 {
		t.Errorf("empty: %+v", empty)
	}
}
