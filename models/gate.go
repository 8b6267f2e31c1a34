package models

import "math"

// expFloat32 is eˣ within 2 units in the last place, by the same sequence of
// float32 operations on every machine: the conversions forbid fusing them.
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

// gate multiplies the gate's activation with up, in place: SwiGLU's inner
// part (Shazeer, arXiv:2002.05202) or its like with squared ReLU (So et al.,
// arXiv:2109.08668). Squares of ReLU overflow fp16, so all of it is float32.
func (a Activation) gate(gate, up []float32) {
	up = up[:len(gate)]
	if a == ReLU2 {
		for i, g := range gate {
			g = max(g, 0)
			gate[i] = float32(g*g) * up[i]
		}
		return
	}
	for i, g := range gate {
		gate[i] = g / (1 + expFloat32(-g)) * up[i]
	}
}
