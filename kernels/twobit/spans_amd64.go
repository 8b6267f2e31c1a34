//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/quantize"
)

func init() {
	for _, f := range twoBitFormats {
		if layout := f.spansLayout(); layout != nil {
			f.registerSpans(layout)
		}
	}
}

// A spansKernel multiplies rows of a tile with columns.
type spansKernel struct {
	rows, columns int
	multiply      func(dst *float32, dstStride int, codes, scales *byte, scale float32, q *int8, stride int, spans *int32, blocks, terms, groups, skip, step int)
}

// spansKernels are those of an instruction set, those for most columns first. The last is for
// one.
var spansKernels = map[*kernels.ISA][]spansKernel{
	kernels.AVX2:       {{8, 4, spans4AVX2}, {32, 1, spans1AVX2}},
	kernels.AVXVNNI:    {{8, 4, spans4AVXVNNI}, {32, 1, spans1AVXVNNI}},
	kernels.AVX512VNNI: {{32, 4, spans4AVX512VNNI}, {64, 2, spans2AVX512VNNI}, {64, 1, spans1AVX512VNNI}},
}

var spansSummary = map[*kernels.ISA]string{
	kernels.AVX2:       "VPMADDUBSW on codes shifted down, 32 rows at a time; VPMADDWD with shares of the scales",
	kernels.AVXVNNI:    "VPDPBUSD (VEX) on codes shifted down, 32 rows at a time; VPDPWSSD with shares of the scales",
	kernels.AVX512VNNI: "VPDPBUSD on codes shifted down, 64 rows at a time; VPDPWSSD with shares of the scales",
}

func (f twoBitFormat) registerSpans(layout *kernels.Layout) {
	for isa, all := range spansKernels {
		s := spans{f.codes, layout, all}
		kernels.Register(&kernels.Variant{
			Name: isa.Name, Summary: spansSummary[isa], Format: f.Type, Scheme: kernels.Q8Per32, ISA: isa, Layout: layout, Preference: 4,
			Kernels: []kernels.Kernel{kernels.ByColumn(nil, s.matVec), {From: 2, Rows: s.matMul}},
		})
	}
}

// spansScratch has the results of a tile that the matrix has not all rows of.
var spansScratch kernels.Scratch[[4 * tileRows]float32]

// spans multiplies with the kernels of an instruction set.
type spans struct {
	codes   *twoBit
	layout  *kernels.Layout
	kernels []spansKernel
}

func (s spans) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	s.columns(s.kernels[len(s.kernels)-1], dst, m, a, col, r0, r1)
}

// matMul goes through a tile with all columns before the next.
func (s spans) matMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	for r := r0; r < r1; r += tileRows {
		c := 0
		for _, k := range s.kernels {
			for ; c+k.columns <= a.N; c += k.columns {
				s.columns(k, dst[c*m.Rows:], m, a, c, r, min(r+tileRows, r1))
			}
		}
	}
}

// columns multiplies as many columns as k takes, from one on; dst begins with it.
func (s spans) columns(k spansKernel, dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	q, at := a.Q[col*a.Stride:], a.SpansOf(col, k.columns)
	size := s.layout.PackedBytes(tileRows, m.Cols)
	blocks, terms, groups, skip, step := 1, spansOf(m.Cols), quantize.SpanLen/32, 0, 0
	if s.codes.scale >= 0 {
		n := s.codes.blockLen
		blocks, terms, groups, skip, step = m.Cols/n, max(1, n/quantize.SpanLen), min(n, quantize.SpanLen)/32, tileScales, s.codes.tileBlock()
	}
	for r := r0; r < r1; r += tileRows {
		tile := m.Span(r/tileRows, r/tileRows+1, size)
		out, stride := dst[r:], m.Rows
		part := spansScratch.Of(a)
		if r+tileRows > r1 {
			out, stride = part[:], tileRows
		}
		for from := 0; from < tileRows && r+from < r1; from += k.rows {
			var scales *byte
			if s.codes.scale >= 0 {
				scales = &tile[step-tileScales+2*from]
			}
			k.multiply(&out[from], 4*stride, &tile[4*from], scales, m.Scale, &q[0], a.Stride, &at[0].Shares[0], blocks, terms, groups, skip, step)
		}
		if r+tileRows > r1 {
			for c := range k.columns {
				copy(dst[c*m.Rows+r:c*m.Rows+r1], part[c*tileRows:])
			}
		}
	}
}
