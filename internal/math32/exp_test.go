package math32

import (
	"math"
	"testing"
)

func TestExp(t *testing.T) {
	worst := 0.0
	for x := float32(-87); x < 88; x += 0.0037 {
		want := math.Exp(float64(x))
		if e := math.Abs(float64(Exp(x))-want) / want; e > worst {
			worst = e
		}
	}
	if worst > 0x1p-22 { // 2 ulp
		t.Errorf("relative error %g", worst)
	}
	for _, tt := range []struct{ x, want float32 }{
		{0, 1},
		{float32(math.Inf(-1)), Exp(-87)},
		{-1000, Exp(-87)},
		{1000, Exp(88)},
	} {
		if got := Exp(tt.x); got != tt.want {
			t.Errorf("exp(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
	if y := Exp(float32(math.NaN())); y == y {
		t.Errorf("exp(NaN) = %v", y)
	}
}

func TestSoftplusAndSigmoid(t *testing.T) {
	for x := float32(-30); x < 100; x += 0.0037 {
		want := math.Max(float64(x), 0) + math.Log1p(math.Exp(-math.Abs(float64(x))))
		if e := math.Abs(float64(Softplus(x))-want) / max(want, 1); e > 3*0x1p-24 {
			t.Fatalf("softplus(%v) = %v, want %v", x, Softplus(x), want)
		}
		// For its own precision where it is small.
		if e := math.Abs(float64(Softplus(x))-want) / want; e > 0x1p-21 {
			t.Fatalf("softplus(%v) = %v, want %v", x, Softplus(x), want)
		}
		want = 1 / (1 + math.Exp(-float64(x)))
		if e := math.Abs(float64(Sigmoid(x))-want) / want; e > 0x1p-21 {
			t.Fatalf("σ(%v) = %v, want %v", x, Sigmoid(x), want)
		}
	}
	nan := float32(math.NaN())
	if y, z := Softplus(nan), Sigmoid(nan); y == y || z == z {
		t.Errorf("of NaN: %v and %v", y, z)
	}
}
