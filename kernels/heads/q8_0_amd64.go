//go:build !purego

package heads

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

func init() {
	const biased = "VPDPBUSD on codes made unsigned, 8 rows at a time"
	for _, act := range []kernels.Scheme{kernels.Q8Per32, kernels.Q8Per128, kernels.Q8Row} {
		v := q8Rows{kernels.AVX512VNNI, biased, q8RowsAVX512VNNI}.variant(act)
		v.Kernels = append(v.Kernels, kernels.Kernel{From: 2, Rows: q8MatMul})
		q8Register(v)
		vnni := q8Rows{kernels.AVXVNNI, biased, q8RowsAVXVNNI}
		q8Register(q8Lanes{q8PanelsAVXVNNI, vnni, q8BytePanels, 4}.variant(act))
		avx2 := q8Rows{kernels.AVX2, "VPMADDUBSW on magnitudes, 8 rows at a time", q8RowsAVX2}
		q8Register(q8Lanes{q8PanelsAVX2, avx2, q8WordPanels, 6}.variant(act))
	}
}

const (
	// q8ColumnsTile is the rows that the kernel for several columns takes at a time.
	q8ColumnsTile = 16
	// q8ColumnsMost is the columns that it takes at most.
	q8ColumnsMost = 16
)

// q8MatMul multiplies several columns at a time, and one by one where there are fewer
// rows than a tile.
func q8MatMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	if r1-r0 < q8ColumnsTile {
		for c := range a.N {
			q8Rows{rows: q8RowsAVX512VNNI}.matVec(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r0, r1)
		}
		return
	}
	for c := 0; c < a.N; c += q8ColumnsMost {
		q8Columns(dst, m, a, c, min(q8ColumnsMost, a.N-c), r0, r1)
	}
}

// q8Columns multiplies so many columns from column c on.
func q8Columns(dst []float32, m *kernels.Matrix, a *kernels.Activations, c, columns, r0, r1 int) {
	blocks := m.Cols / 32
	n := blocks * q8Block
	y := dst[c*m.Rows : (c+columns)*m.Rows]
	q, scales, sums := a.Columns(nil, c, columns)
	sumStride, scaleStride := 4*len(sums)/columns, 4*a.Groups
	shift := blockShift(a.Scheme)
	tiles.Cover(q8ColumnsTile, r0, r1, func(r, tiles, _ int) {
		w := m.Span(r, r+tiles*q8ColumnsTile, n)
		q8ColumnsAVX512VNNI(&y[r], 4*m.Rows, &w[0], n, &q[0], a.Stride, &sums[0], sumStride, &scales[0], scaleStride, shift, blocks, tiles, columns)
	})
}
