package heads

import (
	"fmt"

	"onebit/formats"
	"onebit/kernels"
)

// A nibbles is the layout of a format with codes of 4 bits, in tiles of rows that lie in the lanes of
// vectors, 4 codes of each side by side: nothing is added across lanes, and what codes become
// serves all columns. A tile of R rows of q4_0 has for every 32 columns
//
//	byte  0         2R             6R             10R   14R   18R
//	      | R fp16  | k 0…3 in low | k 4…7        | …   | …   |
//	        scales    bits, 16…19    and 20…23
//	                  in high ones:
//	                  R × 4 bytes
//
// and one of q4_k for every 256
//
//	byte  0       2R        4R         5R          6R        22R
//	      | R d   | R dmin  | R scales | R offsets | codes,  | scales, offsets and codes
//	       fp16     fp16      bytes      bytes       as above  of 7 more groups
//
// which is 1.028 times as large as the file's. Rows behind the last are zero.
type nibbles struct {
	format *formats.Type
	bytes  int // of a row and a block in a tile
	// inBlocks is 1 if groups of 32 columns are in blocks, which have scales of their scales.
	inBlocks int
	// pack writes row r of R to a block of a tile.
	pack func(to, block []byte, r, R int)
}

// q4_0 has codes that q8_0 could hold, in half as many bytes.
var nibblesQ4_0 = nibbles{formats.Q4_0, 18, 0, packQ4_0}

func init() { q8CodecOf(formats.Q4_0).Register() }

// layout is that of tiles of so many rows.
func (n nibbles) layout(rows int) *kernels.Layout {
	tile := func(cols int) int { return cols / n.format.BlockLen * n.bytes * rows }
	return &kernels.Layout{
		Name: fmt.Sprint("nibbles", rows), RowTile: rows,
		PackedBytes: func(r, cols int) int { return (r + rows - 1) / rows * tile(cols) },
		Pack: func(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
			for r := r0; r < r1; r += rows {
				to, last := m.Span(r/rows, r/rows+1, tile(m.Cols)), min(r+rows, r1)
				if last < r+rows {
					clear(to)
				}
				n.packRows(to, t.Data, m.Cols/n.format.BlockLen, r, last, rows)
			}
			return nil
		},
	}
}

// packRows writes the rows [r0, r1) to a tile.
func (n nibbles) packRows(tile, data []byte, blocks, r0, r1, rows int) {
	size, _ := n.format.Bytes(1, n.format.BlockLen)
	for r := r0; r < r1; r++ {
		row := data[r*blocks*size:][:blocks*size]
		for b := range blocks {
			n.pack(tile[b*n.bytes*rows:][:n.bytes*rows], row[b*size:][:size], r-r0, rows)
		}
	}
}

func packQ4_0(to, block []byte, r, rows int) {
	copy(to[2*r:][:2], block)
	for i := range 4 {
		copy(to[2*rows+4*(i*rows+r):][:4], block[2+4*i:])
	}
}
