//go:build !purego && (amd64 || arm64)

package twobit

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/quantize"
)

// Products under q8_32, of tiles of 64 rows: the layout codes64, and for formats with
// one scale per tensor codes128, which is the same without scales.

// spansLayout is the layout in which the format's rows are multiplied; nil if they are
// not.
func (f twoBitFormat) spansLayout() *kernels.Layout {
	switch {
	case f.Type == formats.I2_S_X4: // whose layout is rows
		return nil
	case f.codes.scale < 0:
		return codes128(f.codes)
	}
	return f.codes64()
}

// codes128 is the layout for formats with one scale per tensor. Columns are padded to
// whole spans, by codes that meet activations of zero.
func codes128(codes *twoBit) *kernels.Layout {
	pack := func(tile, rows []byte, n int) {
		rowBytes := len(rows) / n
		for d := range 4 * rowBytes / 16 {
			block, in := 16*d/codes.blockLen, 16*d%codes.blockLen
			for r := range n {
				from := rows[r*rowBytes+block*codes.blockBytes:]
				binary.LittleEndian.PutUint32(tile[d*dwordBytes+4*r:], codes.dword(from, in/16))
			}
		}
	}
	whole := func(tile, rows []byte) {
		clear(tile[len(tile)-spanBytes:]) // of which the columns may end before
		pack(tile, rows, tileRows)
	}
	return tileLayout("codes128", wordRowBytes, func(cols int) int { return spansOf(cols) * spanBytes }, whole, pack)
}

// spanBytes are those of a span's codes in a tile.
const spanBytes = quantize.SpanLen / 16 * dwordBytes

func spansOf(cols int) int { return (cols + quantize.SpanLen - 1) / quantize.SpanLen }
