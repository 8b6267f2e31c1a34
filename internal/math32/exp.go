// Package math32 has functions of float32 whose results are the same bits on
// every machine.
package math32

import "math"

// Exp is eˣ within 2 units in the last place:
//
// x = n·ln 2 + r with |r| ≤ ½ ln 2, and eʳ by its Taylor series, whose first
// term left out is below r⁸/8! < 6e-9. Where the result would be subnormal
// it is e⁻⁸⁷; where it would overflow, e⁸⁸.
func Exp(x float32) float32 {
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
