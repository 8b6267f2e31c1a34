package shaders

import (
	_ "embed"
	"encoding/binary"
	"fmt"
)

// Planes multiplies codes of one and two bits by counting bits, and takes
// activations apart into planes of bits. A Cut has its function constants.
var Planes = rounding + planes

//go:embed planes.metal
var planes string

// A Cut says how a product of Planes is cut into threads.
type Cut struct {
	ActColumns uint32 // of activations with one scale: 32 or 128; 0: all
	// InFile is whether weights are as the file has them, for matvec_lanes, or in
	// tiles, for matvec_tiles. Activations are arranged for one of the two.
	InFile  bool
	Columns uint32 // of activations that weights are read once for: 1 to 8
	Rows    uint32 // of a thread: 1 to 4
	Threads uint32 // of matvec_lanes that share a row: a power of two from Rows to 32
}

// Constants returns the function constants of Planes, by index.
func (c Cut) Constants(codes Codes) map[int]any {
	constants := codes.Constants()
	for i, v := range []any{c.ActColumns, c.InFile, c.Columns, c.Rows, c.Threads} {
		constants[7+i] = v
	}
	return constants
}

// termColumns is term_columns of planes.metal, or 0.
func (c Cut) termColumns(codes Codes) uint32 {
	if codes.BlockColumns == 0 || c.ActColumns == 0 {
		return codes.BlockColumns + c.ActColumns
	}
	return min(codes.BlockColumns, c.ActColumns)
}

// most is how many rows × columns × bits a thread multiplies at a time: the
// instructions for more, in a loop that is unrolled, are more than a GPU's cache of
// 12 KB holds.
const most = 8

func cutOf(codes Codes, actColumns uint32, columns int) Cut {
	return Cut{ActColumns: actColumns, Columns: tileColumns(columns, most/codes.Bits), Rows: 1, Threads: 32}
}

// tileColumns returns how many columns of activations weights are read once for: a
// power of two, so that batches of all lengths share a few pipelines, which take a
// compiler's time each.
func tileColumns(columns int, most uint32) uint32 {
	n := uint32(1)
	for n < most && int(n) < columns {
		n *= 2
	}
	return n
}

// TilesCut returns the cut of matvec_tiles for so many rows and columns of
// activations: fewer rows a thread where the GPU would not have enough to do.
func TilesCut(codes Codes, actColumns uint32, rows, columns int) Cut {
	c := cutOf(codes, actColumns, columns)
	pieces := uint32(1)
	if term := c.termColumns(codes); term != 0 {
		pieces = max(1, 128/term)
	}
	for c.Rows < 4 && 2*c.Rows*pieces <= 4 && 2*c.Rows*c.Columns*codes.Bits <= most && rows >= int(2*c.Rows)*tileRows*64 {
		c.Rows *= 2
	}
	return c
}

// LanesCut returns the cut of matvec_lanes for weights of so many columns, or an
// error that says why it doesn't multiply them. Threads that share a row leave as
// few of them idle as can be.
func LanesCut(codes Codes, actColumns uint32, cols, columns int) (Cut, error) {
	align := 4
	if codes.BlockColumns == 0 {
		align = 16
	}
	switch {
	case codes.Bits > 2:
		return Cut{}, fmt.Errorf("matvec_lanes multiplies codes of 1 and 2 bits, not of %d", codes.Bits)
	case cols%128 != 0 || codes.RowBytes(cols)%align != 0:
		return Cut{}, fmt.Errorf("matvec_lanes multiplies rows of a multiple of 128 columns and %d bytes, not of %d and %d", align, cols, codes.RowBytes(cols))
	case actColumns == 32:
		return Cut{}, fmt.Errorf("matvec_lanes multiplies activations with scales for 128 columns or more, not for 32")
	}
	c := cutOf(codes, actColumns, columns)
	c.InFile, c.Rows = true, min(4, max(1, most/c.Columns/codes.Bits))
	units := cols / max(128, int(c.termColumns(codes)))
	c.Threads = uint32(rowThreads(units))
	return c, nil
}

// tileRows is how many rows a tile has.
const tileRows = 32

// Tiles returns how many tiles rows make.
func Tiles(rows int) int { return (rows + tileRows - 1) / tileRows }

// TileBytes returns the lengths of a tile's codes and scales. A tensor with one
// scale has none in its tiles.
func (c Codes) TileBytes(cols int) (codes, scales int) {
	if c.BlockColumns != 0 {
		scales = cols / int(c.BlockColumns) * tileRows * 2
	}
	return (cols + 127) / 128 * int(c.Bits) * tileRows * 16, scales
}

// Tile packs a tile of weights whose codes have one or two bits, for matvec_tiles,
// into zeros. data are those of all rows. Tiles may be packed at the same time.
func (c Codes) Tile(codes, scales, data []byte, rows, cols, tile int) {
	rowBytes := c.RowBytes(cols)
	for r := range min(tileRows, rows-tile*tileRows) {
		row := data[(tile*tileRows+r)*rowBytes:][:rowBytes]
		if c.BlockColumns == 0 {
			c.tileRun(codes[16*r:], row, 0)
			continue
		}
		for b := 0; b < cols/int(c.BlockColumns); b++ {
			block := row[b*int(c.BlockBytes):]
			c.tileRun(codes[16*r:], block[c.At:][:c.BlockColumns*c.Bits/8], b*int(c.BlockColumns)/32)
			copy(scales[(b*tileRows+r)*2:][:2], block[c.ScaleAt:])
		}
	}
}

// tileRun packs codes of columns from a multiple of 32 on, in words of 32, of which
// the last may have fewer. A column's bits of a row are in a word for each bit.
func (c Codes) tileRun(dst, codes []byte, word int) {
	put := func(word, bit int, x uint32) {
		at := (word/4*int(c.Bits)+bit)*tileRows*16 + word%4*4
		binary.LittleEndian.PutUint32(dst[at:], x)
	}
	for n := int(c.Bits) * 4; len(codes) > 0; {
		switch {
		case c.Bits == 1:
			put(word, 0, binary.LittleEndian.Uint32(codes))
			word, codes = word+1, codes[n:]
		case c.Span == 1:
			var bytes [8]byte
			codes = codes[copy(bytes[:], codes):]
			x := binary.LittleEndian.Uint64(bytes[:])
			put(word, 0, evenBits(x))
			put(word, 1, evenBits(x>>1))
			word++
		default: // a run of span bytes has 4·span columns
			span := int(c.Span)
			for place := range 4 {
				shift := 2 * place
				if c.HighFirst {
					shift = 6 - shift
				}
				for i := 0; i < span; i += 8 {
					x := binary.LittleEndian.Uint64(codes[i:]) >> shift
					column := place*span + i
					at := dst[(word+column/32)/4*int(c.Bits)*tileRows*16+(word+column/32)%4*4+column%32/8:]
					at[0], at[tileRows*16] = bitsOfBytes(x), bitsOfBytes(x>>1)
				}
			}
			word, codes = word+span/8, codes[span:]
		}
	}
}

// evenBits returns bits 0, 2, 4 … 62 of x.
func evenBits(x uint64) uint32 {
	for i, mask := range [...]uint64{0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x00ff00ff00ff00ff, 0x0000ffff0000ffff} {
		x &= mask
		x |= x >> (1 << i)
	}
	return uint32(x)
}

// bitsOfBytes returns the lowest bit of each byte of x, that of the first lowest.
func bitsOfBytes(x uint64) byte {
	return byte((x & 0x0101010101010101) * 0x0102040810204080 >> 56)
}
