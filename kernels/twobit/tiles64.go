//go:build !purego && (amd64 || arm64)

package twobit

import (
	"onebit/formats"
	"onebit/kernels"
)

// What the layouts codes64 and digits64 have in common: tiles of 64 rows.
const (
	tileRows   = 64
	dwordBytes = 4 * tileRows // of four bytes of each row
	tileScales = 2 * tileRows
)

// tileLayout makes one of what a row of the file and a tile have in bytes. whole packs
// a tile, part so many rows of one that is zero.
func tileLayout(name string, rowBytes, tileBytes func(cols int) int, whole func(tile, rows []byte), part func(tile, rows []byte, n int)) *kernels.Layout {
	return &kernels.Layout{
		Name:    name,
		RowTile: tileRows,
		PackedBytes: func(rows, cols int) int {
			return (rows + tileRows - 1) / tileRows * tileBytes(cols)
		},
		Pack: func(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
			n := rowBytes(m.Cols)
			for r := r0; r < r1; r += tileRows {
				tile := tilesOf(m, r, min(r+tileRows, r1), tileBytes(m.Cols))
				if r+tileRows <= r1 {
					whole(tile, t.Data[r*n:(r+tileRows)*n])
					continue
				}
				clear(tile)
				part(tile, t.Data[r*n:r1*n], r1-r)
			}
			return nil
		},
	}
}

// tilesOf returns the tiles, of so many bytes, that have rows [r0, r1).
func tilesOf(m *kernels.Matrix, r0, r1, tileBytes int) []byte {
	return m.Span(r0/tileRows, (r1+tileRows-1)/tileRows, tileBytes)
}
