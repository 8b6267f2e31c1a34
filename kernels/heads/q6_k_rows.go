//go:build !purego && (amd64 || arm64)

package heads

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// A q6Rows is an assembly product of q6_k under q8_32.
type q6Rows struct {
	isa     *kernels.ISA
	summary string
	tile    int // the rows that it takes at a time
	order   *kernels.Order
	rows    func(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)
}

func (k q6Rows) variant() *kernels.Variant {
	return &kernels.Variant{
		Name: k.isa.Name, Summary: k.summary, Format: q6Codec.Type, Scheme: kernels.Q8Per32,
		ISA: k.isa, Layout: kernels.Native, Kernels: []kernels.Kernel{kernels.ByColumn(k.order, k.matVec)},
	}
}

var q6Generic = q6Codec.MatVec(q6DotUnrolled)

// matVec leaves fewer rows than a tile, which no model has, to the generic path.
func (k q6Rows) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	if r1-r0 < k.tile {
		q6Generic(dst, m, a, col, r0, r1)
		return
	}
	blocks := m.Cols / 256
	n := blocks * q6Block
	q, scales, _ := a.Columns(k.order, col, 1)
	tiles.Cover(k.tile, r0, r1, func(r, tiles, _ int) {
		w, y := m.Span(r, r+tiles*k.tile, n), dst[r:][:tiles*k.tile]
		k.rows(&y[0], &w[0], n, &q[0], &scales[0], blocks, tiles)
	})
}
