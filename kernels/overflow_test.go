package kernels_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
)

// Where the scales of q8_32 leave the fp16, products are not finite, whatever the
// weights; a step before, and under the other schemes, they are what the others
// give. The one large activation stands in the second group of the second column.
func TestQ8Per32Overflow(t *testing.T) {
	const rows, cols, n, limit = 64, 512, 2, 127 * 65520
	weights, x := make([]float32, rows*cols), make([]float32, n*cols)
	for i := range weights {
		weights[i] = float32(i*7%3 - 1) // ternary, 0 at the large one in a third of the rows
	}
	for i := range x {
		x[i] = float32(i%5 - 2)
	}
	require.Procs(t, 2)
	p := kernels.NewPool(2)
	defer p.Close()
	for _, v := range kernels.Variants() {
		size, err := v.Format.Bytes(rows, cols)
		if v.Available() != nil || err != nil {
			continue
		}
		tensor := &formats.Tensor{Type: v.Format, Shape: []int{rows, cols}, Data: make([]byte, size)}
		if err := v.Format.Matrix(tensor.Data, rows, cols).Quantize(weights); err != nil {
			t.Fatal(err)
		}
		m, err := v.Pack(tensor, p)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float32, n*rows)
		for _, large := range []float32{limit, math.Nextafter32(limit, 0)} {
			x[cols+40] = large
			p.MatMul(dst, v, m, x, n)
			for i, y := range dst {
				finite := !math.IsInf(float64(y), 0) && y == y
				if want := i < rows || v.Scheme != kernels.Q8Per32 || large < limit; finite != want {
					t.Errorf("%v, activation %v, column %d, row %d: %v", v, large, i/rows, i%rows, y)
					break
				}
			}
		}
		m.Close()
	}
}

// Spans are the scales: exactly down to a sixteenth of the largest, to half a unit
// below; and none where a scale is not finite.
func TestSpans(t *testing.T) {
	const cols = 3 * 160 // the last span has three groups
	v, err := kernels.Lookup(formats.Ternary_u32.Name, "unrolled", kernels.Q8Per32)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		x := make([]float32, cols)
		for i := range x {
			x[i] = float32(rng.NormFloat64() * math.Exp2(float64(i/32*13%24-20)))
		}
		var a kernels.Activations
		v.Prepare(&a, x, 1, cols)
		for i, s := range a.SpansOf(0, 1) {
			scales := a.Scales[min(4*i, a.Groups):min(4*i+4, a.Groups)]
			var most float32
			for _, scale := range scales {
				most = max(most, scale)
			}
			if fraction, _ := math.Frexp(float64(s.Unit)); most > 0 && (fraction != 0.5 || most < s.Unit*(1<<14) || most >= s.Unit*(1<<15)) {
				t.Fatalf("unit %v of scales %v: want a power of two, of which the largest is 2¹⁴ to 2¹⁵", s.Unit, scales)
			}
			var total, minusSum, half int32
			for g, share := range s.Shares {
				total += share
				minusSum -= share * a.Sums[4*i+g]
				if g < 2 {
					half -= share * a.Sums[4*i+g]
				}
				var scale float32
				if g < len(scales) {
					scale = scales[g]
				}
				off := math.Abs(float64(scale) - float64(s.Unit)*float64(share))
				if off > float64(s.Unit)/2 || off > 0 && scale >= most/16 {
					t.Errorf("share %d of %v is %v, want %v", share, s.Unit, s.Unit*float32(share), scale)
				}
			}
			if total != s.Total || minusSum != s.MinusSum || half != s.HalfSum {
				t.Errorf("total %d, sum %d and half of it %d, want %d, %d and %d", s.Total, s.MinusSum, s.HalfSum, total, minusSum, half)
			}
		}
		x[33] = float32(math.Inf(1))
		v.Prepare(&a, x, 1, cols)
		if s := a.SpansOf(0, 1); s[0].Unit == s[0].Unit || s[1].Unit != s[1].Unit {
			t.Errorf("units %v and %v, want NaN for an infinity in the first alone", s[0].Unit, s[1].Unit)
		}
	}
}
