//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/pairs"
	"onebit/kernels/internal/tiles"
)

// ternaryPairsMatMul is for 2-bit codes with one scale per tensor.
func ternaryPairsMatMul(b *pairs.Panels) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		rowBytes := wordRowBytes(m.Cols)
		size := b.ColumnLen(a.Stride)
		var out [32]float32 // of a column, 4 rows
		var scales [8]float32
		var padded [4][16]byte
		for c, cols := 0, 0; c < a.N; c += cols {
			cols = pairs.Cols(a.N - c)
			q := a.In(b.Order)[c*size:][:cols*size]
			sums := q[cols*a.Stride:]
			for i := range scales[:cols] {
				scales[i] = m.Scale * a.Scale(min(c+i, a.N-1), 0)
			}
			for r, n := r0, 0; r < r1; r += n {
				var from, stride int
				from, n, stride = tiles.Four(r, r1, rowBytes)
				w := m.Data[from*rowBytes:][:3*stride+rowBytes]
				var tail *byte
				if whole := rowBytes &^ 15; whole < rowBytes {
					for i := range padded {
						copy(padded[i][:], w[i*stride+whole:][:rowBytes-whole])
					}
					tail = &padded[0][0]
				}
				switch cols {
				case 8:
					ternaryBatch8NEONI8MM(&out[0], &w[0], stride, rowBytes/16, tail, &q[0], &scales[0], &sums[0])
				case 4:
					ternaryBatch4NEONI8MM(&out[0], &w[0], stride, rowBytes/16, tail, &q[0], &scales[0], &sums[0])
				default:
					ternaryBatch2NEONI8MM(&out[0], &w[0], stride, rowBytes/16, tail, &q[0], &scales[0], &sums[0])
				}
				tiles.Store(dst, m.Rows, c, min(cols, a.N-c), r, n, out[:], 4, r-from)
			}
		}
	}
}

// ternaryBatch8NEONI8MM multiplies 4 rows of 2-bit codes, stride bytes apart,
// with a panel of 8 columns in step order. Each row has steps times 16 bytes
// and, if tail is not nil, 16 more, padded, at tail. sums is the panel's end.
//
//	for c := range 8 {
//		for i := range 4 {
//			sum := -Σ q[c]
//			for k := range columns {
//				sum += code(i, k) * q[c][k]
//			}
//			dst[4*c+i] = float32(scales[c]*float32(sum)) + 0
//		}
//	}
//
//go:noescape
func ternaryBatch8NEONI8MM(dst *float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)

// ternaryBatch4NEONI8MM is ternaryBatch8NEONI8MM for 4 columns.
//
//go:noescape
func ternaryBatch4NEONI8MM(dst *float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)

// ternaryBatch2NEONI8MM is ternaryBatch8NEONI8MM for 2 columns.
//
//go:noescape
func ternaryBatch2NEONI8MM(dst *float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)
