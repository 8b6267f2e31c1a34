//go:build !purego

package kernels

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
