//go:build !purego

package cpu

import "onebit/kernels"

var simdVectors = []*Vectors{
	newSIMD("avx2", "eight floats a register", kernels.AVX2, attentionSIMD{
		scoreTiles: []scoreTile{{6, 16, scores6x16AVX2}, {2, 32, scores2x32AVX2}, {1, 32, scores1x32AVX2}},
		weightTiles: []weightTile{
			{6, 16, weighted6x16AVX2}, {2, 32, weighted2x32AVX2}, {2, 16, weighted2x16AVX2}, {1, 16, weighted1x16AVX2},
		},
		blendLanes: 8, blendNumbers: blendAVX2, decodeKeys: decodeKeysQ8AVX2,
	}),
	newSIMD("avx512", "attention and the delta rule in sixteen floats a register, the rest as avx2", kernels.AVX512, attentionSIMD{
		scoreTiles: []scoreTile{
			{12, 32, scores12x32AVX512}, {4, 64, scores4x64AVX512}, {2, 64, scores2x64AVX512}, {1, 64, scores1x64AVX512},
		},
		weightTiles: []weightTile{
			{12, 32, weighted12x32AVX512}, {12, 16, weighted12x16AVX512}, {4, 64, weighted4x64AVX512}, {4, 16, weighted4x16AVX512},
			{2, 64, weighted2x64AVX512}, {2, 32, weighted2x32AVX2}, {2, 16, weighted2x16AVX2},
			{1, 64, weighted1x64AVX512}, {1, 16, weighted1x16AVX2},
		},
		blendLanes: 16, blendNumbers: blendAVX512, decodeKeys: decodeKeysQ8AVX512,
	}).withDeltaRule(deltaRuleAVX512),
}
