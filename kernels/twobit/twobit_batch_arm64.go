//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// A twoBitBatch multiplies several columns with SDOT by element: panels of 16,
// 8 or 4 columns, tiles of 4 rows. Formats with one scale for the tensor have
// a row for a block.
type twoBitBatch struct {
	codes *twoBit
	order *kernels.Order // the panels
}

// newTwoBitBatch is for columns in step order.
//
// A panel begins each block with -Σq of its columns. For every 4 bytes of codes
// and each of their shifts come 4 activations of each column.
func newTwoBitBatch(codes *twoBit, steps *kernels.Order) *twoBitBatch {
	b := &twoBitBatch{codes: codes}
	b.order = &kernels.Order{
		Name: "steps, panels",
		Size: func(n, stride int) int { return (n+3)&^3*b.columnLen(stride) + 4*stride },
		Arrange: func(dst, q []int8, n, stride int) {
			size := b.columnLen(stride)
			scratch := dst[len(dst)-4*stride:]
			for c, cols := 0, 0; c < n; c += cols {
				cols = batchPanel(n - c)
				panel := dst[c*size:][:cols*size]
				for i := 0; i < cols; i += 4 {
					for k := range 4 {
						steps.Arrange(scratch[k*stride:][:stride], q[min(c+i+k, n-1)*stride:][:stride], 1, stride)
					}
					b.arrangeColumns(panel[4*i:], scratch, stride, 4*cols)
				}
			}
		},
	}
	return b
}

// batchPanel is the columns of the next panel if n are left: whole panels of 4.
func batchPanel(n int) int {
	switch {
	case n > 12:
		return 16
	case n > 4:
		return 8
	}
	return 4
}

// blockCols is the columns of a block in rows of stride.
func (b *twoBitBatch) blockCols(stride int) int {
	if b.codes.scale < 0 {
		return stride
	}
	return b.codes.blockLen
}

// columnLen is a column's share of a panel.
func (b *twoBitBatch) columnLen(stride int) int { return stride + stride/b.blockCols(stride)*4 }

// arrangeColumns writes 4 columns of stride, 16 bytes every step.
func (b *twoBitBatch) arrangeColumns(dst, columns []int8, stride, step int) {
	n := b.blockCols(stride)
	for i := range stride / n {
		q := columns[i*n:]
		arrangeColumnsNEONDot(&dst[i*(1+n/4)*step], &q[0], &q[stride], &q[2*stride], &q[3*stride], n/stepCols, step)
	}
}

func (b *twoBitBatch) matMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	f := b.codes
	blocks, dwords, rowBytes, scaleShift := 1, wordRowBytes(m.Cols)/4, wordRowBytes(m.Cols), 63
	tensor := [4]float32{m.Scale, m.Scale, m.Scale, m.Scale}
	weights := &tensor[0]
	if f.scale >= 0 {
		weights = nil // the blocks have them
		blocks, dwords = m.Cols/f.blockLen, f.blockLen/16
		rowBytes = blocks * f.blockBytes
		if a.Scheme == kernels.Q8Per128 {
			scaleShift = 128/f.blockLen - 1
		}
	}
	var out [64]float32 // of a column, 4 rows
	var scales [16]*float32
	for c, cols := 0, 0; c < a.N; c += cols {
		cols = batchPanel(a.N - c)
		q := &a.In(b.order)[c*b.columnLen(a.Stride)]
		for i := range cols {
			scales[i] = &a.Scales[min(c+i, a.N-1)*a.Groups]
		}
		for r, n := r0, 0; r < r1; r += n {
			var from, stride int
			from, n, stride = tiles.Four(r, r1, rowBytes)
			w := &m.Data[from*rowBytes+f.data]
			switch cols {
			case 16:
				twoBitBatch16NEONDot(&out[0], w, stride, blocks, dwords, f.scale-f.data, weights, q, &scales, scaleShift)
			case 8:
				twoBitBatch8NEONDot(&out[0], w, stride, blocks, dwords, f.scale-f.data, weights, q, &scales, scaleShift)
			default:
				twoBitBatch4NEONDot(&out[0], w, stride, blocks, dwords, f.scale-f.data, weights, q, &scales, scaleShift)
			}
			tiles.Store(dst, m.Rows, c, min(cols, a.N-c), r, n, out[:], 4, r-from)
		}
	}
}

// twoBitBatch16NEONDot multiplies 4 rows of blocks, dwords times 4 bytes of codes
// each, that start stride bytes apart, with a panel of 16 columns. w is the first
// row's first code. weights are the rows' scales; if it is nil, the blocks have
// them, scaleAt behind their first code. scales are those of the columns.
//
//	for c := range 16 {
//		for i := range 4 {
//			dst[4*c+i] = 0
//			for b := range blocks {
//				sum := -Σq[c] of block b + Σ code(i)·q[c] of block b
//				dst[4*c+i] += float32(float32(weight(i, b)*scales[c][b>>scaleShift]) * float32(sum))
//			}
//		}
//	}
//
//go:noescape
func twoBitBatch16NEONDot(dst *float32, w *byte, stride, blocks, dwords, scaleAt int, weights *float32, q *int8, scales *[16]*float32, scaleShift int)

// twoBitBatch8NEONDot is twoBitBatch16NEONDot for 8 columns.
//
//go:noescape
func twoBitBatch8NEONDot(dst *float32, w *byte, stride, blocks, dwords, scaleAt int, weights *float32, q *int8, scales *[16]*float32, scaleShift int)

// twoBitBatch4NEONDot is twoBitBatch16NEONDot for 4 columns.
//
//go:noescape
func twoBitBatch4NEONDot(dst *float32, w *byte, stride, blocks, dwords, scaleAt int, weights *float32, q *int8, scales *[16]*float32, scaleShift int)

// arrangeColumnsNEONDot arranges a block of 4 columns in step order, 16 bytes
// every step.
//
//	int32s(dst)[:4] = -Σq0, -Σq1, -Σq2, -Σq3
//	for g := range groups {
//		for d := range 4 {
//			for j := range 4 {
//				for c, q := range q0, q1, q2, q3 {
//					copy(dst[(1+16*g+4*d+j)*step+4*c:][:4], q[64*g+16*j+4*d:])
//				}
//			}
//		}
//	}
//
//go:noescape
func arrangeColumnsNEONDot(dst, q0, q1, q2, q3 *int8, groups, step int)
