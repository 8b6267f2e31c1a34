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

// A codes64Strip is one of the functions of that name.
type codes64Strip func(dst *float32, dstStride int, data *byte, vector, rows, blocks int, panel *int8, panelStride int, scales *float32, scaleStride, cols, groups, scaleStep int)

// dpStripFrom is from how many columns a strip is worth while with AVX-VNNI, whose kernel
// for one column is as fast as strips for eight.
const dpStripFrom = 8

var codes64Kernels = []struct {
	isa       *kernels.ISA
	summary   string
	column    codes64Kernel
	strip     codes64Strip // nil: codes64Batch
	batchFrom int
}{
	{kernels.AVX2, "VPMADDUBSW on codes masked in place, 64 rows at a time", codes64AVX2, codes64StripAVX2, ternaryBatchFrom},
	{kernels.AVXVNNI, "VPDPBUSD (VEX) on codes masked in place, 64 rows at a time", codes64AVXVNNI, codes64StripAVXVNNI, dpStripFrom},
	{kernels.AVX512VNNI, "VPDPBUSD on codes masked in place, 64 rows at a time", codes64AVX512VNNI, nil, ternaryBatchFrom},
}

var codes64Batch = [len(batchCols)]func(dst *float32, dstStride int, data *byte, panel *int8, scales *float32, scaleStride, cols, blocks, groups, scaleStep, rows int){
	codes64Batch4AVX512VNNI, codes64Batch6AVX512VNNI, codes64Batch8AVX512VNNI, codes64Batch12AVX512VNNI, codes64Batch16AVX512VNNI,
}

// registerCodes64 registers the variants that multiply the layout.
func (f twoBitFormat) registerCodes64() {
	layout, row := f.codes64(), f.codes.row(f.Scheme)
	for _, k := range codes64Kernels {
		if k.isa == kernels.AVX512VNNI && f.Type == formats.PTQ1_0 {
			continue // which has digits64
		}
		v := &kernels.Variant{
			Name: k.isa.Name, Summary: k.summary, Format: f.Type, Scheme: f.Scheme,
			ISA: k.isa, Layout: layout, Preference: 4,
		}
		batch := kernels.Kernel{From: k.batchFrom}
		if k.strip != nil {
			panels := narrow(arrangeRowsDwordsAVX2, row.blockCols)
			batch.Order = panels.order()
			batch.Rows = k.strip.matMul(panels, batch.Order, f.codes, row)
		} else {
			panels := wide(arrangeRowsDwordsAVX2, row.blockCols)
			batch.Order = panels.order()
			batch.Rows = codes64MatMul(panels, batch.Order, f.codes, row)
		}
		v.Kernels = []kernels.Kernel{kernels.ByColumn(nil, k.column.matVec(f.codes, row.scaleStep)), batch}
		kernels.Register(v)
	}
}

// codes64MatMul is for AVX-512 VNNI.
func codes64MatMul(p panels, order *kernels.Order, codes *twoBit, f twoBitRow) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		p.tiles(m, a, order, r0, r1, codes.tileBytes(m.Cols), func(data *byte, panel *int8, c, cols, r, rows int) {
			forCols(codes64Batch, cols)(&dst[c*m.Rows+r], 4*m.Rows, data, panel, &a.Scales[c*a.Groups], 4*a.Groups, cols, m.Cols/codes.blockLen, f.groups, f.scaleStep, rows)
		})
	}
}

func (kernel codes64Strip) matMul(p panels, order *kernels.Order, codes *twoBit, f twoBitRow) kernels.MatMulFunc {
	return func(dst []float32, m *kernels.Matrix, a *kernels.Activations, r0, r1 int) {
		tileBytes := codes.tileBytes(m.Cols)
		p.strips(a, order, r0, r1, func(panel *int8, c, cols, r, rows int) {
			tile := tilesOf(m, r-r%tileRows, r+rows, tileBytes)
			kernel(&dst[c*m.Rows+r], 4*m.Rows, &tile[0], r%tileRows/stripRows, rows, m.Cols/codes.blockLen, panel, p.length(a.Stride), &a.Scales[c*a.Groups], 4*a.Groups, cols,
				f.groups, f.scaleStep)
		})
	}
}
