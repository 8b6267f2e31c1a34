package math32

import (
	"math"
	"testing"
)

func TestExp2(t *testing.T) {
	worst := 0.0
	for x := float32(0); x >= -125; x -= 0.0037 {
		got, want := float64(Exp2(x)), math.Exp2(float64(x))
		worst = max(worst, math.Abs(got-want)/want)
		if got > 1 {
			t.Errorf("2^%v = %v", x, got)
		}
	}
	if worst > 4e-6 {
		t.Errorf("relative error %g", worst)
	}
	for _, tt := range []struct{ x, want float32 }{
		{0, 1},
		{-1, 0.5},
		{-125, 0x1p-125},
		{-125.5, 0},
		{float32(math.Inf(-1)), 0},
	} {
		if got := Exp2(tt.x); got != tt.want {
			t.Errorf("2^%v = %v, want %v", tt.x, got, tt.want)
		}
	}
	if y := Exp2(float32(math.NaN())); y == y {
		t.Errorf("2^NaN = %v", y)
	}
}
