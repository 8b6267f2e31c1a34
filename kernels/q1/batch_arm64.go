//go:build !purego

package q1

import (
	"onebit/kernels"
	"onebit/kernels/internal/pairs"
	"onebit/kernels/internal/tiles"
)

// q1PairOrder puts what belongs to bit j of a block's four vectors into 16
// bytes: dst[128b+16j+4v+t] = q[128b+32v+4j+t].
var q1PairOrder = &kernels.Order{
	Name: "q1 pairs",
	Size: func(n, stride int) int { return n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		q = q[:n*stride]
		arrangeDwordsNEON(&dst[:len(q)][0], &q[0], len(q)/128)
	},
}

// q1PairsMatMul is for q1_0_g128 in the layout bitplanes.
func q1PairsMatMul(b *pairs.Panels) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		blocks := m.Cols / 128
		size, tileBytes := b.ColumnLen(a.Stride), blocks*bitplanesBlock
		blockStep := 4
		if a.Scheme == kernels.Q8Row {
			blockStep = 0
		}
		var out [32]float32 // of a column, 4 rows
		for c, cols := 0, 0; c < a.N; c += cols {
			cols = pairs.Cols(a.N - c)
			q := a.In(b.Order)[c*size:][:cols*size]
			scales, columnStep := a.Scales[c*a.Groups:], 4*a.Groups
			if c+1 == a.N {
				columnStep = 0
			}
			for r := r0; r < r1; r += 4 {
				tile, quarter := m.Data[r/bitplanesRows*tileBytes:][:tileBytes], r%bitplanesRows/4
				data, weightScales := tile[16*quarter:], tile[bitplanesBits+8*quarter:]
				switch cols {
				case 8:
					q1Batch8NEONI8MM(&out[0], &data[0], &weightScales[0], blocks, &q[0], &scales[0], columnStep, blockStep)
				case 4:
					q1Batch4NEONI8MM(&out[0], &data[0], &weightScales[0], blocks, &q[0], &scales[0], columnStep, blockStep)
				default:
					q1Batch2NEONI8MM(&out[0], &data[0], &weightScales[0], blocks, &q[0], &scales[0], columnStep, blockStep)
				}
				tiles.Store(dst, m.Rows, c, min(cols, a.N-c), r, min(4, r1-r), out[:], 4, 0)
			}
		}
	}
}

// q1Batch8NEONI8MM multiplies 4 rows of a tile of the layout bitplanes with a
// panel of 8 columns of q1PairOrder and a sum every 128 columns. data and
// weightScales are what the rows have in the tile's first block. Scales are
// columnStep bytes apart from column to column, blockStep from block to block.
//
//	for c := range 8 {
//		for i := range 4 {
//			dst[4*c+i] = 0
//			for b := range blocks {
//				S := int32(0)
//				for k := range 128 {
//					S += (2*bit(i, 128*b+k) - 1) * q[c][128*b+k]
//				}
//				dst[4*c+i] += float32(float32(scale(i, b)*scales[c*columnStep/4+b*blockStep/4]) * float32(S))
//			}
//		}
//	}
//
//go:noescape
func q1Batch8NEONI8MM(dst *float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)

// q1Batch4NEONI8MM is q1Batch8NEONI8MM for 4 columns.
//
//go:noescape
func q1Batch4NEONI8MM(dst *float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)

// q1Batch2NEONI8MM is q1Batch8NEONI8MM for 2 columns.
//
//go:noescape
func q1Batch2NEONI8MM(dst *float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)

// arrangeDwordsNEON arranges blocks of 128 activations in q1PairOrder.
//
//	for b := range blocks {
//		for j := range 8 {
//			for v := range 4 {
//				copy(dst[128*b+16*j+4*v:][:4], q[128*b+32*v+4*j:])
//			}
//		}
//	}
//
//go:noescape
func arrangeDwordsNEON(dst, q *int8, blocks int)
