package cpu

import (
	"math"

	"onebit/formats"
	"onebit/internal/math32"
)

// The vector operations of a forward pass outside the matrix products. The
// functions here are their specification; assembly (vectors_*.s) does the same
// float operations in the same order, so that results are the same bits. The conversions to float32 forbid the
// compiler to fuse a product with the sum that follows.

// lanes are partial sums: element i is added to lane i mod 8. Sums are float64.
type lanes [8]float64

func (l lanes) fold() float64 {
	return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

// addScalar is x += y.
func addScalar(x, y []float32) {
	y = y[:len(x)]
	for i, v := range y {
		x[i] += v
	}
}

// addProductScalar is dst += x·y.
func addProductScalar(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i, v := range x {
		dst[i] += float32(v * y[i])
	}
}

// squaresScalar adds x² to the lanes. The square of a float32 is exact in
// float64.
func squaresScalar(sum lanes, x []float32) lanes {
	for i, v := range x {
		sum[i%8] += float64(v) * float64(v)
	}
	return sum
}

// scaleScalar is dst = x·scale·gain.
func scaleScalar(dst, x, gain []float32, scale float32) {
	dst, x = dst[:len(gain)], x[:len(gain)]
	for i, g := range gain {
		dst[i] = float32(x[i]*scale) * g
	}
}

// siluScalar is gate = gate·σ(gate)·up.
func siluScalar(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + math32.Exp(-g)) * up[i]
	}
}

// sigmoidScalar is gate = σ(gate)·up.
func sigmoidScalar(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = math32.Sigmoid(g) * up[i]
	}
}

// relu2Scalar is gate = max(gate, 0)²·up. The squares overflow fp16, which
// is why all of this is float32.
func relu2Scalar(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		if g < 0 {
			g = 0
		}
		gate[i] = float32(g*g) * up[i]
	}
}

// expScalar is x = exp((x-top)·scale); it adds the results to the lanes.
func expScalar(sum lanes, x []float32, top, scale float32) lanes {
	for i, v := range x {
		e := math32.Exp(float32((v - top) * scale))
		x[i] = e
		sum[i%8] += float64(e)
	}
	return sum
}

// decodeQ8Scalar writes the numbers of q8_0 blocks as float32, which holds
// them exactly.
func decodeQ8Scalar(dst []float32, src []byte) {
	if len(dst) == 0 {
		return
	}
	if err := formats.Q8_0.Dequantize(dst, src[:len(dst)/q8Len*q8Bytes], 1, len(dst)); err != nil {
		panic(err) // of a shape that newCache has refused
	}
}

// A block of q8_0: an fp16 scale and 32 int8 (package formats).
const (
	q8Len   = 32
	q8Bytes = 2 + q8Len
)

// maximumScalar returns the largest of x that is not NaN, -Inf of none.
func maximumScalar(x []float32) float32 {
	top := float32(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// turnScalar turns the pairs (a, b) by angles.
func turnScalar(a, b, cos, sin []float32) {
	a, b, sin = a[:len(cos)], b[:len(cos)], sin[:len(cos)]
	for i, c := range cos {
		u, v, s := a[i], b[i], sin[i]
		a[i] = float32(u*c) - float32(v*s)
		b[i] = float32(u*s) + float32(v*c)
	}
}

// scoresScalar multiplies rows of a float32 matrix with q: element k is added
// to lane k mod 16, and the lanes are folded in halves. The callers of scores
// and weighted say in a last argument what they will want from memory next.
func scoresScalar(dst, q, rows []float32) {
	for r := range dst {
		row := rows[r*len(q):][:len(q)]
		var lanes [16]float32
		for k, x := range q {
			lanes[k%16] += float32(x * row[k])
		}
		for n := 8; n > 0; n /= 2 {
			for i := range n {
				lanes[i] += lanes[i+n]
			}
		}
		dst[r] = lanes[0]
	}
}

// weightedScalar adds to dst the rows of a float32 matrix, each times its
// weight, first row first. Columns from first are done.
func weightedScalar(dst, weights, rows []float32, first int) {
	for r, w := range weights {
		row := rows[r*len(dst):][:len(dst)]
		for d := first; d < len(dst); d++ {
			dst[d] += float32(w * row[d])
		}
	}
}
