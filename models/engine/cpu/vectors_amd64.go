//go:build !purego

package cpu

import (
	"unsafe"

	"onebit/kernels"
)

var simdVectors = []*Vectors{
	newSIMD("avx2", "eight floats a register", kernels.AVX2, scoresAVX2, weightedAVX2),
	newSIMD("avx512", "attention and the delta rule in sixteen floats a register, the rest as avx2", kernels.AVX512, scoresAVX512, weightedWide).
		withDeltaRule(deltaRuleAVX512),
}

//go:noescape
func scoresAVX2(dst, q *float32, rows *byte, n, width int, ahead *byte)

//go:noescape
func scoresAVX512(dst, q *float32, rows *byte, n, width int, ahead *byte)

//go:noescape
func weightedAVX2(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

// weightedAVX512 takes columns by 128.
//
//go:noescape
func weightedAVX512(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

// weightedWide leaves to weightedAVX2 the columns behind the last 128.
func weightedWide(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte) {
	if wide := columns &^ 127; wide > 0 {
		weightedAVX512(dst, weights, rows, n, wide, stride, ahead)
		if columns -= wide; columns == 0 {
			return
		}
		dst, rows = (*float32)(unsafe.Add(unsafe.Pointer(dst), 4*wide)), (*byte)(unsafe.Add(unsafe.Pointer(rows), 4*wide))
	}
	weightedAVX2(dst, weights, rows, n, columns, stride, ahead)
}
