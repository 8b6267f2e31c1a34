//go:build !purego

package twobit

import "onebit/internal/cpu"

// packWordUnits is packWordRow for four rows, as many columns as there are
// whole units; it returns their number.
func packWordUnits(dst, group []byte) int {
	const unit = 128
	units := len(group) / unit
	if units == 0 || !cpu.Detected().Has(cpu.AVX2) {
		return 0
	}
	packWordsAVX2(&dst[0], len(dst)/4, &group[0], units)
	return units * unit
}

// unpackTQ1Blocks unpacks the blocks of src; see unpackTQ1BlocksGo, which it
// equals.
func unpackTQ1Blocks(dst, src []byte) {
	blocks := len(src) / tq1Block
	if !cpu.Detected().Has(cpu.AVX2) {
		unpackTQ1BlocksGo(dst, src)
		return
	}
	dst = dst[:blocks*tq2Block]
	unpackTQ1AVX2(&dst[0], &src[0], blocks)
}
