package q1

import (
	"fmt"

	"onebit/kernels/_asm/neon"
)

// GenerateNEON writes the kernels of q1_0_g128 for arm64. In all of them V24 to V31 hold the bytes 1<<0 to 1<<7,
// and CMTST makes a byte -1 where a weight's bit is set, 0 elsewhere. With dot products, SDOT then adds -q of
// the set bits; without, AND keeps their q and SADALP adds neighbours to 16-bit lanes: at most 64 in a block, 8128.
//
// Sums are set = Σ_{bit=1} q; the product is 2·set - Σq. Under q8_32 that of each 32 columns is multiplied
// with its share: see quantize.Span.
func GenerateNEON(p *neon.Program) {
	for _, dot := range []bool{true, false} {
		bitplanesNEON(p, dot, 128)
		bitplanesNEON(p, dot, 32)
		rowsNEON(p, dot, 128)
		rowsNEON(p, dot, 32)
	}
	for _, columns := range []int{2, 4, 8} {
		pairsNEON(p, columns)
	}
	arrangeNEON(p)
}

func bitMasks(p *neon.Program) {
	for bit := range 8 {
		p.Asm("VMOVI $%d, V%d.B16", 1<<bit, 24+bit)
	}
}

// doubled makes set sums in n registers from V0, added up, products: V(sum) is Σq.
func doubled(p *neon.Program, dot bool, n, sum int) {
	p.Asm("%d* VADD V0{}.S4, V0{}.S4, V0{}.S4", n)
	if dot { // of the other sign
		p.Asm(`
			neg v%[2]d.4s, v%[2]d.4s
			%[1]d* VSUB V0{}.S4, V%[2]d.S4, V0{}.S4`, n, sum)
		return
	}
	p.Asm("%[1]d* VSUB V%[2]d.S4, V0{}.S4, V0{}.S4", n, sum)
}

// bitplanesNEON multiplies tiles of 16 rows, of which a vector is four registers of 4 rows. Results are V20 to V23,
// under q8_32 in the frame, at R14: then V20 to V23 are the sums of the block.
func bitplanesNEON(p *neon.Program, dot bool, span int) {
	frame := 0
	if span == 32 {
		frame = 64
	}
	p.Framed(fmt.Sprintf("q1Bitplanes%d%s", span, neon.ISA(dot)), frame)
	p.Asm("args dst=R0 data=R1 q=R2 scales=R3 scaleStep=R4 sums=R5 blocks=R6 rows=R7")
	bitMasks(p)
	p.Asm(`
	tile:
		MOVD R2, R8
		MOVD R3, R9
		MOVD R5, R10
		MOVD R6, R11`)
	p.Clear(20, 4)
	sums := 4
	if dot {
		sums = 8
	}
	if span == 32 {
		p.Asm(`
			MOVD $y-64(SP), R14
			FSTPQ (F20, F21), (R14)
			FSTPQ (F22, F23), 32(R14)
		block:`)
		p.Clear(20, 4)
		p.Asm("ADD $256, R1, R13")
	} else {
		p.Asm("block:")
		p.Clear(0, sums)
	}
	p.Asm(`
		MOVD $4, R12
	vector:`)
	if span == 32 {
		p.Clear(0, sums)
	}
	vectorNEON(p, dot)
	if span == 32 {
		bitplanesTerm32(p, dot)
	} else {
		bitplanesTerm128(p, dot)
	}
	p.Asm(`
		SUBS $1, R11, R11
		BNE block
		// Stores the rows that there are.
		MOVD $4, R12
	store:
		CMP $4, R7
		BLT few
		FMOVQ.P F20, 16(R0)
		SUB $4, R7, R7
		CBZ R7, done
		3* VMOV V21{}.B16, V20{}.B16
		SUBS $1, R12, R12
		BNE store
		B tile`)
	p.StoreFew(20, 7)
	p.Asm(`
	done:
		RET`)
}

// vectorNEON adds the set bits of 32 columns, with dot products those of odd ones to V4 to V7.
func vectorNEON(p *neon.Program, dot bool) {
	p.Asm(`
		FLDPQ.P 32(R8), (F16, F17)
		FLDPQ.P 32(R1), (F12, F13)
		FLDPQ.P 32(R1), (F14, F15)
		PRFM 4096(R1), PLDL1KEEP`)
	for bit := range 8 {
		q, element := 16+bit/4, bit%4
		if !dot {
			p.Asm("VDUP V%d.S[%d], V18.S4", q, element)
		}
		p.Asm("4* VCMTST V%d.B16, V12{}.B16, V8{}.B16", 24+bit)
		if dot {
			p.Asm("4* sdot v%d{}.4s, v8{}.16b, v%d.4b[%d]", bit%2*4, q, element)
			continue
		}
		p.Asm(`
			4* VAND V18.B16, V8{}.B16, V8{}.B16
			4* sadalp v0{}.8h, v8{}.16b`)
	}
}

