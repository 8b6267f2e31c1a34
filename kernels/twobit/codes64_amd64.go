//go:build !purego

package twobit

import (
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
)

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

// dpStripFrom is from how many columns a strip is worth while with AVX-VNNI, whose kernel
// for one column is as fast as strips for eight.
const dpStripFrom = 8

var codes64Kernels = []struct {
	isa       *kernels.ISA
	summary   string
	column    codes64Kernel
	batchFrom int
}{
	{kernels.AVX2, "VPMADDUBSW on codes masked in place, 64 rows at a time", codes64AVX2, ternaryBatchFrom},
	{kernels.AVXVNNI, "VPDPBUSD (VEX) on codes masked in place, 64 rows at a time", codes64AVXVNNI, dpStripFrom},
	{kernels.AVX512VNNI, "VPDPBUSD on codes masked in place, 64 rows at a time", codes64AVX512VNNI, ternaryBatchFrom},
}

// registerCodes64 registers the variants that multiply the layout.
func (f twoBitFormat) registerCodes64() {
	layout, scaleStep := f.codes64(), f.codes.scaleStep(f.Scheme)
	for _, k := range codes64Kernels {
		if k.isa == kernels.AVX512VNNI && f.Type == formats.PTQ1_0 {
			continue // which has digits64
		}
		batch := batch{kernels: tileBatches[k.isa], arrange: arrangeRowsDwordsAVX2, blockCols: f.codes.blockLen, scaleStep: scaleStep, bytes: f.codes.tileBytes}
		kernels.Register(&kernels.Variant{
			Name: k.isa.Name, Summary: k.summary, Format: f.Type, Scheme: f.Scheme, ISA: k.isa, Layout: layout, Preference: 4,
			Kernels: []kernels.Kernel{kernels.ByColumn(nil, k.column.matVec(f.codes, scaleStep)), batch.kernel(k.batchFrom, 0)},
		})
	}
}
