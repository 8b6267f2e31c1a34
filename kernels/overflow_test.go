package kernels_test

import (
	"math"
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
