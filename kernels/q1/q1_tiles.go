package q1

import (
	"onebit/formats"
	"onebit/kernels"
)

// q1Tiles is what packed layouts of q1_0_g128 have in common: tiles of rows, in
// which each 128 columns of all rows lie together.
type q1Tiles struct {
	rows, block int // of a tile, and bytes of its 128 columns
	whole       func(tile, rows []byte, blocks int)
	part        func(tile, rows []byte, blocks, n int) // packs n rows of a tile that is zero
}

func (q q1Tiles) layout(name string) *kernels.Layout {
	return &kernels.Layout{
		Name:    name,
		RowTile: q.rows,
		PackedBytes: func(rows, cols int) int {
			return (rows + q.rows - 1) / q.rows * (cols / 128) * q.block
		},
		Pack: func(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
			blocks := m.Cols / 128
			q.pack(m.Data[r0/q.rows*blocks*q.block:], t.Data[r0*blocks*q1Block:r1*blocks*q1Block], blocks)
			return nil
		},
	}
}

// pack packs rows into tiles. Rows behind the last are zero: bits and scales.
func (q q1Tiles) pack(to, rows []byte, blocks int) {
	rowBytes, tileBytes := blocks*q1Block, blocks*q.block
	for len(rows) > 0 {
		tile := to[:tileBytes]
		n := min(q.rows, len(rows)/rowBytes)
		if n == q.rows {
			q.whole(tile, rows[:n*rowBytes], blocks)
		} else {
			clear(tile)
			q.part(tile, rows, blocks, n)
		}
		to, rows = to[tileBytes:], rows[n*rowBytes:]
	}
}
