//go:build !purego

package cpu

import "onebit/kernels"

var simdVectors = []*Vectors{
	newSIMD("neon", "four floats a register", kernels.NEON, attentionNEON([]q8Tile{{1, 16, scoresQ8x1x16NEON}}), deltaRuleNEON),
	newSIMD("neondot", "as neon, scores of int8 by SDOT", kernels.NEONDot, attentionNEON([]q8Tile{
		{2, 16, scoresQ8x2x16NEONDot}, {1, 16, scoresQ8x1x16NEONDot},
	}), deltaRuleNEON),
}

func attentionNEON(q8 []q8Tile) attentionSIMD {
	return attentionSIMD{
		scoreTiles:  []scoreTile{{4, 16, scores4x16NEON}, {2, 16, scores2x16NEON}, {1, 16, scores1x16NEON}},
		weightTiles: []weightTile{{4, 16, weighted4x16NEON}, {2, 16, weighted2x16NEON}, {1, 16, weighted1x16NEON}},
		blendLanes:  8, blendNumbers: blendNEON,
		int8SIMD: int8SIMD{
			q8Tiles: q8, valueTiles: []valueTile{{4, 16, addValues4x16NEON}, {2, 16, addValues2x16NEON}, {1, 16, addValues1x16NEON}},
			softenTiles: softenNEON, roundCodes: roundCodesNEON, greatestScale: greatestNEON, unpackKeys: unpackQ4NEON, unpackValues: unpackPairsNEON,
		},
	}
}

//go:noescape
func scores4x16NEON(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)

//go:noescape
func scores2x16NEON(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)

//go:noescape
func scores1x16NEON(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)

//go:noescape
func weighted4x16NEON(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)

//go:noescape
func weighted2x16NEON(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)

//go:noescape
func weighted1x16NEON(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)

//go:noescape
func blendNEON(dst, x *float32, n int, by float32)

//go:noescape
func scoresQ8x1x16NEON(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)

//go:noescape
func scoresQ8x2x16NEONDot(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)

//go:noescape
func scoresQ8x1x16NEONDot(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)

//go:noescape
func unpackQ4NEON(dst, src *byte, blocks int)

//go:noescape
func softenNEON(scores, tops, sums *float32, rows int, scale float32)

//go:noescape
func roundCodesNEON(dst *int16, weights, scales, factors *float32, rows, blocks, stride int)

//go:noescape
func addValues4x16NEON(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)

//go:noescape
func addValues2x16NEON(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)

//go:noescape
func addValues1x16NEON(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)

//go:noescape
func greatestNEON(halves *byte) uint64

//go:noescape
func unpackPairsNEON(dst, src *byte, width, quads int)

// deltaRuleNEON is deltaRuleScalar of a matrix of 32 columns.
//
//go:noescape
func deltaRuleNEON(matrix, q, k, v, out *float32, keys int, decay, beta float32)
