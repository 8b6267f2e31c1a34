package quantize

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"onebit/internal/cpu"
	"onebit/internal/guard"
	"onebit/internal/require"
)

var schemes = []Scheme{Q8Row, Q8Per128, Q8Per32}

// requireSIMD skips a test where the vectors that SIMD is written for are missing.
func requireSIMD(t testing.TB) {
	t.Helper()
	wants := map[string]cpu.Set{"amd64": cpu.AVX2 | cpu.F16C, "arm64": cpu.NEON}[runtime.GOARCH]
	if m := cpu.Detected().Missing(wants); m != 0 {
		require.Skip(t, m.String(), "quantization needs it")
	}
}

// check holds SIMD to Generic, bit for bit, in guarded memory, for n columns x.
func check(t *testing.T, x []float32, n int, what string) {
	t.Helper()
	for _, scheme := range schemes {
		cols := len(x) / n
		what := fmt.Sprintf("%s, %s, %d columns of %d", scheme, what, n, cols)
		want, got := Quantized{}, Quantized{Alloc: func(bytes int) []byte {
			b := guard.New(t, bytes).Bytes()
			for i := range b {
				b[i] = 0xa5 // everything has to be written
			}
			return b
		}}
		want.Reset(scheme, n, cols)
		want.Generic(x, 0, n)
		in := guard.CopyReadOnly(t, x)
		got.Reset(scheme, n, cols)
		if err := guard.Catch(func() { got.SIMD(in, 0, n) }); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
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

// TestSIMD takes every length up to 300, and some beyond.
func TestSIMD(t *testing.T) {
	requireSIMD(t)
	rng := rand.New(rand.NewPCG(5, 6))
	lengths := []int{384, 511, 512, 1000, 2048, 2560, 6912, 8191}
	for n := 1; n <= 300; n++ {
		lengths = append(lengths, n)
	}
	for _, cols := range lengths {
		x := make([]float32, 2*cols)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(20)-10)))
		}
		check(t, x, 2, "normal")
	}
	for name, fill := range inputs {
		for _, cols := range []int{1, 5, 31, 32, 33, 63, 64, 96, 127, 128, 129, 160, 255, 256, 257, 384, 1000, 2048} {
			x := make([]float32, 2*cols)
			fill(rng, x)
			check(t, x, 2, name)
		}
	}
}

// inputs are those that rounding and scaling are hard on.
var inputs = map[string]func(rng *rand.Rand, x []float32){
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

// TestSIMDEdges takes ties, the ends of the range, subnormals and what
// is not finite, each in every lane.
func TestSIMDEdges(t *testing.T) {
	requireSIMD(t)
	bits := math.Float32frombits
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	edges := []float32{
		0, bits(1 << 31), 0.5, -0.5, 1.5, 2.5, -2.5, 126.5, -126.5, 127, -127, // ties, if 127 is the largest
		bits(1), bits(0x80000001), bits(0x007fffff), bits(0x00800000), // subnormal, least normal
		math.MaxFloat32, -math.MaxFloat32, inf, -inf, nan, bits(0xffc00001), bits(0x7f800001),
		1e-5, 127 * 0x1p-126, bits(math.Float32bits(127*0x1p-126) - 1),
	}
	for _, edge := range edges {
		t.Run(fmt.Sprintf("%#08x", math.Float32bits(edge)), func(t *testing.T) {
			for at := 0; at < 32; at += 5 { // every lane, several registers
				x := make([]float32, 160)
				for i := range x {
					x[i] = float32(i%255-127) / 2
				}
				x[3], x[77] = 127, -127
				x[64+at] = edge
				check(t, x, 1, "edge among ties")
				clear(x)
				x[96+at] = edge
				check(t, x, 1, "edge among zeros")
			}
		})
	}
}

// TestSIMDBits takes any bits for floats.
func TestSIMDBits(t *testing.T) {
	requireSIMD(t)
	rng := rand.New(rand.NewPCG(2, 9))
	for range 300 {
		x := make([]float32, 256)
		for i := range x {
			x[i] = math.Float32frombits(rng.Uint32())
		}
		if rng.IntN(2) == 0 { // one exponent, finite
			e := rng.Uint32N(255)
			for i := range x {
				x[i] = math.Float32frombits(math.Float32bits(x[i])&0x807fffff | e<<23)
			}
		}
		check(t, x, 1, "bits")
	}
}

func BenchmarkQuantize(b *testing.B) {
	requireSIMD(b)
	x := make([]float32, 2048)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for _, scheme := range schemes {
		var a Quantized
		a.Reset(scheme, 1, len(x))
		for _, q := range []struct {
			name string
			run  func(x []float32, from, to int)
		}{{"generic", a.Generic}, {"simd", a.SIMD}} {
			b.Run(fmt.Sprintf("act=%s/quantizer=%s", scheme, q.name), func(b *testing.B) {
				b.SetBytes(int64(4 * len(x)))
				for b.Loop() {
					q.run(x, 0, 1)
				}
			})
		}
	}
}
