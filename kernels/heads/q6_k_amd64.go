//go:build !purego

package heads

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
)

func init() {
	for _, k := range []struct {
		q6Rows
		batchFrom int // fewer columns are faster one by one
	}{
		{q6Rows{kernels.AVX512, "64 columns decoded in a register, 8 rows at a time", q6Tile, q6Order, q6RowsAVX512}, 5},
		{q6Rows{kernels.AVX2, "32 columns decoded in a register, 8 rows at a time", q6Tile, q6Order, q6RowsAVX2}, 3},
	} {
		v := k.variant()
		v.Kernels = append(v.Kernels, kernels.Kernel{From: k.batchFrom, Order: q6Panels, Rows: q6MatMul})
		kernels.Register(v)
	}
}

const (
	q6Tile = 8 // rows
	// q6PanelCols is the columns of activations that the batch kernel takes at a
	// time.
	q6PanelCols = 8
	// q6PanelGroup is the bytes that a panel has for 32 columns of the weights.
	q6PanelGroup = 4*q6PanelCols + 32*q6PanelCols
)

// q6Panels arranges columns of activations in panels of 8, padded with zeros. A
// panel has for every 32 columns of the weights
//
//	byte  0                    32            64            288
//	      | Σq of k 0…15, 16…31 | k 0…3       | k 4…7       | …
//	        8 × 2 int16          8 × 4 int8    8 × 4 int8
var q6Panels = &kernels.Order{
	Name: "q6 panels",
	Size: func(n, stride int) int { return (n + q6PanelCols - 1) / q6PanelCols * stride / 32 * q6PanelGroup },
	Arrange: func(dst, q []int8, n, stride int) {
		clear(dst)
		for c := range n {
			panel := dst[c/q6PanelCols*stride/32*q6PanelGroup:]
			for k := 0; k < stride; k += 32 {
				arrangeQ6(panel[k/32*q6PanelGroup:][:q6PanelGroup], q[c*stride+k:][:32], c%q6PanelCols)
			}
		}
	},
}

// arrangeQ6 makes the 32 q column c of a group of a panel.
func arrangeQ6(group, q []int8, c int) {
	var sums [2]int16
	for i := 0; i < 32; i += 4 {
		copy(group[4*q6PanelCols*(1+i/4)+4*c:][:4], q[i:])
		for _, v := range q[i : i+4] {
			sums[i/16] += int16(v)
		}
	}
	for i, sum := range sums {
		group[4*c+2*i], group[4*c+2*i+1] = int8(sum), int8(sum>>8)
	}
}

// q6MatMul multiplies by panels, of which the last may not be full.
func q6MatMul(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
	for c := 0; c < a.N; c += q6PanelCols {
		q6Panel(dst, m, a, c, min(q6PanelCols, a.N-c), r0, r1)
	}
}

// q6Panel leaves fewer rows than a tile, which no model has, to the generic path.
func q6Panel(dst []float32, m *kernels.Matrix, a *kernels.Activations, c, columns, r0, r1 int) {
	if r1-r0 < q6Tile {
		for c, end := c, c+columns; c < end; c++ {
			q6Generic(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r0, r1)
		}
		return
	}
	blocks := m.Cols / 256
	n := blocks * q6Block
	y := dst[c*m.Rows : (c+columns)*m.Rows]
	size := a.Stride / 32 * q6PanelGroup
	q := a.In(q6Panels)[c/q6PanelCols*size:][:size]
	scales := a.Scales[c*a.Groups:][:columns*a.Groups]
	tiles.Cover(q6Tile, r0, r1, func(r, tiles, _ int) {
		w := m.Span(r, r+tiles*q6Tile, n)
		q6BatchAVX2(&y[r], m.Rows, &w[0], n, &q[0], &scales[0], blocks, tiles, columns)
	})
}

// q6OrderBlock is the bytes that q6Order has for 256 activations.
const q6OrderBlock = 256 + 2*16

// q6Order puts behind every 256 activations the sums of each 16, whose codes have a scale of
// their own, as int16: 32 times that is what the kernels take off products with six bits.
//
//	byte  0         256                            288
//	      | 256 q   | Σ q of k 0…15, k 16…31, …   | …
var q6Order = &kernels.Order{
	Name: "q6",
	Size: func(n, stride int) int { return n * stride / 256 * q6OrderBlock },
	Arrange: func(dst, q []int8, n, stride int) {
		for ; len(q) > 0; dst, q = dst[q6OrderBlock:], q[256:] {
			copy(dst[:256], q)
			for i := range 16 {
				var sum int16
				for _, v := range q[16*i:][:16] {
					sum += int16(v)
				}
				dst[256+2*i], dst[257+2*i] = int8(sum), int8(sum>>8)
			}
		}
	},
}
