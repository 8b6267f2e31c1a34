//go:build !purego

package models

import "onebit/internal/cpu"

// simd is what the assembly needs. Without it the specification runs.
var simd = cpu.AVX2 | cpu.F16C

var hasSIMD = cpu.Detected()&simd == simd

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

// weightedF16AVX2 takes rows of stride bytes, of which it does 8·columns
// columns.
//
//go:noescape
func weightedF16AVX2(dst, weights *float32, rows *byte, n, columns, stride int)

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

func weightedF16(dst, weights []float32, rows []byte) {
	n := whole(len(dst))
	if n > 0 && len(weights) > 0 {
		rows = rows[:2*len(weights)*len(dst)]
		weightedF16AVX2(&dst[0], &weights[0], &rows[0], len(weights), n/8, 2*len(dst))
	}
	if n < len(dst) {
		weightedF16Generic(dst, weights, rows, n)
	}
}
