package kernels

import (
	"fmt"

	"onebit/formats"
)

// Reference is the first oracle: it dequantizes rows [r0, r1) of t,
// multiplies and sums in float64. dst has a value for each of those rows. It
// bounds a variant's error.
func Reference(dst []float64, t *formats.Tensor, x []float32, r0, r1 int) error {
	rows, cols := t.Dims()
	if len(x) != cols || len(dst) != r1-r0 {
		return fmt.Errorf("tensor %s is %d×%d: %d activations and %d results given", t.Name, rows, cols, len(x), len(dst))
	}
	w := make([]float32, cols)
	for r := r0; r < r1; r++ {
		if err := t.Matrix().DequantizeRows(w, r, r+1); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
		dst[r-r0] = dot64(w, x)
	}
	return nil
}

func dot64(w, x []float32) float64 {
	var sum float64
	for k, v := range w {
		sum += float64(v) * float64(x[k])
	}
	return sum
}

// ReferenceActivations returns what a scheme makes of x: the activations that
// an exact product of that scheme multiplies. It separates the error of
// quantizing activations from that of a kernel.
func ReferenceActivations(scheme Scheme, x []float32) []float32 {
	out := make([]float32, len(x))
	if scheme == F32 {
		copy(out, x)
		return out
	}
	var a Activations
	a.Quantize(Go, scheme, x, 1, len(x))
	g := scheme.GroupLen(len(x))
	for k := range out {
		out[k] = float32(a.Q[k]) * a.Scales[k/g]
	}
	return out
}

func init() {
	for _, t := range formats.Types() {
		Register(&Variant{
			Name: "reference", Summary: "dequantize, multiply and sum in float64", Format: t, Scheme: F32,
			ISA: Go, Layout: Native, Preference: -1,
			Kernels: []Kernel{ByColumn(nil, referenceRows), {From: 2, Rows: referenceBatch}},
		})
	}
}

func referenceRows(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	w := make([]float32, m.Cols)
	x := a.X[col*a.Cols:][:a.Cols]
	for r := r0; r < r1; r++ {
		referenceWeights(w, m, r, r+1)
		dst[r] = float32(dot64(w, x))
	}
}

// referenceTile is how many rows are dequantized at a time, referenceColumns
// how many columns they are multiplied by together: sums that do not wait for
// each other. Each sum is dot64's, term by term.
const (
	referenceTile    = 16
	referenceColumns = 4
)

func referenceBatch(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	w := make([]float32, referenceTile*m.Cols)
	x := make([][referenceColumns]float64, m.Cols)
	for from := r0; from < r1; from += referenceTile {
		end := min(from+referenceTile, r1)
		referenceWeights(w[:(end-from)*m.Cols], m, from, end)
		for c := 0; c < a.N; c += referenceColumns {
			n := min(referenceColumns, a.N-c)
			for i := range n {
				for k, v := range a.X[(c+i)*a.Cols:][:a.Cols] {
					x[k][i] = float64(v)
				}
			}
			for r := from; r < end; r++ {
				sums := dots64(w[(r-from)*m.Cols:][:m.Cols], x)
				for i := range n {
					dst[(c+i)*m.Rows+r] = float32(sums[i])
				}
			}
		}
	}
}

func referenceWeights(w []float32, m *Matrix, r0, r1 int) {
	if err := m.Format.Matrix(m.Data, m.Rows, m.Cols).DequantizeRows(w, r0, r1); err != nil {
		panic("kernels: matrix changed since it was packed: " + err.Error())
	}
}

// dots64 is dot64 of w with every column of x.
func dots64(w []float32, x [][referenceColumns]float64) [referenceColumns]float64 {
	var s0, s1, s2, s3 float64
	x = x[:len(w)]
	for k, v := range w {
		u, y := float64(v), &x[k]
		s0 += u * y[0]
		s1 += u * y[1]
		s2 += u * y[2]
		s3 += u * y[3]
	}
	return [referenceColumns]float64{s0, s1, s2, s3}
}
