//go:build !purego && (amd64 || arm64)

package kernels

// A floatRows is an assembly product of a float format and the rows that it
// takes at a time.
type floatRows struct {
	format  *floatFormat
	isa     *ISA
	summary string
	tile    int
	rows    func(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)
}

func (k floatRows) register() {
	register(&Variant{
		Name: k.isa.Name, Summary: k.summary, Format: k.format.format, Activation: F32,
		ISA: k.isa, Layout: Native, matVec: k.matVec,
	})
}

// matVec leaves to the generic path what no model has: columns that are no
// multiple of 32, and fewer rows than a tile. Other rows that do not fill a
// tile are done with those before them again.
func (k floatRows) matVec(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	if m.Cols%lanesF32 != 0 || r1-r0 < k.tile {
		k.format.matVecUnrolled(dst, m, a, col, r0, r1)
		return
	}
	n := m.Cols * k.format.width
	x := a.X[col*a.Cols:][:a.Cols]
	w, y := m.Data[r0*n:r1*n], dst[r0:r1]
	k.rows(&y[0], &w[0], n, &x[0], m.Cols/lanesF32, len(y)/k.tile)
	if len(y)%k.tile != 0 {
		last := len(y) - k.tile
		k.rows(&y[last], &w[last*n], n, &x[0], m.Cols/lanesF32, 1)
	}
}
