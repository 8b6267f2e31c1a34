//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/quantize"
)

func init() {
	for _, f := range twoBitFormats {
		layout := f.spansLayout()
		if layout == nil {
			continue
		}
		for _, k := range []struct {
			isa         *kernels.ISA
			instruction string
			multiply    spansKernel
		}{{kernels.NEON, "SMLAL", spansNEON}, {kernels.NEONDot, "SDOT", spansNEONDot}} {
			kernels.Register(&kernels.Variant{
				Name: k.isa.Name, Summary: k.instruction + " on codes shifted down, 16 rows at a time; MLA with shares of the scales", Format: f.Type,
				Scheme: kernels.Q8Per32, ISA: k.isa, Layout: layout, Preference: 4,
				Kernels: []kernels.Kernel{kernels.ByColumn(nil, spans{f.codes, layout, k.multiply}.matVec)},
			})
		}
	}
}

// A spansKernel is spansNEONDot or spansNEON.
type spansKernel func(dst *float32, codes, scales *byte, scale float32, q *int8, spans *int32, blocks, terms, groups, skip, step int)

// spans multiplies tiles of a layout, column by column.
type spans struct {
	codes    *twoBit
	layout   *kernels.Layout
	multiply spansKernel
}

func (s spans) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	const rows = 16 // of a call
	q, span, size := &a.Q[col*a.Stride], &a.SpansOf(col, 1)[0].Shares[0], s.layout.PackedBytes(tileRows, m.Cols)
	blocks, terms, groups, skip, step := spansOf(m.Cols), 1, quantize.SpanLen/32, 0, 0
	if s.codes.scale >= 0 {
		n := s.codes.blockLen
		blocks, terms, groups, skip, step = m.Cols/n, max(1, n/quantize.SpanLen), min(n, quantize.SpanLen)/32, tileScales, s.codes.tileBlock()
	}
	for r := r0; r < r1; r += rows {
		in := r % tileRows
		tile := m.Span(r/tileRows, r/tileRows+1, size)
		var scales *byte
		if s.codes.scale >= 0 {
			scales = &tile[step-tileScales+2*in]
		}
		if r+rows <= r1 {
			s.multiply(&dst[r], &tile[4*in], scales, m.Scale, q, span, blocks, terms, groups, skip, step)
			continue
		}
		var part [rows]float32
		s.multiply(&part[0], &tile[4*in], scales, m.Scale, q, span, blocks, terms, groups, skip, step)
		copy(dst[r:r1], part[:])
	}
}

// spansNEONDot multiplies 16 rows of a tile of the layout codes64 or codes128, in blocks of
// terms times groups times 32 columns, with one column of activations under q8_32 in their
// natural order. spans are its quantize.Spans, of which a term is the whole or, with two
// groups, a half. Codes and scales begin with the first row's, skip bytes lie between the
// codes of a block and those of the next, step from scales to scales. If scales is nil,
// all are scale.
//
//	for r := range 16 {
//		dst[r] = 0
//		for each term:
//			sum := int32(0)
//			for k := range columns of the term {
//				sum += share(k/32) * (code(r, k) - 1) * q[k]
//			}
//			dst[r] += float32(fp16(scale(r)) * float32(unit*float32(sum)))
//	}
//
//go:noescape
func spansNEONDot(dst *float32, codes, scales *byte, scale float32, q *int8, spans *int32, blocks, terms, groups, skip, step int)

// spansNEON is spansNEONDot without dot products.
//
//go:noescape
func spansNEON(dst *float32, codes, scales *byte, scale float32, q *int8, spans *int32, blocks, terms, groups, skip, step int)
