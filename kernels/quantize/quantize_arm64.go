//go:build !purego

package quantize

// quantizeSIMD is quantizeGeneric, with NEON; what does not fill 32 columns is done as
// it does it.
func (a *Quantized) quantizeSIMD(x []float32, c int) {
	q, scales, sums := a.column(c)
	g := a.Scheme.GroupLen(a.Cols)
	for i := range scales {
		lo, hi := i*g, min((i+1)*g, a.Cols)
		end := lo + (hi-lo)&^31
		bits := maxAbsBits(x[end:hi])
		if lo < end {
			bits = max(bits, maxAbsBitsNEON(&x[lo], (end-lo)/32))
		}
		mul, scale := a.Scheme.scales(bits)
		scales[i] = scale
		if lo < end {
			quantizeRunsNEON(&q[lo], &sums[lo/32], &x[lo], (end-lo)/32, mul)
		}
		roundToInt8s(q[end:hi], x[end:hi], mul)
	}
	clear(q[a.Cols:])
	whole := a.Cols &^ 31
	sumPieces(sums[whole/32:], q[whole:])
}

// maxAbsBitsNEON is maxAbsBits(x[:32*runs]); runs > 0.
//
//go:noescape
func maxAbsBitsNEON(x *float32, runs int) uint32

// quantizeRunsNEON rounds runs > 0 runs of 32 columns and sums each.
//
//	for i := range runs {
//		sums[i] = 0
//		for j := range 32 {
//			q[32*i+j] = roundToInt8(x[32*i+j], mul)
//			sums[i] += int32(q[32*i+j])
//		}
//	}
//
//go:noescape
func quantizeRunsNEON(q *int8, sums *int32, x *float32, runs int, mul float32)
