// Package kerneltest is the conformance suite that every variant of package
// kernels passes, whatever it runs on.
//
// Two oracles: kernels.Reference, float64 on dequantized weights, bounds the
// error; the variant scalar, the generic integer path, is equalled bit for
// bit.
package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"onebit/formats"
)

// TB is what the suite needs of testing.TB.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Tensor returns a matrix of format t with weights from rng: native values
// for ternary formats, normal ones else.
func Tensor(tb TB, t *formats.Type, rows, cols int, rng *rand.Rand) *formats.Tensor {
	tb.Helper()
	size, err := t.Bytes(rows, cols)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(rng.IntN(3)-1) * 0.75
	}
	out := &formats.Tensor{Name: fmt.Sprintf("%s.%dx%d", t.Name, rows, cols), Type: t, Shape: []int{rows, cols}, Data: make([]byte, size)}
	if err := t.Quantize(out.Data, w, rows, cols); err != nil {
		tb.Fatalf("%v", err)
	}
	return out
}

// Same reports the first result whose bits differ.
func Same(got, want []float32) error {
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			return fmt.Errorf("result %d is %v (%#x), the generic path gives %v (%#x)", i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
	return nil
}
