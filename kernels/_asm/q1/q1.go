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
	for _, t := range []bitplanesTarget{avx512vnni{p}, avxvnni{ymmTarget{p}}, avx2{ymmTarget{p}}} {
		bitplanes128(p, t)
		bitplanes32(p, t)
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
	for _, t := range []panelsTarget{avx512vnni{p}, avxvnni{ymmTarget{p}}, avx2{ymmTarget{p}}} {
		panels(p, t)
		panels32(p, t)
	}
}
