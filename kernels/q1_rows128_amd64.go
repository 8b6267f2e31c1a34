//go:build !purego

package kernels

import (
	"encoding/binary"

	"onebit/formats"
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
var rows128 = &Layout{
	Name:    "rows128",
	RowTile: rows128Rows,
	bytes: func(rows, cols int) int {
		return (rows + rows128Rows - 1) / rows128Rows * (cols / 128) * rows128Block
	},
	pack: packRows128,
}

func packRows128(m *Matrix, t *formats.Tensor, r0, r1 int) error {
	blocks := m.Cols / 128
	rowBytes, tileBytes := blocks*q1Block, blocks*rows128Block
	none := make([]byte, rowBytes) // a row that only the layout has
	for r := r0; r < r1; r += rows128Rows {
		tile := m.Data[r/rows128Rows*tileBytes:][:tileBytes]
		row := func(i int) []byte {
			if r+i >= m.Rows {
				return none
			}
			return t.Data[(r+i)*rowBytes:][:rowBytes]
		}
		for i := 0; i < rows128Rows; i += 32 {
			for k := i; k < i+16; k++ {
				packRows128Pair(tile, row(k), row(k+16), k, i+2*(k-i))
			}
		}
	}
	return nil
}

// packRows128Pair packs rows i and i+16 of a tile, whose int16 lie side by side
// at place of a group.
func packRows128Pair(tile, even, odd []byte, i, place int) {
	for len(tile) > 0 {
		e, o, dst := even[:q1Block], odd[:q1Block], tile[:rows128Block]
		for half := range 2 {
			a, b := binary.LittleEndian.Uint64(e[2+8*half:]), binary.LittleEndian.Uint64(o[2+8*half:])
			for g := range 4 {
				binary.LittleEndian.PutUint32(dst[rows128Group*(4*half+g)+2*place:], uint32(a&0xffff|b<<16))
				a, b = a>>16, b>>16
			}
		}
		copy(dst[rows128Bits+2*i:], e[:2])
		copy(dst[rows128Bits+2*(i+16):], o[:2])
		tile, even, odd = tile[rows128Block:], even[q1Block:], odd[q1Block:]
	}
}
