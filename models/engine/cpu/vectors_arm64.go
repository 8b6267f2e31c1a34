//go:build !purego

package cpu

import "onebit/kernels"

var simdVectors = []*Vectors{newSIMD("neon", "four floats a register", kernels.NEON, scoresSIMD, weightedSIMD)}

//go:noescape
func scoresSIMD(dst, q *float32, rows *byte, n, width int, ahead *byte)

//go:noescape
func weightedSIMD(dst, weights *float32, rows *byte, n, columns, stride int, ahead *byte)
