//go:build !purego

package twobit

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// unitCols is the columns of a unit: 64 bytes of 2-bit codes.
const unitCols = 256

func init() {
	for _, f := range []struct {
		format   *formats.Type
		layout   *kernels.Layout
		rowBytes func(cols int) int
		arrange  func(dst, q *int8, units int)
	}{
		{formats.I2_S, kernels.Native, quarter, arrangeRowsI2SAVX2},
		{formats.I2_S_ARM, kernels.Native, quarter, arrangeRowsI2SARMAVX2},
		{formats.Ternary_u32, kernels.Native, wordRowBytes, arrangeRowsU32AVX2},
		{formats.I2_S_X4, wordRows, wordRowBytes, arrangeRowsU32AVX2},
	} {
		order, tiles, strips := rowOrder(f.arrange), wide(f.arrange, 0), narrow(f.arrange, unitCols)
		tilesOrder, stripsOrder := tiles.order(), strips.order()
		for _, k := range rowsKernels {
			v := &kernels.Variant{
				Name: k.isa.Name, Summary: k.summary, Format: f.format, Scheme: kernels.Q8Row, ISA: k.isa, Layout: f.layout,
				Order: order, MatVec: k.matVec(order, f.rowBytes),
				BatchFrom: ternaryBatchFrom,
			}
			if k.isa == kernels.AVX512VNNI {
				v.BatchOrder, v.MatMul, v.Columns = tilesOrder, ternaryMatMul(tiles, tilesOrder, f.rowBytes), ternaryColumns
			} else {
				v.BatchOrder, v.MatMul = stripsOrder, k.strip.matMul(strips, stripsOrder, f.rowBytes)
			}
			kernels.Register(v)
		}
	}
}

// quarter is the bytes of a row whose blocks are all filled.
func quarter(cols int) int { return cols / 4 }

// rowOrder is for kernels with one scale per tensor. A column of activations
// becomes 64 bytes, -Σq as the first int32 and zeros behind it, and then for
// each unit four vectors of 64: vector j has what belongs to the codes at
// shift 2j.
func rowOrder(arrange func(dst, q *int8, units int)) *kernels.Order {
	return &kernels.Order{
		Name: "rows",
		Size: func(n, stride int) int { return n * rowOrderLen(stride) },
		Arrange: func(dst, q []int8, n, stride int) {
			arrangeRows(dst, q, n, stride, arrange)
		},
	}
}

func arrangeRows(dst, q []int8, n, stride int, arrange func(dst, q *int8, units int)) {
	for c := range n {
		d, s := dst[c*rowOrderLen(stride):][:rowOrderLen(stride)], q[c*stride:][:stride]
		arrange(&d[0], &s[0], stride/unitCols)
	}
}

func rowOrderLen(stride int) int { return 64 + stride }

// rowsKernel is one of the functions ternaryRows*, which take 4 rows at a time.
type rowsKernel struct {
	isa     *kernels.ISA
	summary string
	rows    func(dst *float32, w *byte, stride, rowBytes int, q *int8, tiles int, scale float32)
	strip   ternaryStrip // nil: tiles instead
}

var rowsKernels = []rowsKernel{
	{kernels.AVX2, "VPMADDUBSW on codes masked in place, 4 rows at a time", ternaryRowsAVX2, ternaryStripAVX2},
	{kernels.AVXVNNI, "VPDPBUSD (VEX) on codes masked in place, 4 rows at a time", ternaryRowsAVXVNNI, ternaryStripAVXVNNI},
	{kernels.AVX512VNNI, "VPDPBUSD on codes masked in place, 4 rows at a time", ternaryRowsAVX512VNNI, nil},
}

func (k rowsKernel) matVec(order *kernels.Order, rowBytes func(cols int) int) func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		n := rowBytes(m.Cols)
		q := a.In(order)[col*rowOrderLen(a.Stride):][:rowOrderLen(a.Stride)]
		scale := m.Scale * a.Scale(col, 0)
		tiles.Multiply(4, dst[r0:r1], m.Data[r0*n:r1*n], n, func(y *float32, w *byte, stride, tiles int) {
			k.rows(y, w, stride, n, &q[0], tiles, scale)
		})
	}
}
