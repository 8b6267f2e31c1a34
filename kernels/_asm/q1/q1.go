// Package q1 generates the kernels of q1_0_g128.
package q1

import "onebit/kernels/_asm/asm"

// Generate writes all functions of q1_amd64.s.
func Generate(p *asm.Program) {
	declareConstants(p)
	declareOrders(p)
	declareTables(p)
	declareBatchTables(p)
	pack(p)
	byteOrder(p)
	wide := avx512vnni{p}
	bitplanes128(p, wide)
	bitplanes32(p, wide)
	for _, t := range []target{wide, avxvnni{ymmTarget{p}}, avx2{ymmTarget{p}}} {
		native(p, t)
	}
	columns(p, 2)
	columns(p, 4)
	nativeColumns(p, 2)
	nativeColumns(p, 3)
	nativeColumns(p, 4)
	tables(p)
	for _, per32 := range []bool{false, true} {
		lookup(p, per32)
		wordLookup(p, per32)
	}
	lookupColumns(p, false)
	lookupColumns(p, true)
	makeBatchTables(p)
	wordColumns(p)
	wordColumns32(p)
	panelOrder(p)
	panels(p, wide)
	panels32(p, wide)
}
