package q1

import (
	"encoding/binary"
)

// The geometry of the layout bitplanes, drawn in doc.go.
const (
	bitplanesRows   = 16
	bitplanesBits   = 256                  // bytes of sign bits in a block of 16 rows × 128 columns
	bitplanesBlock  = bitplanesBits + 2*16 // with the scales
	bitplanesVector = 64                   // 16 rows × 32 columns
)

// bitplanes is the packed layout of q1_0_g128 that all instruction sets read.
var bitplanes = bitplanesTiles.layout("bitplanes")

var bitplanesTiles = q1Tiles{bitplanesRows, bitplanesBlock, packBitplanesTile, packBitplanesTileGo}

// packBitplanesTileGo packs n rows of a tile.
func packBitplanesTileGo(tile, rows []byte, blocks, n int) {
	for r := range n {
		row := rows[r*blocks*q1Block:][:blocks*q1Block]
		for b := range blocks {
			src, dst := row[b*q1Block:][:q1Block], tile[b*bitplanesBlock:][:bitplanesBlock]
			lo := interleaveBits(binary.LittleEndian.Uint64(src[2:]))
			hi := interleaveBits(binary.LittleEndian.Uint64(src[10:]))
			binary.LittleEndian.PutUint32(dst[4*r:], uint32(lo))
			binary.LittleEndian.PutUint32(dst[bitplanesVector+4*r:], uint32(lo>>32))
			binary.LittleEndian.PutUint32(dst[2*bitplanesVector+4*r:], uint32(hi))
			binary.LittleEndian.PutUint32(dst[3*bitplanesVector+4*r:], uint32(hi>>32))
			dst[bitplanesBits+2*r], dst[bitplanesBits+2*r+1] = src[0], src[1]
		}
	}
}

// interleaveBits moves bit 4j+t of each 32-bit half of x to bit 8t+j: the
// transpose of an 8 × 4 bit matrix. As a permutation of the five bits of the
// position it is four exchanges of two of them, each one exchange of bits at a
// distance.
func interleaveBits(x uint64) uint64 {
	x = exchangeBits(x, 16-2, 0x0000cccc_0000cccc) // position bits 4 and 1
	x = exchangeBits(x, 8-1, 0x00aa00aa_00aa00aa)  // 3 and 0
	x = exchangeBits(x, 4-2, 0x0c0c0c0c_0c0c0c0c)  // 2 and 1
	return exchangeBits(x, 2-1, 0x22222222_22222222)
}

// exchangeBits exchanges the bits of x at mask with those distance above.
func exchangeBits(x uint64, distance uint, mask uint64) uint64 {
	t := (x ^ x>>distance) & mask
	return x ^ t ^ t<<distance
}
