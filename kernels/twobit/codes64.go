//go:build !purego && (amd64 || arm64)

package twobit

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/kernels"
)

// codes64 is the layout for a format with a scale per block; it is drawn in doc.go.
func (f twoBitFormat) codes64() *kernels.Layout {
	codes := f.codes
	if u, ok := unpackers[f.Type]; ok {
		rowBytes := func(cols int) int { return cols / codes.blockLen * u.blockBytes }
		whole := func(tile, rows []byte) { codes.packTile(tile, u.unpacked(rows, codes)) }
		part := func(tile, rows []byte, n int) { codes.packTileGo(tile, u.unpacked(rows, codes), n) }
		return tileLayout("codes64", rowBytes, codes.tileBytes, whole, part)
	}
	return tileLayout("codes64", func(cols int) int { return cols / codes.blockLen * codes.blockBytes }, codes.tileBytes, codes.packTile, codes.packTileGo)
}

// An unpacker makes blocks of 2-bit codes of those of so many bytes.
type unpacker struct {
	blockBytes int
	unpack     func(dst, src []byte)
}

// unpackers are those of formats whose digits are base 3.
var unpackers = map[*formats.Type]unpacker{
	formats.TQ1_0:  {tq1Block, unpackTQ1Blocks},
	formats.PTQ1_0: {ptq1Block, unpackPTQ1Blocks},
}

// unpacked returns rows as the format of codes has them.
func (u unpacker) unpacked(rows []byte, codes *twoBit) []byte {
	out := make([]byte, len(rows)/u.blockBytes*codes.blockBytes)
	u.unpack(out, rows)
	return out
}

// tileBytes are those of a tile.
func (f *twoBit) tileBytes(cols int) int { return cols / f.blockLen * f.tileBlock() }

// tileBlock is the bytes of a block of all rows of a tile.
func (f *twoBit) tileBlock() int { return f.blockLen/16*dwordBytes + tileScales }

// packTileGo packs n rows into a tile, which is zero if they are fewer than it has.
func (f *twoBit) packTileGo(tile, rows []byte, n int) {
	rowBytes := len(rows) / n
	for r := range n {
		row := rows[r*rowBytes:][:rowBytes]
		for b := range rowBytes / f.blockBytes {
			block, to := row[b*f.blockBytes:][:f.blockBytes], tile[b*f.tileBlock():][:f.tileBlock()]
			for d := range f.blockLen / 16 {
				binary.LittleEndian.PutUint32(to[d*dwordBytes+4*r:], f.dword(block[f.data:], d))
			}
			copy(to[f.blockLen/16*dwordBytes+2*r:][:2], block[f.scale:])
		}
	}
}

// dword returns columns 16d to 16d+15 of a block: column 4j+i of them at bits 8i+2j and
// the next.
func (f *twoBit) dword(codes []byte, d int) (dword uint32) {
	if f.span == 1 { // column 4i+j is there
		return transposeCodes(binary.LittleEndian.Uint32(codes[4*d:]))
	}
	// Each four bytes of a run have a quarter of these columns, all at one shift.
	run, in := 16*d/(4*f.span), 16*d%(4*f.span)
	from := codes[run*f.span+in%f.span:]
	shift := f.shifts[in/f.span]
	for j := range 4 {
		dword |= binary.LittleEndian.Uint32(from[4*j:]) >> shift & 0x03030303 << (2 * j)
	}
	return dword
}

// transposeCodes moves the code at bits 8i+2j to 8j+2i.
func transposeCodes(w uint32) uint32 {
	t := (w ^ w>>6) & 0x00cc00cc
	w ^= t | t<<6
	t = (w ^ w>>12) & 0x0000f0f0
	return w ^ (t | t<<12)
}

// A codes64Kernel is one of the functions codes64*, which take one column.
type codes64Kernel func(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, pairs, scaleStep, rows int)

func (kernel codes64Kernel) matVec(codes *twoBit, scaleStep int) kernels.MatVecFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		out := dst[r0:r1]
		q, scales, sums := a.Columns(nil, col, 1)
		kernel(&out[0], &tilesOf(m, r0, r1, codes.tileBytes(m.Cols))[0], &q[0], &scales[0], &sums[0], m.Cols/codes.blockLen, codes.blockLen/32, scaleStep, len(out))
	}
}

// scaleStep is the bytes of activation scales for a block: 4, 2, or 0 if there is one
// for all.
func (f *twoBit) scaleStep(scheme kernels.Scheme) int {
	if scheme == kernels.Q8Per128 {
		return 4 * f.blockLen / 128
	}
	return 0
}
