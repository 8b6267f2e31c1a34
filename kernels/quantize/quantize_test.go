//go:build !purego

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/guard"
	"onebit/internal/require"
)

// TestQuantizeAVX2 holds the quantizers to quantizeGeneric, bit for bit, in
// guarded memory.
func TestQuantizeAVX2(t *testing.T) {
	if m := cpu.Detected().Missing(AVX2.Requires); m != 0 {
		require.Skip(t, m.String(), "the quantizers need it")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	lengths := []int{1, 5, 31, 32, 33, 63, 64, 96, 127, 128, 129, 160, 255, 256, 257, 384, 1000, 2048}
	for _, scheme := range []Scheme{Q8Row, Q8Per128, Q8Per32} {
		for name, fill := range quantizeInputs {
			for _, cols := range lengths {
				const n = 2
				x := make([]float32, n*cols)
				fill(rng, x)
				want, got := Activations{}, Activations{Alloc: func(bytes int) []byte { return guard.New(t, bytes).Bytes() }}
				want.reset(scheme, x, n, cols)
				quantizeGeneric(&want, x, 0, n)
				in := guard.CopyReadOnly(t, x)
				got.reset(scheme, in, n, cols)
				for i := range got.Q {
					got.Q[i] = 99 // what has to be zero must be written
				}
				for i := range got.Sums {
					got.Sums[i] = 99
				}
				if err := guard.Catch(func() { quantizeSIMD(&got, in, 0, n) }); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s, %s, %d columns", scheme, name, cols)
				if !slices.Equal(got.Q, want.Q) {
					t.Fatalf("%s: q\n%v, want\n%v, x\n%v", what, got.Q, want.Q, x)
				}
				if !slices.Equal(got.Sums, want.Sums) {
					t.Fatalf("%s: sums %v, want %v", what, got.Sums, want.Sums)
				}
				for i, s := range want.Scales {
					if math.Float32bits(got.Scales[i]) != math.Float32bits(s) {
						t.Fatalf("%s: scale %d is %v (%#x), want %v (%#x)", what, i, got.Scales[i], math.Float32bits(got.Scales[i]), s, math.Float32bits(s))
					}
				}
			}
		}
	}
}

// quantizeInputs are random values and those that rounding and scaling are
// hard on.
var quantizeInputs = map[string]func(rng *rand.Rand, x []float32){
	"normal":     each(func(rng *rand.Rand) float32 { return float32(rng.NormFloat64()) }),
	"any bits":   each(func(rng *rand.Rand) float32 { return math.Float32frombits(rng.Uint32()) }),
	"zero":       each(func(rng *rand.Rand) float32 { return 0 }),
	"minus zero": each(func(rng *rand.Rand) float32 { return float32(math.Copysign(0, -1)) }),
	"subnormal":  each(func(rng *rand.Rand) float32 { return math.Float32frombits(rng.Uint32() >> 9) }),
	"smallest scale": each(func(rng *rand.Rand) float32 {
		return math.Float32frombits(math.Float32bits(127*0x1p-126) + rng.Uint32N(5) - 2)
	}),
	"largest":              each(func(rng *rand.Rand) float32 { return math.MaxFloat32 * float32(1-2*int(rng.UintN(2))) }),
	"scale overflows fp16": each(func(rng *rand.Rand) float32 { return 127 * (65500 + 60*rng.Float32()) }),
	"ties": func(rng *rand.Rand, x []float32) { // scale 1: halves are ties
		for i := range x {
			x[i] = float32(rng.IntN(253)-126) + 0.5
		}
		for i := 0; i < len(x); i += 32 {
			x[i] = 127
		}
	},
	"one infinity": one(float32(math.Inf(-1))),
	"one NaN":      one(float32(math.NaN())),
	"one large":    one(-1e30),
}

func each(value func(rng *rand.Rand) float32) func(*rand.Rand, []float32) {
	return func(rng *rand.Rand, x []float32) {
		for i := range x {
			x[i] = value(rng)
		}
	}
}

func one(v float32) func(*rand.Rand, []float32) {
	return func(rng *rand.Rand, x []float32) {
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		x[rng.IntN(len(x))] = v
	}
}

func BenchmarkQuantizeAVX2(b *testing.B) {
	if m := cpu.Detected().Missing(AVX2.Requires); m != 0 {
		b.Skipf("needs %v", m)
	}
	x := make([]float32, 2048)
	quantizeInputs["normal"](rand.New(rand.NewPCG(7, 8)), x)
	for _, scheme := range []Scheme{Q8Row, Q8Per128, Q8Per32} {
		var a Activations
		a.reset(scheme, x, 1, len(x))
		for _, q := range []struct {
			name string
			run  func(a *Activations, x []float32, from, to int)
		}{{"generic", quantizeGeneric}, {"avx2", quantizeSIMD}} {
			b.Run(fmt.Sprintf("act=%s/quantizer=%s", scheme, q.name), func(b *testing.B) {
				b.SetBytes(int64(4 * len(x)))
				for b.Loop() {
					q.run(&a, x, 0, 1)
				}
			})
		}
	}
}
