package deviation

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	r := []float64{3, 4}
	s := Of([]float32{3, 4.5}, r)
	if s != (Sum{Error: 0.25, Signal: 25, MaxAbs: 0.5}) || s.NMSE() != 0.01 {
		t.Errorf("%+v, %v", s, s.NMSE())
	}
	s.Add(Of([]float64{-1}, []float32{0}))
	if s != (Sum{Error: 1.25, Signal: 25, MaxAbs: 1}) || s.NMSE() != 0.05 {
		t.Errorf("%+v, %v", s, s.NMSE())
	}
}

func TestNMSEOfNothing(t *testing.T) {
	if got := Of([]float32{0, 0}, []float32{0, 0}).NMSE(); got != 0 {
		t.Errorf("equals differ by %v", got)
	}
	if got := Of([]float32{1}, []float32{0}).NMSE(); !math.IsInf(got, 1) {
		t.Errorf("something in the place of nothing differs by %v", got)
	}
	nan := Of([]float32{1, float32(math.NaN())}, []float32{1, 2})
	if !math.IsNaN(nan.NMSE()) || !math.IsNaN(nan.MaxAbs) {
		t.Errorf("a NaN is lost: %+v", nan)
	}
}

// By hand: of (3/4, 1/4) and (1/2, 1/2), with any constant in the logits.
func TestPrediction(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-6) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	p := Predict([]float32{2 + float32(math.Log(3)), 2})
	q := Predict([]float32{-7, -7})
	near("NLL", p.NLL(1), math.Log(4))
	near("norm", q.Norm, -7+math.Ln2)
	near("divergence of equals", q.Divergence(q), 0)
	near("divergence", q.Divergence(p), math.Log(2/math.Sqrt(3)))
	q.Floor = -math.Ln2
	near("divergence below the floor", q.Divergence(p), 0)
	if bad := Predict([]float32{0, float32(math.NaN())}).Norm; !math.IsNaN(bad) {
		t.Errorf("a NaN is lost: %v", bad)
	}
}

func TestShare(t *testing.T) {
	if lo, hi := Share(0, 100); lo != 0 || math.Abs(hi-0.037) > 0.001 {
		t.Errorf("0 of 100: %v to %v", lo, hi)
	}
	if lo, hi := Share(0, 0); lo != 0 || hi != 1 {
		t.Errorf("of none: %v to %v", lo, hi)
	}
}
