//go:build purego || !(amd64 || arm64)

package q1

// packBitplanesTile packs 16 rows.
func packBitplanesTile(tile, rows []byte, blocks int) {
	packBitplanesTileGo(tile, rows, blocks, bitplanesRows)
}
