//go:build !purego

package quantize

// quantizeSIMD is quantizeGeneric, with AVX2, for whole pieces of 32 columns, or whole
// groups where these are longer; what is left is done in Go.
func (a *Quantized) quantizeSIMD(x []float32, c int) {
	q, scales, sums := a.column(c)
	var done int // columns
	switch {
	case a.Scheme == Q8Row:
		done = quantizeRowAVX2(q, scales, sums, x)
	case a.Scheme == Q8Per128 && len(x) >= 128:
		groups := len(x) / 128
		quantize128AVX2(&q[0], &scales[0], &sums[0], &x[0], groups)
		done = groups * 128
	case a.Scheme == Q8Per32 && len(x) >= 32:
		groups := len(x) / 32
		quantize32AVX2(&q[0], &scales[0], &sums[0], &x[0], groups)
		done = groups * 32
	}
	if done < len(x) && a.Scheme != Q8Row {
		mul, scale := a.Scheme.scales(maxAbsBits(x[done:]))
		scales[len(scales)-1] = scale
		roundToInt8s(q[done:len(x)], x[done:], mul)
	}
	clear(q[len(x):])
	sumPieces(sums[done/32:], q[done&^31:])
}

// quantizeRowAVX2 quantizes all of x under q8_row and returns up to where sums
// are right.
func quantizeRowAVX2(q []int8, scales []float32, sums []int32, x []float32) int {
	whole := len(x) &^ 31
	maxBits := maxAbsBits(x[whole:])
	if whole > 0 {
		maxBits = max(maxBits, maxAbsBitsAVX2(&x[0], whole))
	}
	mul, scale := Q8Row.scales(maxBits)
	scales[0] = scale
	if mul == 0 { // not finite
		clear(q[:len(x)])
		return 0
	}
	if whole > 0 {
		roundToInt8AVX2(&q[0], &sums[0], &x[0], mul, whole)
	}
	roundToInt8s(q[whole:len(x)], x[whole:], mul)
	return whole
}
