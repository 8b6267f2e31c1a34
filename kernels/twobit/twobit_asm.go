//go:build !purego && (amd64 || arm64)

package twobit

import (
	"onebit/formats"
	"onebit/kernels"
)

// The numbers of columns from which batches are worth while. Fewer are done
// one by one while the weights are in the cache. Blocks on AVX-512 VNNI: from two.
const (
	ternaryBatchFrom = 4
	blocksBatchFrom  = 3
)

// tq2Rows is the layout of tq2_0 for tq1_0.
var tq2Rows = &kernels.Layout{
	Name:        "tq2_0",
	RowTile:     1,
	PackedBytes: func(rows, cols int) int { return rows * (cols / 256) * tq2Block },
	Pack: func(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
		n := m.Cols / 256
		unpackTQ1Blocks(m.Data[r0*n*tq2Block:r1*n*tq2Block], t.Data[r0*n*tq1Block:r1*n*tq1Block])
		return nil
	},
}

// wordRows is the layout of ternary_u32 for i2_s_x4.
var wordRows = &kernels.Layout{
	Name:        "words",
	RowTile:     4,
	PackedBytes: func(rows, cols int) int { return rows * wordRowBytes(cols) },
	Pack:        packWordRows,
}

func packWordRows(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
	n := wordRowBytes(m.Cols)
	for r := r0; r < r1; r += 4 {
		packWordGroup(m.Data[r*n:][:4*n], t.Data[r/4*m.Cols:][:m.Cols])
	}
	return nil
}
