//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/pairs"
)

// stepCols is the columns of 16 bytes of 2-bit codes, which the kernels take
// of each row in a step.
const stepCols = 64

// A ternaryRowsFunc multiplies rows with one scale per tensor.
type ternaryRowsFunc func(dst *float32, w *byte, stride, rows, rowBytes int, q *int8, sums *int32, runs int, scale float32)

// A twoBitBlocksFunc multiplies rows with a scale per block.
type twoBitBlocksFunc func(dst *float32, w *byte, stride, rows, blocks, steps, scaleAt int, q *int8, sums *int32, scales *float32, scaleShift int)

func init() {
	for _, f := range twoBitFormats {
		codes := f.codes
		if codes.scale >= 0 {
			f.registerCodes64()
		}
		if f.layout == nil {
			continue
		}
		order := codes.stepOrder()
		dotBatch, from := newTwoBitBatch(codes, order), ternaryBatchFrom
		if codes.scale >= 0 {
			from = blocksBatchFrom
		}
		for _, k := range []struct {
			isa         *kernels.ISA
			instruction string
			ternaryRows ternaryRowsFunc
			blocks      twoBitBlocksFunc
		}{
			{kernels.NEON, "SMLAL", ternaryRowsNEON, twoBitBlocksNEON},
			{kernels.NEONDot, "SDOT", ternaryRowsNEONDot, twoBitBlocksNEONDot},
		} {
			v := &kernels.Variant{
				Name: k.isa.Name, Summary: k.instruction + " on codes masked in place, 4 rows at a time", Format: f.Type, Scheme: f.Scheme, ISA: k.isa, Layout: f.layout,
				Kernels: []kernels.Kernel{kernels.ByColumn(order, ternaryMatVec(k.ternaryRows, order))},
			}
			if codes.scale >= 0 {
				v.Name += "-native"
				v.Summary = k.instruction + " on codes shifted down, 4 rows at a time"
				v.Kernels[0] = kernels.ByColumn(order, blocksMatVec(k.blocks, order, codes))
			}
			if k.isa == kernels.NEONDot {
				v.Kernels = append(v.Kernels, kernels.Kernel{From: from, Order: dotBatch.order, Rows: dotBatch.matMul})
			}
			kernels.Register(v)
		}
		if codes.scale < 0 {
			batch := pairs.New(order, 4, 0)
			kernels.Register(&kernels.Variant{
				Name: kernels.NEONI8MM.Name, Summary: "SMMLA on 4 rows × 8 columns, SDOT for one", Format: f.Type, Scheme: f.Scheme,
				ISA: kernels.NEONI8MM, Layout: f.layout,
				Kernels: []kernels.Kernel{
					kernels.ByColumn(order, ternaryMatVec(ternaryRowsNEONDot, order)),
					{From: 2, Order: batch.Order, Rows: ternaryPairsMatMul(batch)},
				},
			})
		}
	}
}

// ternaryMatVec is for formats with one scale per tensor.
func ternaryMatVec(kernel ternaryRowsFunc, order *kernels.Order) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		n := wordRowBytes(m.Cols) // as long if blocks fill the row
		out := dst[r0:r1]
		w := m.Span(r0, r1, n)
		q, _, sums := a.Columns(order, col, 1)
		kernel(&out[0], &w[0], n, len(out), n, &q[0], &sums[0], len(sums), m.Scale*a.Scale(col, 0))
	}
}

// blocksMatVec is for formats with a scale per block.
func blocksMatVec(kernel twoBitBlocksFunc, order *kernels.Order, f *twoBit) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks := m.Cols / f.blockLen
		n := blocks * f.blockBytes
		scaleShift := 63 // of a block's number: that of its activation scale
		if a.Scheme == kernels.Q8Per128 {
			scaleShift = 128/f.blockLen - 1
		}
		out := dst[r0:r1]
		w := m.Span(r0, r1, n)
		q, scales, sums := a.Columns(order, col, 1)
		kernel(&out[0], &w[f.data], n, len(out), blocks, f.blockLen/stepCols, f.scale-f.data, &q[0], &sums[0], &scales[0], scaleShift)
	}
}

