//go:build !purego

package twobit

import (
	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// The layout digits64 of ptq1_0, which is drawn in doc.go. It is as large as the file's.
const (
	digitDwords = 6 // of five digits in each byte
	digitTails  = digitDwords * dwordBytes
	digitScales = digitTails + 2*tileRows
	digitBlock  = digitScales + tileScales
)

var digits64 = tileLayout("digits64", func(cols int) int { return cols / 128 * ptq1Block }, func(cols int) int { return cols / 128 * digitBlock }, packDigitTile, packDigitTileGo)

// packDigitTile packs as many rows as a tile has; see packDigitTileGo, which it equals.
func packDigitTile(tile, rows []byte) {
	if !cpu.Detected().Has(kernels.AVX512VNNI.Requires) {
		packDigitTileGo(tile, rows, tileRows)
		return
	}
	rowBytes := len(rows) / tileRows
	for r := 0; r < tileRows; r += 16 {
		packDigits64AVX512(&tile[4*r], &tile[digitTails+2*r], &rows[r*rowBytes], rowBytes, rowBytes/ptq1Block)
	}
}

// packDigitTileGo packs n rows into a tile, which is zero if they are fewer than it has.
func packDigitTileGo(tile, rows []byte, n int) {
	rowBytes := len(rows) / n
	for r := range n {
		row := rows[r*rowBytes:][:rowBytes]
		for b := range rowBytes / ptq1Block {
			block, to := row[b*ptq1Block:][:ptq1Block], tile[b*digitBlock:][:digitBlock]
			for d := range digitDwords {
				copy(to[d*dwordBytes+4*r:][:4], block[4*d:])
			}
			copy(to[digitTails+2*r:][:2], block[24:])
			copy(to[digitScales+2*r:][:2], block[26:])
		}
	}
}

var digits64Batches = []batchKernel{{4, 32, digits64Batch4AVX512VNNI}, {6, 32, digits64Batch6AVX512VNNI}, {8, 32, digits64Batch8AVX512VNNI}}

func init() {
	const scaleStep = 4
	tileBytes := func(cols int) int { return cols / 128 * digitBlock }
	batch := batch{kernels: digits64Batches, arrange: arrangeRowsDwordsAVX2, blockCols: 128, scaleStep: scaleStep, bytes: tileBytes}
	matVec := func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		blocks := m.Cols / 128
		out := dst[r0:r1]
		q, scales, sums := a.Columns(nil, col, 1)
		digits64AVX512VNNI(&out[0], &tilesOf(m, r0, r1, blocks*digitBlock)[0], &q[0], &scales[0], &sums[0], blocks, scaleStep, len(out))
	}
	kernels.Register(&kernels.Variant{
		Name: kernels.AVX512VNNI.Name, Summary: "VPDPBUSD on bytes of five digits, 64 rows at a time", Format: formats.PTQ1_0, Scheme: kernels.Q8Per128,
		ISA: kernels.AVX512VNNI, Layout: digits64,
		Kernels: []kernels.Kernel{kernels.ByColumn(nil, matVec), batch.kernel(blocksBatchFrom, 0)},
	})
}
