//go:build !purego

package q1

import "onebit/internal/cpu"

// packBitplanesTile packs 16 rows; see packBitplanesTileGo, which it equals.
func packBitplanesTile(tile, rows []byte, blocks int) {
	if !cpu.Detected().Has(cpu.NEON) {
		packBitplanesTileGo(tile, rows, blocks, bitplanesRows)
		return
	}
	stride := blocks * q1Block
	tile, rows = tile[:blocks*bitplanesBlock], rows[:bitplanesRows*stride]
	packBitplanesNEON(&tile[0], &rows[0], stride, blocks)
}

//go:noescape
func packBitplanesNEON(tile, rows *byte, stride, blocks int)
