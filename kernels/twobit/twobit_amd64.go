//go:build !purego

package twobit

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

// unitCols is the columns of a unit: 64 bytes of 2-bit codes.
const unitCols = 256

func init() {
	for _, f := range twoBitFormats {
		if f.codes.scale < 0 {
			f.registerRows(arrangements[f.codes])
		} else {
			if _, packed := unpackers[f.Type]; !packed {
				f.registerBlocks(arrangements[f.codes])
			}
			f.registerCodes64()
		}
	}
}

// An arrangement brings units of activations in the order of some codes, each of
// its functions for other kernels.
type arrangement struct {
	rows             func(dst, q *int8, units int)
	block32, block64 func(dst, q *int8, units int) // with a scale per block, for registers of so many bytes
}

var arrangements = map[*twoBit]arrangement{
	i2s:    {rows: arrangeRowsI2SAVX2},
	i2sARM: {rows: arrangeRowsI2SARMAVX2},
	words:  {rows: arrangeRowsU32AVX2},
	tq2:    {arrangeRowsTQ2AVX2, arrangeBlocksTQ232AVX2, arrangeBlocksTQ264AVX2},
	q2:     {arrangeRowsU32AVX2, arrangeBlocksQ232AVX2, arrangeBlocksQ264AVX2},
	q2G128: {arrangeRowsU32AVX2, arrangeBlocksQ232AVX2, arrangeBlocksQ264AVX2},
}

// registerRows registers the variants of a format with one scale per tensor.
func (f twoBitFormat) registerRows(a arrangement) {
	order := rowOrder(a.rows)
	for _, k := range rowsKernels {
		matVec := k.matVec(order)
		few := kernels.ByColumn(order, matVec)
		batch := batch{kernels: tileBatches[k.isa], arrange: a.rows, oneScale: true, bytes: wordRowBytes, rows: &blockRows{pack: rowPackers[k.isa]}}
		atOnce := 0
		if k.isa == kernels.AVX512VNNI {
			few.Rows, atOnce = byPieces(matVec), ternaryColumns
		} else {
			batch.blockCols = unitCols // that strips expand together
		}
		kernels.Register(&kernels.Variant{
			Name: k.isa.Name, Summary: k.summary, Format: f.Type, Scheme: f.Scheme, ISA: k.isa, Layout: f.layout,
			Kernels: []kernels.Kernel{few, batch.kernel(k.batchFrom, atOnce)},
		})
	}
}

// pieceRows is how many rows few columns take by turns. While all but the first multiply
// a piece, which lies in the cache, the rows behind it are fetched.
const pieceRows = 16

// byPieces multiplies columns one by one, a piece of the rows at a time.
func byPieces(matVec kernels.MatVecFunc) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		rows := pieceRows
		if a.N == 1 {
			rows = r1 - r0
		}
		for r := r0; r < r1; r += rows {
			for c := range a.N {
				matVec(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r, min(r+rows, r1))
			}
		}
	}
}

// rowOrder is for kernels with one scale per tensor. A column of activations
// becomes 64 bytes, -Σq as the first int32 and zeros behind it, and then for
// each unit four vectors of 64: vector j has what belongs to the codes at
// shift 2j.
func rowOrder(arrange func(dst, q *int8, units int)) *kernels.Order {
	return &kernels.Order{
		Name: "rows", Columns: ternaryColumns,
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
	isa       *kernels.ISA
	summary   string
	rows      func(dst *float32, w *byte, stride, rowBytes int, q *int8, tiles int, scale float32)
	batchFrom int
}

var rowsKernels = []rowsKernel{
	{kernels.AVX2, "VPMADDUBSW on codes masked in place, 4 rows at a time", ternaryRowsAVX2, ternaryBatchFrom},
	{kernels.AVXVNNI, "VPDPBUSD (VEX) on codes masked in place, 4 rows at a time", ternaryRowsAVXVNNI, dpStripFrom},
	{kernels.AVX512VNNI, "VPDPBUSD on codes masked in place, 4 rows at a time", ternaryRowsAVX512VNNI, ternaryBatchFrom},
}

func (k rowsKernel) matVec(order *kernels.Order) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		n := wordRowBytes(m.Cols)
		q, _, _ := a.Columns(order, col, 1)
		scale := m.Scale * a.Scale(col, 0)
		tiles.Multiply(4, dst[r0:r1], m.Span(r0, r1, n), n, func(y *float32, w *byte, stride, tiles int) {
			k.rows(y, w, stride, n, &q[0], tiles, scale)
		})
	}
}
