//go:build !purego && (amd64 || arm64)

package heads

import (
	"math/bits"

	"onebit/formats"
	"onebit/kernels"
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
		Name: k.isa.Name, Summary: k.summary, Format: formats.Q8_0, Scheme: act,
		ISA: k.isa, Layout: kernels.Native, MatVec: k.matVec,
	}
}

// matVec does rows that do not fill a tile with those before them again. Fewer
// rows than a tile, which no model has, are left to the generic path.
func (k q8Rows) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	if r1-r0 < q8Tile {
		q8Generic(dst, m, a, col, r0, r1)
		return
	}
	blocks := m.Cols / 32
	n := blocks * q8Block
	w, y := m.Data[r0*n:r1*n], dst[r0:r1]
	q := a.Q[col*a.Stride:][:a.Stride]
	sums := a.Sums[col*a.Stride/32:][:blocks]
	scales := a.Scales[col*a.Groups:][:a.Groups]
	shift := blockShift(a.Scheme)
	k.rows(&y[0], &w[0], n, &q[0], &sums[0], &scales[0], shift, blocks, len(y)/q8Tile)
	if len(y)%q8Tile != 0 {
		last := len(y) - q8Tile
		k.rows(&y[last], &w[last*n], n, &q[0], &sums[0], &scales[0], shift, blocks, 1)
	}
}

// blockShift is by how much the index of a block of 32 columns exceeds, in
// bits, that of the activation scale it has.
func blockShift(s kernels.Scheme) int {
	if s == kernels.Q8Row {
		return 63
	}
	return bits.Len(uint(s.GroupLen(0)/32)) - 1
}
