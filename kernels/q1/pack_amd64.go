//go:build !purego

package q1

import "onebit/internal/cpu"

// packBitplanesTile packs 16 rows; see packBitplanesTileGo, which it equals.
func packBitplanesTile(tile, rows []byte, blocks int) {
	if !cpu.Detected().Has(cpu.AVX2) {
		packBitplanesTileGo(tile, rows, blocks, bitplanesRows)
		return
	}
	stride := blocks * q1Block
	tile, rows = tile[:blocks*bitplanesBlock], rows[:bitplanesRows*stride]
	q1PackAVX2(&tile[0], &tile[bitplanesBits], &rows[0], stride, blocks)
	q1PackAVX2(&tile[32], &tile[bitplanesBits+16], &rows[8*stride], stride, blocks)
}

// packRows64Tile packs 64 rows; see packRows64TileGo, which it equals.
func packRows64Tile(tile, rows []byte, blocks int) {
	if !cpu.Detected().Has(cpu.AVX2) {
		packRows64TileGo(tile, rows, blocks, rows64Rows)
		return
	}
	tile, rows = tile[:blocks*rows64Block], rows[:rows64Rows*blocks*q1Block]
	packRows64AVX2(&tile[0], &rows[0], blocks*q1Block, blocks)
}

// packRows128Tile packs 128 rows; see packRows128TileGo, which it equals.
func packRows128Tile(tile, rows []byte, blocks int) {
	if !cpu.Detected().Has(cpu.AVX2) {
		packRows128TileGo(tile, rows, blocks, rows128Rows)
		return
	}
	stride := blocks * q1Block
	tile, rows = tile[:blocks*rows128Block], rows[:rows128Rows*stride]
	for v := range rows128Rows / 32 {
		packRows128AVX2(&tile[64*v], &tile[rows128Bits+64*v], &rows[32*v*stride], stride, blocks)
	}
}
