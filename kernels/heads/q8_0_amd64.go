//go:build !purego

package heads

import (
	"fmt"
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

func init() {
	const biased = "VPDPBUSD on codes made unsigned, 8 rows at a time"
	for _, act := range []kernels.Scheme{kernels.Q8Per32, kernels.Q8Per128, kernels.Q8Row} {
		v := q8Rows{kernels.AVX512VNNI, biased, q8RowsAVX512VNNI}.variant(act)
		v.BatchOrder, v.MatMul = q8Panels, q8MatMul
		kernels.Register(v)
		vnni := q8Rows{kernels.AVXVNNI, biased, q8RowsAVXVNNI}
		kernels.Register(q8Lanes{q8PanelsAVXVNNI, vnni, q8BytePanels}.variant(act))
		avx2 := q8Rows{kernels.AVX2, "VPMADDUBSW on magnitudes, 8 rows at a time", q8RowsAVX2}
		kernels.Register(q8Lanes{q8PanelsAVX2, avx2, q8WordPanels}.variant(act))
	}
}

const (
	// q8PanelCols is the columns of activations that the batch kernel takes at
	// a time; fewer than q8LeastBatch are faster one by one.
	q8PanelCols  = 16
	q8LeastBatch = 6
	// q8PanelBlock is the bytes that a panel has for a block of the weights.
	q8PanelBlock = 4*q8PanelCols + 32*q8PanelCols
)

var q8Panels = newQ8Panels(q8PanelCols)

// newQ8Panels arranges columns of activations in panels of so many, padded with
// zeros. A panel of 16 has for every 32 columns of the weights
//
//	byte  0            64             128                      576
//	      | -128·Σq    | k 0…3         | k 4…7         | …      |
//	        16 int32     16 × 4 int8     16 × 4 int8
func newQ8Panels(columns int) *kernels.Order {
	block := 4*columns + 32*columns
	return &kernels.Order{
		Name: fmt.Sprint("q8 panels of ", columns), Panel: columns,
		Size: func(n, stride int) int { return (n + columns - 1) / columns * stride / 32 * block },
		Arrange: func(dst, q []int8, n, stride int) {
			clear(dst)
			for c := range n {
				panel := dst[c/columns*stride/32*block:]
				for b := 0; b < stride; b += 32 {
					arrangeQ8(panel[b/32*block:][:block], q[c*stride+b:][:32], c%columns, columns)
				}
			}
		},
	}
}

// arrangeQ8 makes the 32 q column c of a block of a panel of so many.
func arrangeQ8(block, q []int8, c, columns int) {
	var sum int32
	for i := 0; i < 32; i += 4 {
		for j, v := range q[i : i+4] {
			block[4*columns*(1+i/4)+4*c+j] = v
			sum -= 128 * int32(v)
		}
	}
	for i := range 4 {
		block[4*c+i] = int8(sum >> (8 * i))
	}
}

// q8MatMul multiplies by panels, and one by one the columns of a panel that
// has few.
func q8MatMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	for c := 0; c < a.N; c += q8PanelCols {
		columns := min(q8PanelCols, a.N-c)
		if columns >= q8LeastBatch && r1-r0 >= q8Tile {
			q8Panel(dst, m, a, c, columns, r0, r1)
			continue
		}
		for c, end := c, c+columns; c < end; c++ {
			q8Rows{rows: q8RowsAVX512VNNI}.matVec(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r0, r1)
		}
	}
}

// q8Panel multiplies with one panel.
func q8Panel(dst []float32, m *kernels.Matrix, a *kernels.Activations, c, columns, r0, r1 int) {
	blocks := m.Cols / 32
	n := blocks * q8Block
	y := dst[c*m.Rows : (c+columns)*m.Rows]
	size := a.Stride / 32 * q8PanelBlock
	q := a.In(q8Panels)[c/q8PanelCols*size:][:size]
	scales := a.Scales[c*a.Groups:][:columns*a.Groups]
	shift := blockShift(a.Scheme)
	tiles.Cover(q8Tile, r0, r1, func(r, tiles, _ int) {
		w := m.Span(r, r+tiles*q8Tile, n)
		q8BatchAVX512VNNI(&y[r], m.Rows, &w[0], n, &q[0], &scales[0], a.Groups, shift, blocks, tiles, columns)
	})
}
