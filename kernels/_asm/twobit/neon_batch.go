package twobit

import (
	"fmt"

	"onebit/kernels/_asm/neon"
)

// In batches with dot products 4 rows in the lanes of a register meet 4, 8 or 16 columns, whose
// activations are the elements of others. The sums of a block, 4 rows of a column each, begin with
// V0. V30: the weight scales of the rows.

// startColumns clears results, and ends in the label of a block. R14 is its number.
func startColumns(p *neon.Program, columns int) {
	p.Asm("VMOVI $3, V31.B16")
	p.Clear(0, 2)
	p.Asm(`
		%d* FSTPQ (F0, F1), 0{32}(R0)
		MOVD $0, R14
	block:`, columns/2)
}

// columnsStep adds up a block of R5 steps. Load loads 4 bytes of each row to V20; there is a dword of
// activations for each of their shifts.
func columnsStep(p *neon.Program, columns int, load string) {
	p.Asm(`
		%d* VLD1R.P 4(R4), [V0{}.S4]
		MOVD R5, R15
	step:`, columns)
	p.Asm(load)
	for shift := 0; shift < 8; shift += 2 {
		if columns == 4 {
			p.Asm("FMOVQ.P 16(R4), F24")
		} else {
			p.Asm("%d* FLDPQ.P 32(R4), (F24{2}, F25{2})", columns/8)
		}
		from := 20
		if shift > 0 {
			p.Asm("VUSHR $%d, V20.B16, V21.B16", shift)
			from = 21
		}
		if shift < 6 {
			p.Asm("VAND V31.B16, V%d.B16, V21.B16", from)
		}
		p.Asm(`
			%d* {
				4* sdot v0{1,4}.4s, v21.16b, v24{0,1}.4b[0{}]
			}`, columns/4)
	}
	p.Asm(`
		SUBS $1, R15, R15
		BNE step`)
}

// columnsTerms adds the terms of a block to the results. R16 is the number of the activation scale.
func columnsTerms(p *neon.Program, columns int) {
	p.Asm(`
		LSR R13, R14, R16
		%d* {
			FLDPQ 0{32}(R0), (F24, F25)
			2* {
				MOVD 0{8,16}(R12), R15
				FMOVS (R15)(R16<<2), F21
				scvtf v0{1,2}.4s, v0{1,2}.4s
				fmul v21.4s, v30.4s, v21.s[0]
				fmul v0{1,2}.4s, v21.4s, v0{1,2}.4s
				fadd v24{}.4s, v24{}.4s, v0{1,2}.4s
			}
			FSTPQ (F24, F25), 0{32}(R0)
		}`, columns/2)
}

// blocksBatchNEON multiplies 4 rows of blocks in the file's layout.
func blocksBatchNEON(p *neon.Program, columns int) {
	p.Func(fmt.Sprintf("twoBitBatch%dNEONDot", columns))
	p.Asm(`
		args dst=R0 w=R8 stride=R2 blocks=R3 dwords=R5 scaleAt=R6 weights=R7 q=R4 scales=R12 scaleShift=R13
		3* ADD R2, R8{}, R9{}`)
	startColumns(p, columns)
	p.Asm(`
		CBNZ R7, tensor
		4* {
			ADD R8{}, R6, R15
			VLD1 (R15), V30.H[0{}]
		}
		fcvtl v30.4s, v30.4h
		B start
	tensor:
		FMOVQ (R7), F30
	start:`)
	columnsStep(p, columns, `
		FMOVS.P 4(R8), F20
		3* VLD1.P 4(R9{}), V20.S[1{}]`)
	columnsTerms(p, columns)
	p.Asm(`
		// Two bytes of the block are left: its scale, or the next one's.
		4* ADD $2, R8{}
		ADD $1, R14
		CMP R3, R14
		BNE block
		RET`)
}

// ternaryPairsNEON multiplies 4 rows with 2, 4 or 8 columns. SMMLA multiplies 2 rows × 8 with 8 × 2 columns;
// lane 2i+c of its result is row i, column c. A tile's sums, from V0, are pairs of registers, rows 0
// and 1, rows 2 and 3, for each pair of columns.
func ternaryPairsNEON(p *neon.Program, columns int) {
	pairs := columns / 2
	p.Func(fmt.Sprintf("ternaryBatch%dNEONI8MM", columns))
	p.Asm(`
		args dst=R0 w=R8 stride=R2 steps=R3 tail=R5 q=R4 scales=R6
		VMOVI $3, V30.B16
		3* ADD R2, R8{}, R9{}`)
	p.Clear(0, columns)
	p.Asm(`
	next:
		SUBS $1, R3, R3
		BLT last
	step:
		4* FMOVQ.P 16(R8{}), F16{}
		4* PRFM 2048(R8{}), PLDL1KEEP
		// 8 bytes of two rows each: V20, V21 the first, V22, V23 the second.
		2* {
			VZIP1{} V17.D2, V16.D2, V20{2}.D2
			VZIP1{} V19.D2, V18.D2, V21{2}.D2
		}`)
	for from := 20; from < 24; from += 2 {
		for shift := 0; shift < 8; shift += 2 {
			pairsStep(p, from, shift, pairs)
		}
	}
	p.Asm(`
		B next
	last:
		// The rows' last bytes, padded, are 16 apart.
		CBZ R5, end
		MOVD R5, R8
		3* ADD $16{16}, R8, R9{}
		MOVD $0, R5
		MOVD $0, R3
		B step
	end:
		// V28: a sum begins at 0, and 0 + -0 is 0.
		VEOR V28.B16, V28.B16, V28.B16
		args sums=R7
		%[1]d* {
			FMOVQ.P 16(R7), F26
			FMOVD.P 8(R6), F27
			VDUP V27.D[0], V27.D2
			2* VADD V26.S4, V0{1,2}.S4, V0{1,2}.S4
			2* scvtf v0{1,2}.4s, v0{1,2}.4s
			2* fmul v0{1,2}.4s, v27.4s, v0{1,2}.4s
			2* fadd v0{1,2}.4s, v0{1,2}.4s, v28.4s
		}`, pairs)
	p.PairsToColumns(0, pairs)
	p.Asm("RET")
}

// pairsStep multiplies 8 bytes of four rows, two in V(from) and two in the next, at a shift.
func pairsStep(p *neon.Program, from, shift, pairs int) {
	if pairs == 1 {
		p.Asm("FMOVQ.P 16(R4), F26")
	} else {
		p.Asm("%d* FLDPQ.P 32(R4), (F26{2}, F27{2})", pairs/2)
	}
	if shift > 0 {
		p.Asm("2* VUSHR $%d, V%d{}.B16, V24{}.B16", shift, from)
		from = 24
	}
	if shift < 6 {
		p.Asm("2* VAND V30.B16, V%d{}.B16, V24{}.B16", from)
	}
	p.Asm(`
		%d* {
			2* smmla v0{1,2}.4s, v24{}.16b, v26{0,1}.16b
		}`, pairs)
}
