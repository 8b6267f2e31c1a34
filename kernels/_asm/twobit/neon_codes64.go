package twobit

import (
	"fmt"

	"onebit/kernels/_asm/neon"
)

// The layout codes64 has tiles of 64 rows, of which every dword is 16 registers of 4 rows.

// multiplyLanes is multiply for rows in lanes: four activations meet codes of 4 rows in each register, as
// element element of V(q) with dot products, as all of V(q) without. Sums in 16 bits are of rows 0 and
// 1 in V(sums), of 2 and 3 in the next, and so on.
func multiplyLanes(p *neon.Program, dot bool, sums, codes, q, element int) {
	if dot {
		p.Asm("4* sdot v%d{}.4s, v%d{}.16b, v%d.4b[%d]", sums, codes, q, element)
		return
	}
	p.Asm(`
		4* smlal v%[1]d{2}.8h, v%[3]d{}.8b, v%[4]d.8b
		4* smlal2 v%[2]d{2}.8h, v%[3]d{}.16b, v%[4]d.16b`, sums, sums+1, codes, q)
}

// codes64NEON takes 16 rows at a time. With dot products codes stay where they are in their byte, sums of
// 4 rows each in V0-V3 at shifts 0 and 6, V4-V7 at 2, V8-V11 at 4. Without, they are shifted down; a
// block of at most 16 dwords adds 64·3·127 = 24384. The results of a tile are in the frame.
func codes64NEON(p *neon.Program, dot bool) {
	p.Framed("codes64"+neon.ISA(dot), 256)
	p.Asm(`
		args dst=R0 data=R1 rows=R3
		VMOVI $0x03, V28.B16
		VMOVI $0x0c, V29.B16
		VMOVI $0x30, V30.B16
	tile:
		MOVD $y-256(SP), R4
		VEOR V31.B16, V31.B16, V31.B16
		8* FSTPQ (F31, F31), 0{32}(R4)
		args q=R5 scales=R6 sums=R7 blocks=R8
		MOVD $0, R9
	block:
		// V27: Σq of the block.
		MOVD $0, R10
		args pairs=R13
		MOVD R13, R11
	sum:
		MOVW.P 4(R7), R12
		ADD R12, R10
		SUBS $1, R11, R11
		BNE sum
		VDUP R10, V27.S4
		// V26: the activation scale, of which R9 bytes were stepped over.
		AND $~3, R9, R11
		ADD R6, R11
		FMOVS (R11), F26
		args scaleStep=R11
		ADD R11, R9
		ADD R13<<9, R1, R13
		MOVD $4, R12
	rows:
		// 16 rows: 64 bytes of every dword. The weight scales are at R13.
		MOVD R1, R14
		MOVD R5, R15
		args pairs=R19
		LSL $1, R19`)
	if dot {
		p.Clear(0, 12)
		p.Asm(`
		dword:
			FMOVQ.P 16(R15), F16`)
	} else {
		p.Clear(0, 8)
		p.Asm(`
		dword:
			4* VLD1R.P 4(R15), [V16{}.S4]`)
	}
	p.Asm(`
		FLDPQ 0(R14), (F20, F21)
		FLDPQ 32(R14), (F22, F23)
		PRFM 2048(R14), PLDL1KEEP
		ADD $256, R14`)
	for i := range 4 {
		switch {
		case dot && i < 3:
			p.Asm("4* VAND V%d.B16, V20{}.B16, V12{}.B16", 28+i)
			multiplyLanes(p, dot, 4*i, 12, 16, i)
		case dot:
			shiftDown(p, 20, 12, 6)
			multiplyLanes(p, dot, 0, 12, 16, i)
		default:
			shiftDown(p, 20, 12, 2*i)
			multiplyLanes(p, dot, 0, 12, 16+i, 0)
		}
	}
	p.Asm(`
		SUBS $1, R19, R19
		BNE dword`)
	if dot {
		p.Asm(`
			4* ssra v0{}.4s, v4{}.4s, #2
			4* ssra v0{}.4s, v8{}.4s, #4`)
	} else {
		p.Asm(`
			8* saddlp v0{}.4s, v0{}.8h
			4* VADDP V1{2}.S4, V0{2}.S4, V0{}.S4`)
	}
	p.Asm(`
		FLDPQ.P 32(R13), (F16, F18)
		2* {
			fcvtl2 v17{2}.4s, v16{2}.8h
			fcvtl v16{2}.4s, v16{2}.4h
		}
		4* fmul v16{}.4s, v16{}.4s, v26.s[0]
		4* VSUB V27.S4, V0{}.S4, V0{}.S4
		4* scvtf v0{}.4s, v0{}.4s
		4* fmul v0{}.4s, v16{}.4s, v0{}.4s
		FLDPQ 0(R4), (F20, F21)
		FLDPQ 32(R4), (F22, F23)
		4* fadd v20{}.4s, v20{}.4s, v0{}.4s
		FSTPQ (F20, F21), 0(R4)
		FSTPQ (F22, F23), 32(R4)
		ADD $64, R4
		ADD $64, R1
		SUBS $1, R12, R12
		BNE rows
		// The next block lies behind the scales.
		MOVD R13, R1
		MOVD R15, R5
		SUB $256, R4
		SUBS $1, R8, R8
		BNE block
		CMP $64, R3
		BLT few
		4* {
			FLDPQ 0{64}(R4), (F0, F1)
			FLDPQ 32{64}(R4), (F2, F3)
			FSTPQ.P (F0, F1), 32(R0)
			FSTPQ.P (F2, F3), 32(R0)
		}
		SUBS $64, R3, R3
		BNE tile
		RET
	few:
		FMOVS.P 4(R4), F0
		FMOVS.P F0, 4(R0)
		SUBS $1, R3, R3
		BNE few
		RET`)
}

// codes64BatchNEON multiplies 4 rows of a tile with 4, 8 or 16 columns.
func codes64BatchNEON(p *neon.Program, columns int) {
	p.Func(fmt.Sprintf("codes64Batch%dNEONDot", columns))
	p.Asm("args dst=R0 data=R8 back=R6 blocks=R3 dwords=R5 q=R4 scales=R12 scaleShift=R13")
	startColumns(p, columns)
	p.Asm(`
		ADD R5<<8, R8, R15
		SUB R6, R15
		FMOVD (R15), F30
		fcvtl v30.4s, v30.4h`)
	columnsStep(p, columns, `
		FMOVQ (R8), F20
		PRFM 2048(R8), PLDL1KEEP
		ADD $256, R8`)
	columnsTerms(p, columns)
	p.Asm(`
		ADD $128, R8 // the scales of the tile
		ADD $1, R14
		CMP R3, R14
		BNE block
		RET`)
}
