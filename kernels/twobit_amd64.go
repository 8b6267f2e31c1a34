//go:build !purego

package kernels

import "onebit/formats"

func init() {
	for _, name := range []string{"i2_s", "i2_s_arm", "ternary_u32"} {
		t, err := formats.Lookup(name)
		if err != nil {
			panic(err)
		}
		addTernaryRows(t, twoBitFormats[name].rowOrder())
	}
}

// rowsKernel is one of the functions ternaryRows* and the rows that it takes
// at a time.
type rowsKernel struct {
	isa     *ISA
	summary string
	tile    int
	rows    func(dst *float32, w *byte, stride, rowBytes int, q *int8, tiles int, scale float32)
}

var rowsKernels = []rowsKernel{
	{AVX2, "VPMADDUBSW on codes masked in place, 4 rows at a time", 4, ternaryRowsAVX2},
	{AVXVNNI, "VPDPBUSD (VEX) on codes masked in place, 2 rows at a time", 2, ternaryRowsAVXVNNI},
	{AVX512VNNI, "VPDPBUSD on codes masked in place, 4 rows at a time", 4, ternaryRowsAVX512VNNI},
}

// addTernaryRows registers the variants of a format with one scale per tensor.
func addTernaryRows(t *formats.Type, order *Order) {
	for _, k := range rowsKernels {
		register(&Variant{
			Name: k.isa.Name, Summary: k.summary, Format: t, Activation: Q8Row, ISA: k.isa, Layout: Native,
			Order: order, matVec: k.matVec(order),
		})
	}
}

func (k rowsKernel) matVec(order *Order) func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
	return func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
		n := rowBytes(m.Format, m.Cols)
		q := a.In(order)[col*rowOrderLen(a.Stride):][:rowOrderLen(a.Stride)]
		w := m.Data[r0*n : r1*n]
		y := dst[r0:r1]
		k.multiply(y, w, n, q, m.Scale*a.scale(col, 0))
	}
}

// multiply computes len(y) rows of n bytes. Rows that do not fill a tile are
// done with those before them again; if there are too few, each fills a tile
// alone.
func (k rowsKernel) multiply(y []float32, w []byte, n int, q []int8, scale float32) {
	tiles := len(y) / k.tile
	if tiles > 0 {
		k.rows(&y[0], &w[0], n, n, &q[0], tiles, scale)
		if len(y) > tiles*k.tile {
			last := len(y) - k.tile
			k.rows(&y[last], &w[last*n], n, n, &q[0], 1, scale)
		}
		return
	}
	var same [4]float32
	for r := range y {
		k.rows(&same[0], &w[r*n], 0, n, &q[0], 1, scale)
		y[r] = same[0]
	}
}
