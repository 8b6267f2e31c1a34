//go:build !purego

package models

import (
	"unsafe"

	"onebit/internal/cpu"
)

// simd is what the assembly needs. Without it the specification runs.
var simd = cpu.AVX2 | cpu.F16C

var (
	hasSIMD   = cpu.Detected()&simd == simd
	hasAVX512 = hasSIMD && cpu.Detected()&cpu.AVX512F != 0
)

//go:noescape
func scoresAVX2(dst, q *float32, rows *byte, n, width int, ahead *byte)

//go:noescape
func scoresAVX512(dst, q *float32, rows *byte, n, width int, ahead *byte)

func scoresSIMD(dst, q *float32, rows *byte, n, width int, ahead *byte) {
	if hasAVX512 {
		scoresAVX512(dst, q, rows, n, width, ahead)
		return
	}
	scoresAVX2(dst, q, rows, n, width, ahead)
}

//go:noescape
func weightedAVX2(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

// weightedAVX512 takes columns by 128.
//
//go:noescape
func weightedAVX512(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

func weightedSIMD(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte) {
	if wide := columns &^ 127; hasAVX512 && wide > 0 {
		weightedAVX512(dst, weights, rows, n, wide, stride, ahead)
		if columns -= wide; columns == 0 {
			return
		}
		dst, rows = (*float32)(unsafe.Add(unsafe.Pointer(dst), 4*wide)), (*byte)(unsafe.Add(unsafe.Pointer(rows), 4*wide))
	}
	weightedAVX2(dst, weights, rows, n, columns, stride, ahead)
}
