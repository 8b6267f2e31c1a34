//go:build !purego

package twobit

import "onebit/kernels"

func init() {
	for _, f := range twoBitFormats {
		layout, list := f.spansLayout(), tensorSpans
		if f.codes.scale >= 0 {
			list = blockSpans
		}
		if f.codes.blockLen < kernels.SpanLen && f.codes.scale >= 0 {
			list = halfSpans
		}
		if layout != nil {
			f.registerSpans(layout, list)
		}
	}
}

// A spansKernel multiplies rows of a tile with columns.
type spansKernel struct {
	rows, columns int
	multiply      func(dst *float32, dstStride int, codes, scales *byte, scale float32, q *int8, stride int, spans *int32, blocks, terms int)
}

// spansKernels are of an instruction set, those for most columns first. The last is for
// one.
type spansKernels map[*kernels.ISA][]spansKernel

var tensorSpans = spansKernels{
	kernels.AVX2:       {{8, 4, spansTensor4AVX2}, {32, 1, spansTensor1AVX2}},
	kernels.AVXVNNI:    {{8, 4, spansTensor4AVXVNNI}, {32, 1, spansTensor1AVXVNNI}},
	kernels.AVX512VNNI: {{32, 4, spansTensor4AVX512VNNI}, {64, 2, spansTensor2AVX512VNNI}, {64, 1, spansTensor1AVX512VNNI}},
}

// blockSpans are for blocks of whole spans, halfSpans for those of 64 columns.
var (
	blockSpans = spansKernels{
		kernels.AVX2:       {{8, 4, spansBlock4AVX2}, {32, 1, spansBlock1AVX2}},
		kernels.AVXVNNI:    {{8, 4, spansBlock4AVXVNNI}, {32, 1, spansBlock1AVXVNNI}},
		kernels.AVX512VNNI: {{32, 4, spansBlock4AVX512VNNI}, {64, 2, spansBlock2AVX512VNNI}, {64, 1, spansBlock1AVX512VNNI}},
	}
	halfSpans = spansKernels{
		kernels.AVX2:       {{8, 4, spansBlock644AVX2}, {32, 1, spansBlock641AVX2}},
		kernels.AVXVNNI:    {{8, 4, spansBlock644AVXVNNI}, {32, 1, spansBlock641AVXVNNI}},
		kernels.AVX512VNNI: {{32, 4, spansBlock644AVX512VNNI}, {64, 2, spansBlock642AVX512VNNI}, {64, 1, spansBlock641AVX512VNNI}},
	}
)

var spansSummary = map[*kernels.ISA]string{
	kernels.AVX2:       "VPMADDUBSW on codes shifted down, 32 rows at a time; VPMADDWD with shares of the scales",
	kernels.AVXVNNI:    "VPDPBUSD (VEX) on codes shifted down, 32 rows at a time; VPDPWSSD with shares of the scales",
	kernels.AVX512VNNI: "VPDPBUSD on codes shifted down, 64 rows at a time; VPDPWSSD with shares of the scales",
}

func (f twoBitFormat) registerSpans(layout *kernels.Layout, list spansKernels) {
	for isa, all := range list {
		s := spans{f.codes, layout, all}
		kernels.Register(&kernels.Variant{
			Name: isa.Name, Summary: spansSummary[isa], Format: f.Type, Scheme: kernels.Q8Per32, ISA: isa, Layout: layout, Preference: 4,
			MatVec: s.matVec, MatMul: s.matMul,
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
	blocks, terms, scaleAt := 1, spansOf(m.Cols), 0
	if s.codes.scale >= 0 {
		blocks, terms, scaleAt = m.Cols/s.codes.blockLen, s.codes.blockLen/kernels.SpanLen, s.codes.blockLen/16*dwordBytes
	}
	for r := r0; r < r1; r += tileRows {
		tile := m.Span(r/tileRows, r/tileRows+1, size)
		out, stride := dst[r:], m.Rows
		part := spansScratch.Of(a)
		if r+tileRows > r1 {
			out, stride = part[:], tileRows
		}
		for from := 0; from < tileRows && r+from < r1; from += k.rows {
			k.multiply(&out[from], 4*stride, &tile[4*from], &tile[scaleAt+2*from], m.Scale, &q[0], a.Stride, &at[0].Shares[0], blocks, terms)
		}
		if r+tileRows > r1 {
			for c := range k.columns {
				copy(dst[c*m.Rows+r:c*m.Rows+r1], part[c*tileRows:])
			}
		}
	}
}