// sumPlanes makes V0 to V3 the sums in 32 bits.
func sumPlanes(p *neon.Program, dot bool) {
	if dot {
		p.Asm("4* VADD V4{}.S4, V0{}.S4, V0{}.S4")
		return
	}
	p.Asm("4* saddlp v0{}.4s, v0{}.8h")
}

// weightScales makes V16 to V19 16 fp16 scales in V12 and V13, times V9.
func weightScales(p *neon.Program) {
	p.Asm(`
		2* {
			fcvtl v16{2}.4s, v12{}.4h
			fcvtl2 v17{2}.4s, v12{}.8h
		}
		4* fmul v16{}.4s, v16{}.4s, v9.s[0]`)
}

func bitplanesTerm128(p *neon.Program, dot bool) {
	p.Asm(`
		SUBS $1, R12, R12
		BNE vector
		FMOVQ.P 16(R10), F8
		FMOVS (R9), F9
		ADD R4, R9
		FLDPQ.P 32(R1), (F12, F13)`)
	weightScales(p)
	p.Asm(`
		addv s8, v8.4s
		VDUP V8.S[0], V8.S4`)
	sumPlanes(p, dot)
	doubled(p, dot, 4, 8)
	p.Asm(`
		4* scvtf v0{}.4s, v0{}.4s
		4* fmul v0{}.4s, v16{}.4s, v0{}.4s
		4* fadd v20{}.4s, v20{}.4s, v0{}.4s`)
}

func bitplanesTerm32(p *neon.Program, dot bool) {
	p.Asm(`
		VLD1R.P 4(R10), [V8.S4]
		FMOVS.P 4(R9), F9`)
	sumPlanes(p, dot)
	doubled(p, dot, 4, 8)
	p.Asm(`
		4* mla v20{}.4s, v0{}.4s, v9.s[0]
		SUBS $1, R12, R12
		BNE vector
		// The unit of the span.
		FMOVS.P 16(R9), F9
		FLDPQ (R13), (F12, F13)`)
	weightScales(p)
	p.Asm(`
		FLDPQ (R14), (F0, F1)
		FLDPQ 32(R14), (F2, F3)
		4* scvtf v20{}.4s, v20{}.4s
		4* fmul v20{}.4s, v16{}.4s, v20{}.4s
		4* fadd v20{}.4s, v0{}.4s, v20{}.4s
		FSTPQ (F20, F21), (R14)
		FSTPQ (F22, F23), 32(R14)
		ADD $32, R1`)
}

// rowsNEON multiplies the file's rows, four at a time: V16 to V19 are 128 bits of a row each, V22 the rows' fp16
// scales, V23 the results.
func rowsNEON(p *neon.Program, dot bool, span int) {
	p.Func(fmt.Sprintf("q1Rows%d%s", span, neon.ISA(dot)))
	p.Asm("args dst=R0 w=R1 stride=R2 blocks=R3 rows=R7 q=R4 scales=R5 scaleStep=R6 sums=R19")
	bitMasks(p)
	p.Asm("tile:")
	p.FourRows(7)
	p.Asm(`
		MOVD R4, R12
		MOVD R5, R13
		MOVD R19, R14
		MOVD R3, R15
		VEOR V23.B16, V23.B16, V23.B16
	block:
		4* FMOVQ 2(R8{}), F16{}
		4* VLD1 (R8{}), V22.H[0{}]
		4* ADD $18, R8{}
		4* PRFM 4096(R8{}), PLDL1KEEP`)
	if dot {
		p.Clear(0, 8)
	} else {
		p.Clear(0, 4)
	}
	for bit := range 8 {
		if bit%2 == 0 {
			p.Asm("FLDPQ.P 32(R12), (F12, F13)")
		}
		p.Asm("4* VCMTST V%d.B16, V16{}.B16, V8{}.B16", 24+bit)
		if dot {
			p.Asm("4* sdot v%d{}.4s, v8{}.16b, v%d.16b", bit%2*4, 12+bit%2)
			continue
		}
		p.Asm(`
			4* VAND V%d.B16, V8{}.B16, V8{}.B16
			4* sadalp v0{}.8h, v8{}.16b`, 12+bit%2)
	}
	p.Asm("fcvtl v22.4s, v22.4h")
	sumPlanes(p, dot)
	p.Asm("FMOVQ.P 16(R14), F12")
	if span == 32 { // lane i of V0 to V3: the sum of 32 columns, of share i
		p.Asm("FMOVQ.P 16(R13), F13")
		doubled(p, dot, 4, 12)
		p.Asm(`
			4* mul v0{}.4s, v0{}.4s, v13.4s
			FMOVS.P 16(R13), F13`)
		p.AddFour(0)
	} else {
		p.Asm(`
			FMOVS (R13), F13
			ADD R6, R13
			addv s12, v12.4s
			VDUP V12.S[0], V12.S4`)
		p.AddFour(0)
		doubled(p, dot, 1, 12)
	}
	p.Asm(`
		fmul v22.4s, v22.4s, v13.s[0]
		scvtf v0.4s, v0.4s
		fmul v0.4s, v22.4s, v0.4s
		fadd v23.4s, v23.4s, v0.4s
		SUBS $1, R15, R15
		BNE block`)
	p.StoreFour(23, 7)
}

