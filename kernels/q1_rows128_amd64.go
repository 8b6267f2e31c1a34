//go:build !purego

package kernels

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
var rows128 = q1Tiles{rows128Rows, rows128Block, packRows128Tile, packRows128TileGo}.layout("rows128")

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
