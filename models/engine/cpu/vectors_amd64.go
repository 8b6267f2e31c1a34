//go:build !purego

package cpu

import "onebit/kernels"

var simdVectors = []*Vectors{
	newSIMD("avx2", "eight floats a register", kernels.AVX2, attentionSIMD{
		scoreTiles: []scoreTile{{6, 16, scores6x16AVX2}, {2, 32, scores2x32AVX2}, {1, 32, scores1x32AVX2}},
		weightTiles: []weightTile{
			{6, 16, weighted6x16AVX2}, {2, 32, weighted2x32AVX2}, {2, 16, weighted2x16AVX2}, {1, 16, weighted1x16AVX2},
		},
		blendLanes: 8, blendNumbers: blendAVX2, int8SIMD: int8AVX2,
		halfScoreTiles: halfScoresAVX2, halfWeightTiles: []weightTile{
			{4, 16, weightedF16x4x16AVX2}, {2, 16, weightedF16x2x16AVX2}, {1, 16, weightedF16x1x16AVX2},
		},
	}, deltaRuleAVX2),
	newSIMD("avx512", "sixteen floats a register", kernels.AVX512, wideAttention(int8SIMD{
		q8Tiles: int8AVX2.q8Tiles, valueTiles: []valueTile{
			{12, 32, addValues12x32AVX512}, {4, 32, addValues4x32AVX512}, {2, 32, addValues2x32AVX512}, {1, 32, addValues1x32AVX512},
		},
	}), deltaRuleAVX512),
	newSIMD("avx512vnni", "as avx512, int8 by VPDPBUSD and VPDPWSSD", kernels.AVX512VNNI, wideAttention(int8SIMD{
		q8Tiles: []q8Tile{{6, 32, scoresQ8x6x32AVX512VNNI}, {2, 32, scoresQ8x2x32AVX512VNNI}, {1, 32, scoresQ8x1x32AVX512VNNI}},
		valueTiles: []valueTile{
			{12, 32, addValues12x32AVX512VNNI}, {4, 32, addValues4x32AVX512VNNI}, {2, 32, addValues2x32AVX512VNNI}, {1, 32, addValues1x32AVX512VNNI},
		},
	}), deltaRuleAVX512),
}

var halfScoresAVX2 = []scoreTile{{4, 16, scoresF16x4x16AVX2}, {2, 32, scoresF16x2x32AVX2}, {1, 32, scoresF16x1x32AVX2}}

var int8AVX2 = int8SIMD{
	q8Tiles:     []q8Tile{{2, 16, scoresQ8x2x16AVX2}, {1, 16, scoresQ8x1x16AVX2}},
	valueTiles:  []valueTile{{6, 16, addValues6x16AVX2}, {2, 16, addValues2x16AVX2}, {1, 16, addValues1x16AVX2}},
	softenTiles: softenAVX2, roundCodes: roundCodesAVX2, greatestScale: greatestAVX2, unpackKeys: unpackQ4AVX2, unpackValues: unpackPairsAVX2,
}

// wideAttention is that of AVX-512, with the products in int8 that are given.
func wideAttention(products int8SIMD) attentionSIMD {
	int8 := int8AVX2
	int8.q8Tiles, int8.valueTiles = products.q8Tiles, products.valueTiles
	int8.softenTiles, int8.roundCodes = softenAVX512, roundCodesAVX512
	return attentionSIMD{
		scoreTiles: []scoreTile{
			{12, 32, scores12x32AVX512}, {4, 32, scores4x32AVX512}, {2, 32, scores2x32AVX512}, {1, 32, scores1x32AVX512},
		},
		weightTiles: []weightTile{
			{12, 32, weighted12x32AVX512}, {12, 16, weighted12x16AVX512}, {4, 64, weighted4x64AVX512}, {4, 16, weighted4x16AVX512},
			{2, 64, weighted2x64AVX512}, {2, 32, weighted2x32AVX2}, {2, 16, weighted2x16AVX2},
			{1, 64, weighted1x64AVX512}, {1, 16, weighted1x16AVX2},
		},
		blendLanes: 16, blendNumbers: blendAVX512, int8SIMD: int8,
		halfScoreTiles: halfScoresAVX2, halfWeightTiles: []weightTile{
			{4, 64, weightedF16x4x64AVX512}, {4, 16, weightedF16x4x16AVX2}, {2, 64, weightedF16x2x64AVX512}, {2, 16, weightedF16x2x16AVX2},
			{1, 64, weightedF16x1x64AVX512}, {1, 16, weightedF16x1x16AVX2},
		},
	}
}
