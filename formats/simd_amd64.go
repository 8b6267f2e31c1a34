//go:build !purego

package formats

import (
	"math"

	"onebit/internal/cpu"
	"onebit/internal/half"
)

// What the conversion of an output head, for which a program waits, spends its
// time in. Each function does what the one in Go does that has Generic in its
// name, to the bit.

var hasAVX2 = cpu.Detected().Has(cpu.AVX2 | cpu.F16C)

func absMax(w []float32) float32 {
	n := len(w) &^ 7
	if n == 0 || !hasAVX2 {
		return absMaxGeneric(w)
	}
	bits := absMaxAVX2(&w[0], n)
	return math.Float32frombits(max(bits, math.Float32bits(absMaxGeneric(w[n:]))))
}

func decodeF16(dst []float32, src []byte) {
	n := len(dst) &^ 7
	src = src[:2*len(dst)]
	if n == 0 || !hasAVX2 || decodeF16AVX2(&dst[0], &src[0], n) {
		n = 0
	}
	half.Decode(dst[n:], src[2*n:])
}

func q6Extremes(up, down *[16]uint32, w *[256]float32) {
	if hasAVX2 {
		q6ExtremesAVX2(up, down, w)
		return
	}
	q6ExtremesGeneric(up, down, w)
}

func q6Search(w *[16]float32, id, steps float32, first, last int) int64 {
	if hasAVX2 {
		return q6SearchAVX2(w, id, steps, first, last)
	}
	return q6SearchGeneric(w, id, steps, first, last)
}

func q6Codes(codes *[256]byte, w *[256]float32, ids *[16]float32) {
	if hasAVX2 {
		q6CodesAVX2(codes, w, ids)
		return
	}
	q6CodesGeneric(codes, w, ids)
}

func q6Weights(dst *[256]float32, bits *[192]byte, scales *[16]float32) {
	if hasAVX2 {
		q6WeightsAVX2(dst, bits, scales)
		return
	}
	q6WeightsGeneric(dst, bits, scales)
}
