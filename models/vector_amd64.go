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

// Each function of the assembly takes a multiple of 8 elements, which the
// caller has checked the slices for.

//go:noescape
func addAVX2(x, y *float32, n int)

//go:noescape
func squaresAVX2(sum *lanes, x *float32, n int)

//go:noescape
func scaleAVX2(dst, x, gain *float32, n int, scale float32)

//go:noescape
func siluAVX2(gate, up *float32, n int)

//go:noescape
func relu2AVX2(gate, up *float32, n int)

//go:noescape
func expAVX2(sum *lanes, x *float32, n int, top, scale float32)

//go:noescape
func encodeF16AVX2(dst *byte, src *float32, n int)

//go:noescape
func decodeF16AVX2(dst, src *byte, n int)

// decodeQ8AVX2 takes blocks of 32 elements.
//
//go:noescape
func decodeQ8AVX2(dst, src *byte, blocks int)

//go:noescape
func maxAVX2(x *float32, n int) float32

//go:noescape
func turnAVX2(a, b, cos, sin *float32, n int)

// scoresAVX2 takes a multiple of 4 rows and of 16 columns. While it works it
// fetches as many bytes from ahead on as the rows have in fp16; nil: none.
//
//go:noescape
func scoresAVX2(dst, q *float32, rows *byte, n, width int, ahead *byte)

// scoresAVX512 takes rows by 8.
//
//go:noescape
func scoresAVX512(dst, q *float32, rows *byte, n, width int, ahead *byte)

// weightedAVX2 takes rows of stride bytes, of which it does the first columns.
// It fetches from ahead as scoresAVX2 does.
//
//go:noescape
func weightedAVX2(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

// weightedAVX512 takes columns by 128.
//
//go:noescape
func weightedAVX512(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)

// whole returns how many of n elements the assembly takes.
func whole(n int) int {
	if !hasSIMD {
		return 0
	}
	return n &^ 7
}

func add(x, y []float32) {
	n := whole(len(x))
	if n > 0 {
		y = y[:len(x)]
		addAVX2(&x[0], &y[0], n)
	}
	addGeneric(x[n:], y[n:])
}

func squares(sum *lanes, x []float32) {
	n := whole(len(x))
	if n > 0 {
		squaresAVX2(sum, &x[0], n)
	}
	squaresGeneric(sum, x[n:])
}

func scale(dst, x, gain []float32, by float32) {
	n := whole(len(gain))
	if n > 0 {
		dst, x = dst[:len(gain)], x[:len(gain)]
		scaleAVX2(&dst[0], &x[0], &gain[0], n, by)
	}
	scaleGeneric(dst[n:], x[n:], gain[n:], by)
}

func silu(gate, up []float32) {
	n := whole(len(gate))
	if n > 0 {
		up = up[:len(gate)]
		siluAVX2(&gate[0], &up[0], n)
	}
	siluGeneric(gate[n:], up[n:])
}

func relu2(gate, up []float32) {
	n := whole(len(gate))
	if n > 0 {
		up = up[:len(gate)]
		relu2AVX2(&gate[0], &up[0], n)
	}
	relu2Generic(gate[n:], up[n:])
}

func exp(sum *lanes, x []float32, top, by float32) {
	n := whole(len(x))
	if n > 0 {
		expAVX2(sum, &x[0], n, top, by)
	}
	expGeneric(sum, x[n:], top, by)
}

func encodeF16(dst []byte, src []float32) {
	n := whole(len(src))
	if n > 0 {
		dst = dst[:2*len(src)]
		encodeF16AVX2(&dst[0], &src[0], n)
	}
	encodeF16Generic(dst[2*n:], src[n:])
}

func decodeF16(dst, src []byte) {
	src = src[:len(dst)/2]
	n := whole(len(src) / 2)
	if n > 0 {
		decodeF16AVX2(&dst[0], &src[0], n)
	}
	decodeF16Generic(dst[4*n:], src[2*n:])
}

func decodeQ8(dst, src []byte) {
	if !hasSIMD || len(dst) == 0 {
		decodeQ8Generic(dst, src)
		return
	}
	blocks := len(dst) / (4 * q8Len)
	src = src[:blocks*q8Bytes]
	decodeQ8AVX2(&dst[0], &src[0], blocks)
}

func maximum(x []float32) float32 {
	n := whole(len(x))
	top := maximumGeneric(x[n:])
	if n > 0 {
		top = max(top, maxAVX2(&x[0], n))
	}
	return top
}

func turn(a, b, cos, sin []float32) {
	n := whole(len(cos))
	if n > 0 {
		a, b, sin = a[:len(cos)], b[:len(cos)], sin[:len(cos)]
		turnAVX2(&a[0], &b[0], &cos[0], &sin[0], n)
	}
	turnGeneric(a[n:], b[n:], cos[n:], sin[n:])
}

func scores(dst, q []float32, rows, ahead []byte) {
	n, width := len(dst), len(q)
	if !hasSIMD || n == 0 || n%8 != 0 || width == 0 || width%16 != 0 {
		scoresGeneric(dst, q, rows)
		return
	}
	rows = rows[:4*n*width]
	if hasAVX512 {
		scoresAVX512(&dst[0], &q[0], &rows[0], n, width, unsafe.SliceData(ahead))
		return
	}
	scoresAVX2(&dst[0], &q[0], &rows[0], n, width, unsafe.SliceData(ahead))
}

func weighted(dst, weights []float32, rows, ahead []byte) {
	stride, done := 4*len(dst), 0
	rows = rows[:len(weights)*stride]
	if n := len(dst) &^ 127; hasAVX512 && n > 0 && len(weights) > 0 {
		weightedAVX512(&dst[0], &weights[0], &rows[0], len(weights), n, stride, unsafe.SliceData(ahead))
		done = n
	}
	if n := whole(len(dst) - done); n > 0 && len(weights) > 0 {
		weightedAVX2(&dst[done], &weights[0], &rows[4*done], len(weights), n, stride, unsafe.SliceData(ahead))
		done += n
	}
	if done < len(dst) {
		weightedGeneric(dst, weights, rows, done)
	}
}
