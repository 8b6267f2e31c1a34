//go:build !purego

package cpu

import "onebit/kernels"

var simdVectors = []*Vectors{
	newSIMD("neon", "four floats a register", kernels.NEON, attentionSIMD{
		scoreTiles:  []scoreTile{{4, 16, scores4x16NEON}, {2, 16, scores2x16NEON}, {1, 16, scores1x16NEON}},
		weightTiles: []weightTile{{4, 16, weighted4x16NEON}, {2, 16, weighted2x16NEON}, {1, 16, weighted1x16NEON}},
		blendLanes:  8, blendNumbers: blendNEON, decodeKeys: decodeKeysQ8NEON,
	}),
}

//go:noescape
func scores4x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte)

//go:noescape
func scores2x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte)

//go:noescape
func scores1x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte)

//go:noescape
func weighted4x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte)

//go:noescape
func weighted2x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte)

//go:noescape
func weighted1x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte)

//go:noescape
func blendNEON(dst, x *float32, n int, by float32)

//go:noescape
func decodeKeysQ8NEON(dst *float32, src *byte, blocks int)
