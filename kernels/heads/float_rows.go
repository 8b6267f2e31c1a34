//go:build !purego && (amd64 || arm64)

package heads

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// A floatRows is an assembly product of a float format and the rows that it
// takes at a time.
type floatRows struct {
	format  *floatFormat
	isa     *kernels.ISA
	summary string
	tile    int
	rows    func(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)
	// few multiply 2 columns of activations, 3 and so on with weights that are
	// loaded once; nil where there are no such kernels.
	few []floatColumns
}

// A floatColumns multiplies at most floatLaneRows rows; see float_stubs_amd64.go.
type floatColumns func(dst *float32, dstStride int, w *byte, stride int, x *float32, blocks, tiles int)

const floatLaneRows = 16

func (k floatRows) register() {
	v := &kernels.Variant{
		Name: k.isa.Name, Summary: k.summary, Format: k.format.format, Scheme: kernels.F32,
		ISA: k.isa, Layout: kernels.Native, Kernels: []kernels.Kernel{kernels.ByColumn(nil, k.matVec)},
	}
	if k.few != nil {
		v.Kernels = append(v.Kernels, kernels.Kernel{From: 2, Rows: k.matMul})
	}
	kernels.Register(v)
}

// fits leaves to the generic path what no model has: columns that are no
// multiple of 32, and fewer rows than a tile.
func (k floatRows) fits(m *kernels.Matrix, r0, r1 int) bool {
	return m.Cols%kernels.Lanes == 0 && r1-r0 >= k.tile
}

func (k floatRows) matVec(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	if !k.fits(m, r0, r1) {
		k.format.matVecUnrolled(dst, m, a, col, r0, r1)
		return
	}
	n := m.Cols * k.format.width
	x := a.X[col*a.Cols:][:a.Cols]
	tiles.Cover(k.tile, r0, r1, func(r, tiles, _ int) {
		w, y := m.Span(r, r+tiles*k.tile, n), dst[r:][:tiles*k.tile]
		k.rows(&y[0], &w[0], n, &x[0], m.Cols/kernels.Lanes, tiles)
	})
}

// matMul takes as many columns at a time as there is a kernel for, and others one by one, a
// few rows of all of them before the next.
func (k floatRows) matMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	c := 0
	for c < a.N && k.fits(m, r0, r1) {
		n := min(a.N-c, 1+len(k.few))
		if n == 1 || k.few[n-2] == nil {
			break
		}
		k.columns(k.few[n-2], n, dst, m, a, c, r0, r1)
		c += n
	}
	for r, end := r0, r0; r < r1 && c < a.N; r = end {
		if end += floatLaneRows; r1-end < k.tile {
			end = r1
		}
		for i := c; i < a.N; i++ {
			k.matVec(dst[i*m.Rows:(i+1)*m.Rows], m, a, i, r, end)
		}
	}
}

// columns multiplies columns [c, c+count) as matVec does one.
func (k floatRows) columns(multiply floatColumns, count int, dst []float32, m *kernels.Matrix, a *kernels.Activations, c, r0, r1 int) {
	n := m.Cols * k.format.width
	x, y := a.X[c*a.Cols:][:count*a.Cols], dst[c*m.Rows:][:count*m.Rows]
	tiles.Cover(k.tile, r0, r1, func(r, tiles, _ int) {
		for end := r + tiles*k.tile; r < end; r += floatLaneRows {
			to := min(r+floatLaneRows, end)
			multiply(&y[r], m.Rows, &m.Span(r, to, n)[0], n, &x[0], m.Cols/kernels.Lanes, (to-r)/k.tile)
		}
	})
}