// pairsNEON multiplies 4 rows with 2, 4 or 8 columns. SMMLA multiplies 2 rows × 8 with 8 × 2 columns; lane 2i+c of
// its result is row i, column c. A tile's sums, less than 0 where a bit is set, are pairs of registers, rows 0 and
// 1, rows 2 and 3, for each pair of columns from V0; the results begin with V8.
func pairsNEON(p *neon.Program, columns int) {
	pairs := columns / 2
	p.Func(fmt.Sprintf("q1Batch%dNEONI8MM", columns))
	p.Asm("args dst=R0 data=R8 weightScales=R9 blocks=R3 q=R4 scales=R5 columnStep=R6 blockStep=R7")
	bitMasks(p)
	p.Clear(8, columns)
	p.Asm("block:")
	p.Clear(0, columns)
	p.Asm(`
		MOVD $2, R12
	half:
		// 4 bytes of one vector and of the next: V16 of two rows, V17 of two more.
		FMOVQ (R8), F18
		FMOVQ 64(R8), F19
		PRFM 4096(R8), PLDL1KEEP
		PRFM 4160(R8), PLDL1KEEP
		ADD $128, R8
		VZIP1 V19.S4, V18.S4, V16.S4
		VZIP2 V19.S4, V18.S4, V17.S4`)
	for bit := range 8 {
		if pairs == 1 {
			p.Asm("FMOVQ.P 16(R4), F20")
		} else {
			p.Asm("%d* FLDPQ.P 32(R4), (F20{2}, F21{2})", pairs/2)
		}
		p.Asm(`
			2* VCMTST V%[1]d.B16, V16{}.B16, V18{}.B16
			%[2]d* {
				2* smmla v0{1,2}.4s, v18{}.16b, v20{0,1}.16b
			}`, 24+bit, pairs)
	}
	p.Asm(`
		SUBS $1, R12, R12
		BNE half
		// V18, V19: the rows' weight scales, twice each.
		FMOVD (R9), F16
		ADD $32, R8
		ADD $288, R9
		fcvtl v16.4s, v16.4h
		VZIP1 V16.S4, V16.S4, V18.S4
		VZIP2 V16.S4, V16.S4, V19.S4
		MOVD R5, R12
		%d* {
			// V20: -Σq of two columns, twice; V21: their scales.
			FMOVQ.P 16(R4), F20
			FMOVS (R12), F21
			ADD R6, R12
			VLD1 (R12), V21.S[1]
			ADD R6, R12
			VDUP V21.D[0], V21.D2
			2* VADD V0{1,2}.S4, V0{1,2}.S4, V0{1,2}.S4
			2* fmul v22{}.4s, v18{}.4s, v21.4s
			2* VSUB V0{1,2}.S4, V20.S4, V0{1,2}.S4
			2* scvtf v0{1,2}.4s, v0{1,2}.4s
			2* fmul v0{1,2}.4s, v22{}.4s, v0{1,2}.4s
			2* fadd v8{1,2}.4s, v8{1,2}.4s, v0{1,2}.4s
		}
		ADD R7, R5
		SUBS $1, R3, R3
		BNE block`, pairs)
	p.PairsToColumns(8, pairs)
	p.Asm("RET")
}

func arrangeNEON(p *neon.Program) {
	p.Func("arrangeQ1RowsNEON")
	p.Asm(`
		args dst=R0 q=R1 blocks=R2
	block:
		VLD4.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
		VLD4.P 64(R1), [V4.B16, V5.B16, V6.B16, V7.B16]
		4* VUZP1 V4{}.B16, V0{}.B16, V16{}.B16
		4* VUZP2 V4{}.B16, V0{}.B16, V20{}.B16
		4* FSTPQ.P (F16{2}, F17{2}), 32(R0)
		SUBS $1, R2, R2
		BNE block
		RET`)
	p.Func("arrangeDwordsNEON")
	p.Asm(`
		args dst=R0 q=R1 blocks=R2
	block:
		4* FLDPQ.P 32(R1), (F0{}, F4{})
		2* {
			2* {
				VTRN1 V1{2,4}.S4, V0{2,4}.S4, V16{2}.S4
				VTRN2 V1{2,4}.S4, V0{2,4}.S4, V17{2}.S4
			}
			VTRN1 V18.D2, V16.D2, V20.D2
			VTRN1 V19.D2, V17.D2, V21.D2
			VTRN2 V18.D2, V16.D2, V22.D2
			VTRN2 V19.D2, V17.D2, V23.D2
			FSTPQ.P (F20, F21), 32(R0)
			FSTPQ.P (F22, F23), 32(R0)
		}
		SUBS $1, R2, R2
		BNE block
		RET`)
}
