//go:build !purego

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/internal/guard"
)

// quantized is what a quantizer makes of n columns, in memory between guard
// pages.
func quantized(t *testing.T, quantize func(a *Activations, x []float32, from, to int), scheme Scheme, x []float32, n int) *Activations {
	t.Helper()
	a := &Activations{Alloc: func(bytes int) []byte {
		b := guard.New(t, bytes).Bytes()
		for i := range b {
			b[i] = 0xa5 // everything has to be written
		}
		return b
	}}
	x = guard.CopyReadOnly(t, x)
	a.reset(scheme, x, n, len(x)/n)
	if err := guard.Catch(func() { quantize(a, x, 0, n) }); err != nil {
		t.Fatalf("%s, %d columns of %d: %v", scheme, n, len(x)/n, err)
	}
	return a
}

func checkQuantizer(t *testing.T, x []float32, n int, what string) {
	t.Helper()
	for _, scheme := range []Scheme{Q8Row, Q8Per128, Q8Per32} {
		got := quantized(t, quantizeSIMD, scheme, x, n)
		want := quantized(t, quantizeGeneric, scheme, x, n)
		if !slices.Equal(got.Q, want.Q) {
			t.Errorf("%s, %d columns of %d, %s: q differ", scheme, n, len(x)/n, what)
		}
		if !slices.Equal(got.Sums, want.Sums) {
			t.Errorf("%s, %d columns of %d, %s: sums differ", scheme, n, len(x)/n, what)
		}
		same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
		if !slices.EqualFunc(got.Scales, want.Scales, same) {
			t.Errorf("%s, %d columns of %d, %s: scales differ", scheme, n, len(x)/n, what)
		}
	}
}

// TestQuantizeNEON takes every length up to 300, and some beyond.
func TestQuantizeNEON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	lengths := []int{511, 512, 2048, 2560, 6912, 8191}
	for n := 1; n <= 300; n++ {
		lengths = append(lengths, n)
	}
	for _, cols := range lengths {
		x := make([]float32, 2*cols)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(20)-10)))
		}
		checkQuantizer(t, x, 2, "normal")
	}
}

// TestQuantizeNEONEdges takes ties, the ends of the range, subnormals and what
// is not finite, each in every lane.
func TestQuantizeNEONEdges(t *testing.T) {
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
				checkQuantizer(t, x, 1, "edge among ties")
				clear(x)
				x[96+at] = edge
				checkQuantizer(t, x, 1, "edge among zeros")
			}
		})
	}
}

// TestQuantizeNEONBits takes any bits for floats.
func TestQuantizeNEONBits(t *testing.T) {
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
		checkQuantizer(t, x, 1, "bits")
	}
}
