package vectors

import (
	"math"

	"onebit/internal/math32"
)

// Sum returns Σ x.
func (v *Variant) Sum(x []float32) float64 {
	var s sums
	n, done := blocks(v.sum != nil, len(x))
	if n > 0 {
		s = v.sum(&x[0], n)
	}
	for i, e := range x[done:] {
		s[i%lanes] += float64(e)
	}
	return fold(&s)
}

// SumAbs returns Σ |x - center|, with differences rounded to float32.
func (v *Variant) SumAbs(x []float32, center float32) float64 {
	var s sums
	n, done := blocks(v.sumAbs != nil, len(x))
	if n > 0 {
		s = v.sumAbs(&x[0], center, n)
	}
	for i, e := range x[done:] {
		s[i%lanes] += math.Abs(float64(e - center))
	}
	return fold(&s)
}

// Dot returns Σ x·y.
func (v *Variant) Dot(x, y []float32) float64 {
	var s sums
	n, done := blocks(v.dot != nil, len(x), len(y))
	if n > 0 {
		s = v.dot(&x[0], &y[0], n)
	}
	y = y[done:]
	for i, e := range x[done:] {
		s[i%lanes] += float64(e) * float64(y[i]) // exact: a fused one is the same
	}
	return fold(&s)
}

// Max returns the largest number that is not NaN, -∞ if there is none.
func (v *Variant) Max(x []float32) float32 {
	var most [lanes]float32
	for i := range most {
		most[i] = float32(math.Inf(-1))
	}
	n, done := blocks(v.max != nil, len(x))
	if n > 0 {
		most = v.max(most, &x[0], n)
	}
	for i, e := range x[done:] {
		if e > most[i%lanes] {
			most[i%lanes] = e
		}
	}
	top := most[0]
	for _, e := range most[1:] {
		if e > top {
			top = e
		}
	}
	return top
}

// ExpSum sets dst to exp((x - shift)·scale) and returns the sum: with the largest x as shift it is
// most of a softmax and of a cross-entropy.
func (v *Variant) ExpSum(dst, x []float32, shift, scale float32) float64 {
	var s sums
	n, done := blocks(v.expSum != nil, len(dst), len(x))
	if n > 0 {
		s = v.expSum(&dst[0], &x[0], shift, scale, n)
	}
	dst = dst[done:]
	for i, e := range x[done:] {
		dst[i] = math32.Exp(float32((e - shift) * scale))
		s[i%lanes] += float64(dst[i])
	}
	return fold(&s)
}

// fold adds the upper half of the lanes to the lower, five times.
func fold(s *sums) float64 {
	var t [8]float64
	for i := range t {
		t[i] = (s[i] + s[i+16]) + (s[i+8] + s[i+24])
	}
	return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]))
}
