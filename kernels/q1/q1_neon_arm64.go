//go:build !purego

package q1

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/internal/pairs"
)

// A q1RowsFunc multiplies rows of the file's layout with one column in
// q1RowOrder.
type q1RowsFunc func(dst *float32, w *byte, stride, blocks, rows int, q *int8, scales *float32, scaleStep int, sums *int32)

func init() {
	for _, k := range []struct {
		isa                 *kernels.ISA
		how                 string
		planes128, planes32 bitplanesFunc
		rows128, rows32     q1RowsFunc
	}{
		{kernels.NEON, "CMTST, AND, SADALP", q1Bitplanes128NEON, q1Bitplanes32NEON, q1Rows128NEON, q1Rows32NEON},
		{kernels.NEONDot, "CMTST, SDOT", q1Bitplanes128NEONDot, q1Bitplanes32NEONDot, q1Rows128NEONDot, q1Rows32NEONDot},
	} {
		for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row, kernels.Q8Per32} {
			rows := k.rows128
			if act == kernels.Q8Per32 {
				rows = k.rows32
			}
			kernels.Register(&kernels.Variant{
				Name: k.isa.Name, Summary: "bit planes, " + k.how + ", 4 rows in a register", Format: formats.Q1_0_g128,
				Scheme: act, ISA: k.isa, Layout: bitplanes, Preference: 2,
				Kernels: []kernels.Kernel{kernels.ByColumn(nil, bitplanesMatVec(act, k.planes128, k.planes32))},
			})
			kernels.Register(&kernels.Variant{
				Name: k.isa.Name + "-native", Summary: "the file's rows, " + k.how + ", 4 rows at a time", Format: formats.Q1_0_g128,
				Scheme: act, ISA: k.isa, Layout: kernels.Native, Preference: 1,
				Kernels: []kernels.Kernel{kernels.ByColumn(q1RowOrder, q1RowsMatVec(rows, q1ScaleStep(act)))},
			})
		}
	}
	batch := pairs.New(q1PairOrder, 8, 128)
	for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row} {
		kernels.Register(&kernels.Variant{
			Name: kernels.NEONI8MM.Name, Summary: "bit planes, CMTST, SMMLA on 4 rows × 8 columns, SDOT for one", Format: formats.Q1_0_g128,
			Scheme: act, ISA: kernels.NEONI8MM, Layout: bitplanes, Preference: 2,
			Kernels: []kernels.Kernel{
				kernels.ByColumn(nil, bitplanesMatVec(act, q1Bitplanes128NEONDot, nil)),
				{From: 2, Order: batch.Order, Rows: q1PairsMatMul(batch)},
			},
		})
	}
}

func q1RowsMatVec(kernel q1RowsFunc, scaleStep int) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		stride := m.Cols / 128 * q1Block
		out := dst[r0:r1]
		w := m.Span(r0, r1, stride)
		q, _, sums := a.Columns(q1RowOrder, col, 1)
		kernel(&out[0], &w[0], stride, m.Cols/128, len(out), &q[0], q1Scales(a, col, 1), scaleStep, &sums[0])
	}
}

// q1RowOrder puts what belongs to bit j of a block's 16 bytes into 16 bytes:
// dst[128b+16j+i] = q[128b+8i+j].
var q1RowOrder = &kernels.Order{
	Name: "q1 rows",
	Size: func(n, stride int) int { return n * stride },
	Arrange: func(dst, q []int8, n, stride int) {
		q = q[:n*stride]
		arrangeQ1RowsNEON(&dst[:len(q)][0], &q[0], len(q)/128)
	},
}

// q1Bitplanes128NEONDot multiplies rows of the layout bitplanes, from a tile's
// first, with one column whose scale is that of 128 columns or, if scaleStep
// is 0 and not 4, of the row:
//
//	for i := range rows {
//		dst[i] = 0
//		for b := range blocks {
//			S := int32(0)
//			for k := range 128 {
//				S += (2*bit(i, 128*b+k) - 1) * q[128*b+k]
//			}
//			dst[i] += float32(float32(scale(i, b)*scales[b*scaleStep/4]) * float32(S))
//		}
//	}
//
// sums holds the sum of every 32 q.
//
//go:noescape
func q1Bitplanes128NEONDot(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

// q1Bitplanes32NEONDot is q1Bitplanes128NEONDot for a column under q8_32: what a
// block adds is float32(float32(scale(i, b)*Unit) * float32(Σ_g Shares[g]*S_g)), of
// its quantize.Span, of which scales is the first. scaleStep is 32.
//
//go:noescape
func q1Bitplanes32NEONDot(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

// q1Bitplanes128NEON is q1Bitplanes128NEONDot without dot products.
//
//go:noescape
func q1Bitplanes128NEON(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

// q1Bitplanes32NEON is q1Bitplanes32NEONDot without dot products.
//
//go:noescape
func q1Bitplanes32NEON(dst *float32, data *byte, q *int8, scales *float32, scaleStep int, sums *int32, blocks, rows int)

// q1Rows128NEONDot is q1Bitplanes128NEONDot for rows in the file's layout that
// start stride bytes apart, and q in q1RowOrder.
//
//go:noescape
func q1Rows128NEONDot(dst *float32, w *byte, stride, blocks, rows int, q *int8, scales *float32, scaleStep int, sums *int32)

// q1Rows32NEONDot is q1Rows128NEONDot for a column under q8_32, as
// q1Bitplanes32NEONDot is.
//
//go:noescape
func q1Rows32NEONDot(dst *float32, w *byte, stride, blocks, rows int, q *int8, scales *float32, scaleStep int, sums *int32)

// q1Rows128NEON is q1Rows128NEONDot without dot products.
//
//go:noescape
func q1Rows128NEON(dst *float32, w *byte, stride, blocks, rows int, q *int8, scales *float32, scaleStep int, sums *int32)

// q1Rows32NEON is q1Rows32NEONDot without dot products.
//
//go:noescape
func q1Rows32NEON(dst *float32, w *byte, stride, blocks, rows int, q *int8, scales *float32, scaleStep int, sums *int32)

// arrangeQ1RowsNEON arranges blocks of 128 activations in q1RowOrder.
//
//	for b := range blocks {
//		for j := range 8 {
//			for i := range 16 {
//				dst[128*b+16*j+i] = q[128*b+8*i+j]
//			}
//		}
//	}
//
//go:noescape
func arrangeQ1RowsNEON(dst, q *int8, blocks int)
