package math32

import "math"

// Exp2 is 2ˣ for x ≤ 0, within 4 parts in a million; where it would be below
// 2⁻¹²⁵ it is 0. It never exceeds 1.
//
// x = n + r with |r| ≤ ½, and 2ʳ by a polynomial of degree 4 whose largest
// relative error is least, by Lawson's algorithm, of those that are 1 at 0.
func Exp2(x float32) float32 {
	const (
		magic = 0x1.8p23 // adding it rounds to an integer in the low bits
		term4 = 0x1.3a02fp-7
		term3 = 0x1.c9fc5cp-5
		term2 = 0x1.ec0378p-3
		term1 = 0x1.62e12cp-1
	)
	if x < -125 {
		return 0
	}
	shifted := x + magic
	r := x - (shifted - magic)
	p := FMA(term4, r, term3)
	p = FMA(p, r, term2)
	p = FMA(p, r, term1)
	p = FMA(p, r, 1)
	return p * math.Float32frombits((math.Float32bits(shifted)<<23)+0x3f800000)
}
