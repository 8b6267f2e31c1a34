//go:build !purego && (amd64 || arm64)

package heads

import (
	"math/bits"

	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// q8Tile is the rows that the assembly takes at a time.
const q8Tile = 8

var q8Generic = q8Codec.MatVec(q8DotUnrolled)

// A q8Rows is an assembly product of q8_0.
type q8Rows struct {
	isa     *kernels.ISA
	summary string
	rows    func(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)
}

func (k q8Rows) variant(act kernels.Scheme) *kernels.Variant {
	return &kernels.Variant{
		Name: k.isa.Name, Summary: k.summary, Format: q8Codec.Type, Scheme: act,
		ISA: k.isa, Layout: kernels.Native, Kernels: []kernels.Kernel{kernels.ByColumn(nil, k.matVec)},
	}
}

// matVec leaves fewer rows than a tile, which no model has, to the generic path.
func (k q8Rows) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	if r1-r0 < q8Tile {
		q8Generic(dst, m, a, col, r0, r1)
		return
	}
	blocks := m.Cols / 32
	n := blocks * q8Block
	q, scales, sums := a.Columns(nil, col, 1)
	shift := blockShift(a.Scheme)
	tiles.Cover(q8Tile, r0, r1, func(r, tiles, _ int) {
		w, y := m.Span(r, r+tiles*q8Tile, n), dst[r:][:tiles*q8Tile]
		k.rows(&y[0], &w[0], n, &q[0], &sums[0], &scales[0], shift, blocks, tiles)
	})
}

// blockShift is by how much the index of a block of 32 columns exceeds, in
// bits, that of the activation scale it has.
func blockShift(s kernels.Scheme) int {
	if s == kernels.Q8Row {
		return 63
	}
	return bits.Len(uint(s.GroupLen(0)/32)) - 1
}
