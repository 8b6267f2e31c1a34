package twobit

import "onebit/kernels/_asm/neon"

// GenerateNEON writes the kernels of the 2-bit formats for arm64: 4 rows at a time, 16 bytes of codes
// (64 columns) of each in a step, and those of the layout codes64.
func GenerateNEON(p *neon.Program) {
	for _, dot := range []bool{true, false} {
		ternaryRowsNEON(p, dot)
		blocksNEON(p, dot)
		codes64NEON(p, dot)
	}
	for _, columns := range []int{16, 8, 4} {
		blocksBatchNEON(p, columns)
		codes64BatchNEON(p, columns)
	}
	for _, columns := range []int{2, 4, 8} {
		ternaryPairsNEON(p, columns)
	}
	arrangeNEON(p)
}

// multiply adds the products of codes in four registers and a vector of activations to sums: in 32
// bits with dot products, in 16 without.
func multiply(p *neon.Program, dot bool, sums, codes, q int) {
	if dot {
		p.Asm("4* sdot v%d{}.4s, v%d{}.16b, v%d.16b", sums, codes, q)
		return
	}
	p.Asm(`
		4* smlal v%[1]d{}.8h, v%[2]d{}.8b, v%[3]d.8b
		4* smlal2 v%[1]d{}.8h, v%[2]d{}.16b, v%[3]d.16b`, sums, codes, q)
}

// shiftDown makes the codes at a shift of V(from) to V(from+3) those of V(to) on. V28 is a mask of two bits.
func shiftDown(p *neon.Program, from, to, shift int) {
	switch shift {
	case 0:
		p.Asm("4* VAND V28.B16, V%d{}.B16, V%d{}.B16", from, to)
	case 6:
		p.Asm("4* VUSHR $6, V%d{}.B16, V%d{}.B16", from, to)
	default:
		p.Asm(`
			4* VUSHR $%[3]d, V%[1]d{}.B16, V%[2]d{}.B16
			4* VAND V28.B16, V%[2]d{}.B16, V%[2]d{}.B16`, from, to, shift)
	}
}

// ternaryRowsNEON leaves codes where they are in their byte, in V0-V3 at shifts 0 and 6, V4-V7 at 2,
// V8-V11 at 4. At shift 6 a code of 2 would be a negative byte, so those are shifted down. Without dot
// products, sums are in 16 bits: after 4 steps the last are at most 4·2·(2<<4)·127 = 32512, and go to
// 32 bits in V12-V15.
func ternaryRowsNEON(p *neon.Program, dot bool) {
	codes, lanes, next := 12, "4s", "B next"
	if !dot {
		codes, lanes, next = 24, "8h", "SUBS $1, R14, R14\nBNE next"
	}
	p.Func("ternaryRows" + neon.ISA(dot))
	p.Asm(`
		args dst=R0 w=R1 stride=R2 rows=R3 rowBytes=R4 q=R5 sums=R6 runs=R7
		VMOVI $0x03, V28.B16
		VMOVI $0x0c, V29.B16
		VMOVI $0x30, V30.B16
		// V31: Σq of the column.
		VEOR V31.B16, V31.B16, V31.B16
	sum:
		FMOVQ.P 16(R6), F26
		VADD V26.S4, V31.S4, V31.S4
		SUBS $4, R7, R7
		BNE sum
		addv s31, v31.4s
		VDUP V31.S[0], V31.S4
	tile:`)
	p.FourRows(3)
	p.Asm(`
		MOVD R5, R12
		MOVD R4, R13`)
	if !dot {
		p.Asm("MOVD $4, R14")
		p.Clear(12, 4)
	}
	p.Clear(0, 12)
	p.Asm(`
	next:
		SUBS $16, R13, R13
		BLT last
		4* FMOVQ.P 16(R8{}), F20{}
		4* PRFM 4096(R8{}), PLDL1KEEP
	step:
		FLDPQ.P 32(R12), (F16, F17)
		FLDPQ.P 32(R12), (F18, F19)`)
	for i := range 3 {
		p.Asm("4* VAND V%d.B16, V20{}.B16, V%d{}.B16", 28+i, codes)
		multiply(p, dot, 4*i, codes, 16+i)
	}
	shiftDown(p, 20, codes, 6)
	multiply(p, dot, 0, codes, 19)
	p.Asm(next)
	down := func() {
		p.Asm(`
			4* ssra v0{}.%[1]s, v4{}.%[1]s, #2
			4* ssra v0{}.%[1]s, v8{}.%[1]s, #4`, lanes)
	}
	if !dot {
		p.Asm("flush:")
		down()
		p.Asm("4* sadalp v12{}.4s, v0{}.8h")
		p.Clear(0, 12)
		p.Asm(`
			MOVD $4, R14
			CMP $-16, R13
			BNE next
			B finish`)
	}
	p.Asm(`
	last:
		// 0, 4, 8 or 12 bytes are left; zeros follow them.
		ADDS $16, R13, R13
		BEQ end
		CMP $8, R13
		BLT four
		4* FMOVD (R8{}), F20{}
		BEQ half
		4* ADD $8, R8{}
		4* VLD1 (R8{}), V20{}.S[2]
	half:
		MOVD $0, R13
		B step
	four:
		4* FMOVS (R8{}), F20{}
		MOVD $0, R13
		B step
	end:`)
	sums := 0
	if dot {
		down()
	} else {
		sums = 12
		p.Asm(`
			MOVD $-16, R13
			B flush
		finish:`)
	}
	p.AddFour(sums)
	p.Asm(`
		VSUB V31.S4, V%[1]d.S4, V0.S4
		scvtf v0.4s, v0.4s
		FMOVS scale(FP), F24
		fmul v0.4s, v0.4s, v24.s[0]
		// A sum begins at 0, and 0 + -0 is 0.
		VEOR V1.B16, V1.B16, V1.B16
		fadd v0.4s, v0.4s, v1.4s`, sums)
	p.StoreFour(0, 3)
}