// stepOrder arranges activations as the kernels meet the codes: 64 for each
// 16 bytes, first the 16 that belong to the codes at shift 0, then those of
// shifts 2, 4 and 6.
func (f *twoBit) stepOrder() *kernels.Order {
	arrange := arrangeBytes
	if f.span > 1 {
		arrange = f.arrangeRuns()
	}
	return &kernels.Order{
		Name:    "steps",
		Size:    func(n, stride int) int { return n * stride },
		Arrange: func(dst, q []int8, n, stride int) { arrange(dst[:n*stride], q[:n*stride]) },
	}
}

// arrangeBytes is for codes of neighbouring columns in a byte.
func arrangeBytes(dst, q []int8) {
	arrangeBytesNEON(&dst[0], &q[0], len(q)/stepCols)
}

// arrangeRuns is for codes of neighbouring columns in neighbouring bytes, 16
// or more.
func (f *twoBit) arrangeRuns() func(dst, q []int8) {
	var from [16]int // in 256 columns: four steps of four runs of 16
	for i := range from {
		at, part := i/4*16, i%4
		if f.shifts[0] != 0 { // the first columns are in the highest bits
			part = 3 - part
		}
		from[i] = at/f.span*4*f.span + part*f.span + at%f.span
	}
	return func(dst, q []int8) {
		for ; len(q) > 0; dst, q = dst[256:], q[256:] {
			d, s := (*[256]int8)(dst), (*[256]int8)(q)
			for i, at := range &from {
				*(*[16]int8)(d[16*i:]) = *(*[16]int8)(s[at:])
			}
		}
	}
}

// ternaryRowsNEONDot multiplies rows of rowBytes bytes, a multiple of 4, that
// start stride bytes apart. q is in step order, zero behind the last column;
// sums has the sums of its runs of 32, a multiple of 4 of them.
//
//	for r := range rows {
//		sum := -Σ sums[:runs]
//		for i := range rowBytes {
//			for j := range 4 {
//				sum += int32(w[r*stride+i]>>(2*j)&3) * int32(q[i/16*64+j*16+i%16])
//			}
//		}
//		dst[r] = float32(scale*float32(sum)) + 0
//	}
//
//go:noescape
func ternaryRowsNEONDot(dst *float32, w *byte, stride, rows, rowBytes int, q *int8, sums *int32, runs int, scale float32)

// ternaryRowsNEON is ternaryRowsNEONDot without dot products, for codes of at
// most 2.
//
//go:noescape
func ternaryRowsNEON(dst *float32, w *byte, stride, rows, rowBytes int, q *int8, sums *int32, runs int, scale float32)

// twoBitBlocksNEONDot multiplies rows of blocks, of steps (at most 4) runs of
// 16 bytes of codes and a scale each, that start stride bytes apart. w is the
// first row's first code, scaleAt the distance from a block's codes to its
// scale, -2 or 16*steps. q is in step order, sums has the sums of its runs of
// 32.
//
//	for r := range rows {
//		dst[r] = 0
//		for b := range blocks {
//			block := w[r*stride+b*(16*steps+2):]
//			sum := -Σ sums[2*steps*b:][:2*steps]
//			for i := range 16 * steps {
//				for j := range 4 {
//					sum += int32(block[i]>>(2*j)&3) * int32(q[b*64*steps+i/16*64+j*16+i%16])
//				}
//			}
//			scale := fp16(block[scaleAt:]) * scales[b>>scaleShift]
//			dst[r] += float32(scale * float32(sum))
//		}
//	}
//
//go:noescape
func twoBitBlocksNEONDot(dst *float32, w *byte, stride, rows, blocks, steps, scaleAt int, q *int8, sums *int32, scales *float32, scaleShift int)

// twoBitBlocksNEON is twoBitBlocksNEONDot without dot products.
//
//go:noescape
func twoBitBlocksNEON(dst *float32, w *byte, stride, rows, blocks, steps, scaleAt int, q *int8, sums *int32, scales *float32, scaleShift int)

// arrangeBytesNEON arranges steps of 64 activations in step order.
//
//	for s := range steps {
//		for j := range 4 {
//			for i := range 16 {
//				dst[64*s+16*j+i] = q[64*s+4*i+j]
//			}
//		}
//	}
//
//go:noescape
func arrangeBytesNEON(dst, q *int8, steps int)
