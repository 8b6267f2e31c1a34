//go:build !purego

package q1

import (
	"onebit/kernels"
	"onebit/kernels/internal/tiles"
	"unsafe"
)

// The geometry of the layout rows128: a tile of 128 rows × 128 columns is 8
// groups of 16 columns, of four vectors each, and 128 fp16 scales.
//
//	group 0                …   group 7                    scales
//	4 × 64 B: columns 0…15     4 × 64 B: columns 112…127  256 B
//
// Vector v of a group has 16 columns of rows 32v … 32v+31, as the file has
// them, in an int16 each; even ones are the first 16 rows.
const (
	rows128Rows  = 128
	rows128Group = 2 * rows128Rows
	rows128Bits  = 8 * rows128Group
	rows128Block = rows128Bits + 2*rows128Rows
)

// rows128 is the packed layout of q1_0_g128 for kernels that look sums up with
// VPERMW.
var (
	rows128Tiles = q1Tiles{rows128Rows, rows128Block, packRows128Tile, packRows128TileGo}
	rows128      = rows128Tiles.layout("rows128")
)

// packRows128TileGo packs n rows of a tile.
func packRows128TileGo(tile, rows []byte, blocks, n int) {
	for i := range n {
		row := rows[i*blocks*q1Block:][:blocks*q1Block]
		place := i&^31 + 2*(i%16) + i/16%2 // among the int16 of a group
		for b := range blocks {
			src, dst := row[b*q1Block:][:q1Block], tile[b*rows128Block:][:rows128Block]
			copy(dst[rows128Bits+2*i:], src[:2])
			for g := range 8 {
				copy(dst[rows128Group*g+2*place:], src[2+2*g:][:2])
			}
		}
	}
}

// q1BatchOrder has the tables of int16 that VPERMW and VPERMI2W read for several
// columns.
var q1BatchOrder = q1TableOrder("q1_batch_tables", q1BatchTableBytes, q1BatchTablesAVX512)

// q1BatchTableBytes is the bytes of tables for an activation.
const q1BatchTableBytes = 16

// q1WordsTogether computes rows [r0, r1) of the columns from c on, which are
// q1LookupTogether.
func q1WordsTogether(dst []float32, m *kernels.Matrix, a *kernels.Activations, c, _, r0, r1, scaleStep int) {
	const n, tile = q1LookupTogether, rows128Rows
	blocks, tableStride := m.Cols/128, q1BatchTableBytes*a.Stride
	tables, _, _ := a.Columns(q1BatchOrder, c, n)
	scales, scaleStride := q1Scales(a, c, n), q1ScaleStride(a)
	var room [n * tile]int32
	multiply := func(dst *float32, dstStride int, data *byte) {
		if a.Scheme == kernels.Q8Per32 {
			q1WordColumns4Per32AVX512VNNI(dst, dstStride, data, &tables[0], tableStride, scales, scaleStride, scaleStep, blocks, (*byte)(unsafe.Pointer(&room)))
			return
		}
		q1WordColumns4AVX512(dst, dstStride, data, &tables[0], tableStride, scales, scaleStride, scaleStep, blocks)
	}
	for r := r0; r < r1; r += tile {
		data := m.Data[r/tile*blocks*rows128Block:][:blocks*rows128Block]
		if r+tile <= r1 {
			out := dst[c*m.Rows+r:][:(n-1)*m.Rows+tile]
			multiply(&out[0], 4*m.Rows, &data[0])
			continue
		}
		// The last tile has rows that only the layout has.
		var whole [n * tile]float32
		multiply(&whole[0], 4*tile, &data[0])
		tiles.Store(dst, m.Rows, c, n, r, r1-r, whole[:], tile, 0)
	}
}
