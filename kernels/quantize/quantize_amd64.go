//go:build !purego

package kernels

// quantizeSIMD is quantizeGeneric, with AVX2, for whole pieces of 32 columns, or whole
// groups where these are longer; what is left is done in Go.
func quantizeSIMD(a *Activations, x []float32, from, to int) {
	for c := from; c < to; c++ {
		quantizeColumnAVX2(a, x[c*a.Cols:(c+1)*a.Cols], c)
	}
}

func quantizeColumnAVX2(a *Activations, x []float32, c int) {
	q := a.Q[c*a.Stride : (c+1)*a.Stride]
	scales := a.Scales[c*a.Groups : (c+1)*a.Groups]
	sums := a.Sums[c*a.Stride/32 : (c+1)*a.Stride/32]
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

func roundToInt8s(q []int8, x []float32, mul float32) {
	for i, v := range x {
		q[i] = roundToInt8(v, mul)
	}
}

// sumPieces sets sums to those of every 32 of q.
func sumPieces(sums []int32, q []int8) {
	for i := range sums {
		var sum int32
		for _, v := range q[32*i : 32*i+32] {
			sum += int32(v)
		}
		sums[i] = sum
	}
}
