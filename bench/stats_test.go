package bench

import (
	"math"
	"testing"
)

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
