package models

import (
	"encoding/binary"
	"math"

	"onebit/internal/half"
)

// The vector operations of a forward pass outside the matrix products. The
// functions here are their specification; where there is assembly
// (vector_*.s) it does the same float operations in the same order, so
// that results are the same bits. The conversions to float32 forbid the
// compiler to fuse a product with the sum that follows.

// lanes are partial sums: element i is added to lane i mod 8. Sums are float64.
type lanes [8]float64

func (l *lanes) fold() float64 {
	return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

// addGeneric is x += y.
func addGeneric(x, y []float32) {
	y = y[:len(x)]
	for i, v := range y {
		x[i] += v
	}
}

// squaresGeneric adds x² to the lanes. The square of a float32 is exact in
// float64.
func squaresGeneric(sum *lanes, x []float32) {
	for i, v := range x {
		sum[i%8] += float64(v) * float64(v)
	}
}

// scaleGeneric is dst = x·scale·gain.
func scaleGeneric(dst, x, gain []float32, scale float32) {
	dst, x = dst[:len(gain)], x[:len(gain)]
	for i, g := range gain {
		dst[i] = float32(x[i]*scale) * g
	}
}

// siluGeneric is gate = gate·σ(gate)·up.
func siluGeneric(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + expFloat32(-g)) * up[i]
	}
}

// relu2Generic is gate = max(gate, 0)²·up. The squares overflow fp16, which
// is why all of this is float32.
func relu2Generic(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		if g < 0 {
			g = 0
		}
		gate[i] = float32(g*g) * up[i]
	}
}

// expGeneric is x = exp((x-top)·scale); it adds the results to the lanes.
func expGeneric(sum *lanes, x []float32, top, scale float32) {
	for i, v := range x {
		e := expFloat32(float32((v - top) * scale))
		x[i] = e
		sum[i%8] += float64(e)
	}
}

// encodeF16Generic writes src as fp16.
func encodeF16Generic(dst []byte, src []float32) {
	for i, x := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], half.FromFloat32(x))
	}
}

// decodeF16Generic writes the fp16 numbers of src as float32.
func decodeF16Generic(dst, src []byte) {
	for i := range len(dst) / 4 {
		putFloat32(dst[4*i:], half.ToFloat32(binary.LittleEndian.Uint16(src[2*i:])))
	}
}

// A block of q8_0: an fp16 scale and 32 int8 (package formats).
const (
	q8Len   = 32
	q8Bytes = 2 + q8Len
)

// decodeQ8Generic writes the numbers of q8_0 blocks as float32, which holds
// them exactly.
func decodeQ8Generic(dst, src []byte) {
	for ; len(dst) > 0; dst, src = dst[4*q8Len:], src[q8Bytes:] {
		d := half.ToFloat32(binary.LittleEndian.Uint16(src))
		for i, q := range src[2:q8Bytes] {
			putFloat32(dst[4*i:], float32(int8(q))*d)
		}
	}
}

func putFloat32(dst []byte, x float32) {
	binary.LittleEndian.PutUint32(dst, math.Float32bits(x))
}

// maximumGeneric returns the largest of x that is not NaN, -Inf of none.
func maximumGeneric(x []float32) float32 {
	top := float32(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// turnGeneric turns the pairs (a, b) by angles.
func turnGeneric(a, b, cos, sin []float32) {
	a, b, sin = a[:len(cos)], b[:len(cos)], sin[:len(cos)]
	for i, c := range cos {
		u, v, s := a[i], b[i], sin[i]
		a[i] = float32(u*c) - float32(v*s)
		b[i] = float32(u*s) + float32(v*c)
	}
}

// scoresGeneric multiplies rows of a float32 matrix with q: element k is added
// to lane k mod 16, and the lanes are folded in halves. The callers of scores
// and weighted say in a last argument what they will want from memory next.
func scoresGeneric(dst, q []float32, rows []byte) {
	for r := range dst {
		row := rows[r*4*len(q):][:4*len(q)]
		var lanes [16]float32
		for k, x := range q {
			lanes[k%16] += float32(x * math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:])))
		}
		for n := 8; n > 0; n /= 2 {
			for i := range n {
				lanes[i] += lanes[i+n]
			}
		}
		dst[r] = lanes[0]
	}
}

// weightedGeneric adds to dst the rows of a float32 matrix, each times its
// weight, first row first. Columns from first are done.
func weightedGeneric(dst, weights []float32, rows []byte, first int) {
	for r, w := range weights {
		row := rows[r*4*len(dst):][:4*len(dst)]
		for d := first; d < len(dst); d++ {
			dst[d] += float32(w * math.Float32frombits(binary.LittleEndian.Uint32(row[4*d:])))
		}
	}
}

// expFloat32 is eˣ within 2 units in the last place:
//
// x = n·ln 2 + r with |r| ≤ ½ ln 2, and eʳ by its Taylor series, whose first
// term left out is below r⁸/8! < 6e-9. Where the result would be subnormal
// it is e⁻⁸⁷; where it would overflow, e⁸⁸.
func expFloat32(x float32) float32 {
	const (
		magic = 0x1.8p23 // adding it rounds to an integer in the low bits
		ln2Hi = 0x1.62ep-1
		ln2Lo = 0x1.0bfbe8p-15 // ln 2 - ln2Hi, so that n·ln2Hi is exact
	)
	if x < -87 {
		x = -87
	}
	if x > 88 {
		x = 88
	}
	shifted := float32(x*math.Log2E) + magic
	n := shifted - magic
	r := x - float32(n*ln2Hi)
	r -= float32(n * ln2Lo)
	p := float32(1.0/5040*r) + 1.0/720
	p = float32(p*r) + 1.0/120
	p = float32(p*r) + 1.0/24
	p = float32(p*r) + 1.0/6
	p = float32(p*r) + 0.5
	p = float32(p*r) + 1
	p = float32(p*r) + 1
	return p * math.Float32frombits((math.Float32bits(shifted)<<23)+0x3f800000)
}
