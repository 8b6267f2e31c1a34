package math32

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// FMA equals the exact result of big.Float, rounded once: also where both
// nearly cancel, where the sum lies beside the middle of two float32s, and
// where it is subnormal.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func(spread int) float32 {
		return float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(2*spread)-spread))
	}
	check := func(x, y, z float32) {
		t.Helper()
		product := new(big.Float).SetPrec(0).SetFloat64(float64(x) * float64(y))
		exact := new(big.Float).SetPrec(2000).Add(product, new(big.Float).SetFloat64(float64(z)))
		want, _ := exact.Float32()
		if got := FMA(x, y, z); got != want {
			t.Fatalf("FMA(%v, %v, %v) = %v, want %v", x, y, z, got, want)
		}
	}
	for range 100_000 {
		x, y := number(3), number(3)
		check(x, y, number(3))
		check(x, y, number(40))
		check(x, y, -x*y)
		check(number(70), number(70), number(149))
	}
	// 1 + 2⁻²⁴ is in the middle; the product tips it, from far below.
	tip := float32(math.Ldexp(1, -60))
	check(tip, tip, 1)
	check(1, 1+0x1p-23, 0x1p-24)
	check(1+0x1p-12, 1+0x1p-12, tip)
	check(1+0x1p-12, 1+0x1p-12, -tip)
	for _, tt := range [][3]float32{{float32(math.Inf(1)), 1, 1}, {1, 2, float32(math.Inf(-1))}, {math.MaxFloat32, 2, 0}} {
		if got, want := FMA(tt[0], tt[1], tt[2]), tt[0]*tt[1]+tt[2]; got != want {
			t.Errorf("FMA%v = %v, want %v", tt, got, want)
		}
	}
	for _, tt := range [][3]float32{{float32(math.Inf(1)), 0, 1}, {float32(math.NaN()), 1, 1}, {float32(math.Inf(1)), 1, float32(math.Inf(-1))}} {
		if got := FMA(tt[0], tt[1], tt[2]); got == got {
			t.Errorf("FMA%v = %v, want NaN", tt, got)
		}
	}
}
