//go:build !purego

package kernels

// quantizeSIMD is quantizeGeneric, with NEON; what does not fill 32 columns is done as
// it does it.
func quantizeSIMD(a *Activations, x []float32, from, to int) {
	g := a.Scheme.GroupLen(a.Cols)
	for c := from; c < to; c++ {
		col := x[c*a.Cols : (c+1)*a.Cols]
		q := a.Q[c*a.Stride : (c+1)*a.Stride]
		sums := a.Sums[c*a.Stride/32 : (c+1)*a.Stride/32]
		clear(sums)
		for i := range a.Groups {
			lo, hi := i*g, min((i+1)*g, a.Cols)
			group := col[lo:hi]
			whole := len(group) &^ 31
			bits := maxAbsBits(group[whole:])
			if whole > 0 {
				bits = max(bits, maxAbsBitsNEON(&group[0], whole/32))
			}
			mul, scale := a.Scheme.scales(bits)
			a.Scales[c*a.Groups+i] = scale
			if whole > 0 {
				quantizeRunsNEON(&q[lo:hi][0], &sums[lo/32:][:whole/32][0], &group[0], whole/32, mul)
			}
			for j, v := range group[whole:] {
				r := roundToInt8(v, mul)
				q[lo+whole+j] = r
				sums[(lo+whole)/32] += int32(r)
			}
		}
		clear(q[a.Cols:])
	}
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
