package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
)

// TestAlike simulates noise of which a part carries over to the next point, as
// where a machine drifts: that is measured, for there are more false alarms then.
func TestAlike(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	for _, carried := range []float64{0, 0.3, 0.6} {
		rng := rand.New(rand.NewPCG(9, 10))
		alike, histories := 0.0, simulations(100)
		for range histories {
			last := 0.0
			h := simulated(rng, 10, 60, 0.02, func(rng *rand.Rand) float64 {
				last = carried*last + math.Sqrt(1-carried*carried)*rng.NormFloat64()
				return last
			}, flat)
			alike += trends(t, h).Alike / float64(histories)
		}
		if low, high := carried/2-0.1, carried+0.1; alike < low || alike > high {
			t.Errorf("carried %v: alike %.2f, want %.2f to %.2f", carried, alike, low, high)
		}
	}
}

// TestCommon moves most series at one point, as another machine would.
func TestCommon(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	h := simulated(rng, 8, 60, 0.01, noises["normal"], func(series, point int) float64 {
		if series < 6 && point >= 40 {
			return 1.2
		}
		return 1
	})
	h.Points[39].GoVersion, h.Points[40].GoVersion = "go1.25", "go1.26"
	want := Common{Point: 40, Changed: 6, Of: 8, Up: true, GoVersionMoved: true}
	if got := trends(t, h).Common; len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestExactUnit changes a computed value once, which needs no statistics, and
// another at almost every point, which is no computed value.
func TestExactUnit(t *testing.T) {
	s := Series{Exact: true, Better: -1, Case: Case{Unit: "nmse"}}
	for i := range 12 {
		s.At, s.Files = append(s.At, int32(i)), append(s.Files, 1)
		s.Values = append(s.Values, 1+float64(i/11))
	}
	restless := s
	restless.Values = []float64{1, 2, 1, 2, 3, 1, 2, 1, 3, 1, 2, 1}
	zero := s
	zero.Values = append(make([]float64, 11), 3)
	h := &History{Points: make([]Point, 12), Series: []Series{s, restless, zero}}
	changes := trends(t, h).Changes
	if len(changes) != 2 || h.Tested() != 1 {
		t.Fatalf("%d changes, %d tested: %+v", len(changes), h.Tested(), changes)
	}
	if c := changes[1]; c.Ratio != 2 || c.Lo != 2 || c.After.From != 11 || c.Worth != -1 || c.P != 0 {
		t.Errorf("%+v", c)
	}
	if c := changes[0]; !math.IsNaN(c.Ratio) || c.Before.Level != 0 || c.After.Level != 3 {
		t.Errorf("from zero: %+v", c)
	}
}

// TestShift compares the interval with one counted by hand: of 3×5 differences,
// the exact rank-sum test at 2.5% a side leaves none outside (1/56 is less, 2/56
// is more).
func TestShift(t *testing.T) {
	center, lo, hi := shift([]float64{1, 2, 3}, []float64{11, 12, 13, 14, 15})
	if abs := math.Abs(center-11) + math.Abs(lo-8) + math.Abs(hi-14); abs > 1e-9 {
		t.Errorf("%v, %v to %v; want 11, 8 to 14", center, lo, hi)
	}
	if _, lo, hi := shift([]float64{1, 2, 3}, []float64{11, 12, 13}); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
		t.Errorf("%v to %v of 3 and 3 values, of which none is known", lo, hi)
	}
	a, b := make([]float64, 400), make([]float64, 300)
	for i := range a {
		a[i] = float64(i)
	}
	for i := range b {
		b[i] = float64(i) + 100
	}
	if center, lo, hi := shift(a, b); math.Abs(center-50) > 1 || lo > 50 || hi < 50 || hi-lo > 60 || hi-lo < 10 {
		t.Errorf("%v, %v to %v", center, lo, hi)
	}
}

// TestShuffled counts few alarms in shuffled histories, also of one that has a
// change.
func TestShuffled(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	rng := rand.New(rand.NewPCG(13, 14))
	h := simulated(rng, 10, 40, 0.02, noises["t2"], func(series, point int) float64 { return 1 + 0.2*float64(point/20) })
	if len(trends(t, h).Changes) == 0 {
		t.Error("no change")
	}
	// Of the 5% that may be alarmed, 20 have more than 4 once in 400 times.
	n, most := simulations(200), 4
	if require.All() {
		most = 20
	}
	s, err := h.Shuffled(t.Context(), n, Options{})
	if share := float64(s.Alarmed) / float64(n); err != nil || s.Histories != n || s.Alarmed > most || s.Lo > share || s.Hi < share {
		t.Errorf("%+v, %v", s, err)
	}
}
