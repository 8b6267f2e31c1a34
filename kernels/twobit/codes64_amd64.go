//go:build !purego

package twobit

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// codes64 is the layout for a format with a scale per block; it is drawn in doc.go.
func (f twoBitFormat) codes64() *kernels.Layout {
	codes := f.codes
	if f.Type == formats.TQ1_0 {
		rowBytes := func(cols int) int { return cols / codes.blockLen * tq1Block }
		whole := func(tile, rows []byte) { codes.packTile(tile, unpackedTQ1(rows)) }
		part := func(tile, rows []byte, n int) { codes.packTileGo(tile, unpackedTQ1(rows), n) }
		return tileLayout("codes64", rowBytes, codes.tileBytes, whole, part)
	}
	return tileLayout("codes64", func(cols int) int { return cols / codes.blockLen * codes.blockBytes }, codes.tileBytes, codes.packTile, codes.packTileGo)
}

// unpackedTQ1 returns rows of tq1_0 as tq2_0 has them.
func unpackedTQ1(rows []byte) []byte {
	codes := make([]byte, len(rows)/tq1Block*tq2Block)
	unpackTQ1Blocks(codes, rows)
	return codes
}

// tileBytes are those of a tile.
func (f *twoBit) tileBytes(cols int) int { return cols / f.blockLen * f.tileBlock() }

// tileBlock is the bytes of a block of all rows of a tile.
func (f *twoBit) tileBlock() int { return f.blockLen/16*dwordBytes + tileScales }

// packTile packs as many rows as a tile has; see packTileGo, which it equals.
func (f *twoBit) packTile(tile, rows []byte) {
	if !cpu.Detected().Has(kernels.AVX512VNNI.Requires) {
		f.packTileGo(tile, rows, tileRows)
		return
	}
	pack := packCodes64BytesAVX512
	if f.span > 1 {
		pack = packCodes64RunsAVX512
	}
	rowBytes, codeBytes := len(rows)/tileRows, f.blockLen/4
	for r := 0; r < tileRows; r += 16 {
		from := rows[r*rowBytes+f.data:]
		pack(&tile[4*r], &tile[tileRows*codeBytes+2*r], &from[0], rowBytes, rowBytes/f.blockBytes, codeBytes/16, f.blockBytes-codeBytes, f.scale-f.data)
	}
}

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

var codes64Batch = [len(batchCols)]func(dst *float32, dstStride int, data *byte, panel *int8, scales *float32, scaleStride, cols, blocks, groups, scaleStep, rows int){
	codes64Batch4AVX512VNNI, codes64Batch6AVX512VNNI, codes64Batch8AVX512VNNI, codes64Batch12AVX512VNNI, codes64Batch16AVX512VNNI,
}

// registerCodes64 registers the variant that multiplies the layout.
func (f twoBitFormat) registerCodes64() {
	codes, row := f.codes, f.codes.row(f.Scheme)
	panels := wide(arrangeRowsDwordsAVX2, row.blockCols)
	order := panels.order()
	kernels.Register(&kernels.Variant{
		Name: kernels.AVX512VNNI.Name, Summary: "VPDPBUSD on codes masked in place, 64 rows at a time", Format: f.Type, Scheme: f.Scheme,
		ISA: kernels.AVX512VNNI, Layout: f.codes64(), Preference: 4,
		MatVec: func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
			out := dst[r0:r1]
			q, scales, sums := a.Columns(nil, col, 1)
			codes64AVX512VNNI(&out[0], &tilesOf(m, r0, r1, codes.tileBytes(m.Cols))[0], &q[0], &scales[0], &sums[0], m.Cols/codes.blockLen, codes.blockLen/32, row.scaleStep, len(out))
		},
		BatchOrder: order, BatchFrom: ternaryBatchFrom,
		MatMul: func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
			panels.tiles(m, a, order, r0, r1, codes.tileBytes(m.Cols), func(data *byte, panel *int8, c, cols, r, rows int) {
				forCols(codes64Batch, cols)(&dst[c*m.Rows+r], 4*m.Rows, data, panel, &a.Scales[c*a.Groups], 4*a.Groups, cols, m.Cols/codes.blockLen, row.groups, row.scaleStep, rows)
			})
		},
	})
}
