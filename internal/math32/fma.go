package math32

import "math"

// FMA is x·y + z, rounded once, as processors do it that have the instruction.
//
// The product of two float32s is exact in float64. The sum there is rounded to
// odd (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008),
// with its error by Knuth's TwoSum, so that rounding it again to float32 is as
// good as rounding once.
func FMA(x, y, z float32) float32 {
	product, addend := float64(x)*float64(y), float64(z)
	sum := product + addend
	back := sum - product
	rest := (product - (sum - back)) + (addend - back)
	// Of what is not finite, the rest is NaN, which is neither.
	if (rest > 0 || rest < 0) && math.Float64bits(sum)&1 == 0 {
		toward := math.Inf(1)
		if rest < 0 {
			toward = math.Inf(-1)
		}
		sum = math.Nextafter(sum, toward)
	}
	return float32(sum)
}