// blocksNEON shifts codes down, for blocks are too short for codes left in place: one sum per row, V0-V3,
// takes all four shifts. 16 bits hold 10 steps of 8·3·127 = 3048; a block has at most 4.
func blocksNEON(p *neon.Program, dot bool) {
	p.Func("twoBitBlocks" + neon.ISA(dot))
	p.Asm(`
		args dst=R0 w=R1 stride=R2 rows=R3 blocks=R4 steps=R5 scaleAt=R6 q=R7 sums=R12 scales=R13 scaleShift=R14
		VMOVI $0x03, V28.B16
	tile:`)
	p.FourRows(3)
	p.Asm(`
		MOVD R7, R15
		MOVD R12, R19
		MOVD $0, R20
		VEOR V31.B16, V31.B16, V31.B16
	block:
		// V30: the rows' fp16 scales.
		4* {
			ADD R8{}, R6, R22
			VLD1 (R22), V30.H[0{}]
		}`)
	p.Clear(0, 4)
	p.Asm(`
		MOVD R5, R21
		MOVD $0, R22
	step:
		4* FMOVQ.P 16(R8{}), F20{}
		FLDPQ.P 32(R15), (F16, F17)
		FLDPQ.P 32(R15), (F18, F19)
		4* PRFM 4096(R8{}), PLDL1KEEP
		LDPSW.P 8(R19), (R23, R24)
		ADD R23, R22
		ADD R24, R22`)
	for i := range 4 {
		shiftDown(p, 20, 24, 2*i)
		multiply(p, dot, 0, 24, 16+i)
	}
	p.Asm(`
		SUBS $1, R21, R21
		BNE step
		// Two bytes of the block are left: its scale, or the next one's.
		4* ADD $2, R8{}
		LSR R14, R20, R21
		ADD R21<<2, R13, R21
		FMOVS (R21), F29`)
	if !dot {
		p.Asm("4* saddlp v0{}.4s, v0{}.8h")
	}
	p.AddFour(0)
	p.Asm(`
		VDUP R22, V1.S4
		fcvtl v30.4s, v30.4h
		VSUB V1.S4, V0.S4, V0.S4
		fmul v30.4s, v30.4s, v29.s[0]
		scvtf v0.4s, v0.4s
		fmul v0.4s, v30.4s, v0.4s
		fadd v31.4s, v31.4s, v0.4s
		ADD $1, R20
		CMP R4, R20
		BNE block`)
	p.StoreFour(31, 3)
}

func arrangeNEON(p *neon.Program) {
	p.Func("arrangeBytesNEON")
	p.Asm(`
		args dst=R0 q=R1 steps=R2
	step:
		VLD4.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
		VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
		SUBS $1, R2, R2
		BNE step
		RET`)
	p.Func("arrangeColumnsNEONDot")
	p.Asm(`
		args dst=R0 q0=R1 q1=R2 q2=R3 q3=R4 groups=R5 step=R6
		// V16: the columns' sums, V17: ones.
		VEOR V16.B16, V16.B16, V16.B16
		VMOVI $1, V17.B16
		LSL $2, R6, R7
		ADD R6, R0, R8
	group:
		MOVD $4, R9
	shift:
		4* FMOVQ.P 16(R1{}), F0{}
		2* {
			VTRN1 V1{2}.S4, V0{2}.S4, V4{2}.S4
			VTRN2 V1{2}.S4, V0{2}.S4, V5{2}.S4
		}
		2* {
			VTRN1{} V6.D2, V4.D2, V0{2}.D2
			VTRN1{} V7.D2, V5.D2, V1{2}.D2
		}
		MOVD R8, R10
		4* {
			FMOVQ F0{}, (R10)
			ADD R7, R10
			sdot v16.4s, v0{}.16b, v17.16b
		}
		ADD R6, R8
		SUBS $1, R9, R9
		BNE shift
		// 4 of the 16 steps of a group have been passed.
		ADD R7<<1, R8
		ADD R7, R8
		SUBS $1, R5, R5
		BNE group
		neg v16.4s, v16.4s
		FMOVQ F16, (R0)
		RET`)
}
