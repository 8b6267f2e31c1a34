package vectors

import (
	"math"

	"onebit/internal/math32"
)

// Sum returns Σ x.
func (v *Variant) Sum(x []float32) float64 {
	var sums [lanes]float64
	n, done := blocks(v.sum != nil, len(x))
	if n > 0 {
		v.sum(&sums, &x[0], n)
	}
	for i, e := range x[done:] {
		sums[i%lanes] += float64(e)
	}
	return fold(&sums)
}

// SumAbs returns Σ |x - center|, with differences rounded to float32.
func (v *Variant) SumAbs(x []float32, center float32) float64 {
	var sums [lanes]float64
	n, done := blocks(v.sumAbs != nil, len(x))
	if n > 0 {
		v.sumAbs(&sums, &x[0], center, n)
	}
	for i, e := range x[done:] {
		sums[i%lanes] += math.Abs(float64(e - center))
	}
	return fold(&sums)
}

// Dot returns Σ x·y.
func (v *Variant) Dot(x, y []float32) float64 {
	var sums [lanes]float64
	n, done := blocks(v.dot != nil, len(x), len(y))
	if n > 0 {
		v.dot(&sums, &x[0], &y[0], n)
	}
	y = y[done:]
	for i, e := range x[done:] {
		sums[i%lanes] += float64(e) * float64(y[i]) // exact: a fused one is the same
	}
	return fold(&sums)
}

// Max returns the largest number that is not NaN, -∞ if there is none.
func (v *Variant) Max(x []float32) float32 {
	var most [lanes]float32
	for i := range most {
		most[i] = float32(math.Inf(-1))
	}
	n, done := blocks(v.max != nil, len(x))
	if n > 0 {
		v.max(&most, &x[0], n)
	}
	for i, e := range x[done:] {
		if e > most[i%lanes] {
			most[i%lanes] = e
		}
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			if most[i+half] > most[i] {
				most[i] = most[i+half]
			}
		}
	}
	return most[0]
}

// ExpSum sets dst to exp(x - shift) and returns the sum: with the largest x as shift it is most of
// a softmax and of a cross-entropy.
func (v *Variant) ExpSum(dst, x []float32, shift float32) float64 {
	var sums [lanes]float64
	n, done := blocks(v.expSum != nil, len(dst), len(x))
	if n > 0 {
		v.expSum(&sums, &dst[0], &x[0], shift, n)
	}
	dst = dst[done:]
	for i, e := range x[done:] {
		dst[i] = math32.Exp(e - shift)
		sums[i%lanes] += float64(dst[i])
	}
	return fold(&sums)
}

func fold(sums *[lanes]float64) float64 {
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[i+half]
		}
	}
	return sums[0]
}
