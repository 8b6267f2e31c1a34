package twobit

import "onebit/kernels/_asm/neon"

// GenerateSpansNEON writes the products under q8_32 of the layouts codes64 and codes128: tiles of 64 rows, of
// which every dword is 16 registers of 4 rows.
func GenerateSpansNEON(p *neon.Program) {
	spansNEON(p, true)
	spansNEON(p, false)
}

// spansNEON shifts codes down, so that one sum of each row has a group of 32 columns: V0-V3, or without
// dot products 16 bits in V0-V7, at most 8·3·127 = 3048 a lane. MLA multiplies it with the group's share
// of the scale, V30, and adds it to those of the term, V12-V15. Results are V8-V11, weights' scales V20-V23.
// R11 is 1 in the second half of a span whose halves are terms.
func spansNEON(p *neon.Program, dot bool) {
	p.Func("spans" + neon.ISA(dot))
	p.Asm(`
		args codes=R1 scales=R2 q=R5 spans=R6 blocks=R8 terms=R9 groups=R10 skip=R3 step=R4
		MOVD $0, R11
		VMOVI $0x03, V28.B16
		MOVW scale(FP), R12
		4* VDUP R12, V20{}.S4`)
	p.Clear(8, 4)
	p.Asm(`
	block:
		CBZ R2, scaled
		FLDPQ 0(R2), (F20, F22)
		2* {
			fcvtl2 v21{2}.4s, v20{2}.8h
			fcvtl v20{2}.4s, v20{2}.4h
		}
		ADD R4, R2
	scaled:
		MOVD R9, R13
	term:
		// -Σ share·Σq of the term's groups.
		MOVW 24(R6), R12
		CMP $4, R10
		BEQ whole
		MOVW 28(R6), R14
		SUB R14, R12
		CBNZ R11, begun
		MOVD R14, R12
	whole:
		MOVD R6, R7
	begun:
		4* VDUP R12, V12{}.S4
		MOVD R10, R15
	group:
		VLD1R.P 4(R7), [V30.S4]`)
	if dot {
		groupNEONDot(p)
	} else {
		groupNEON(p)
	}
	p.Asm(`
		SUBS $1, R15, R15
		BNE group
		ADD $16, R6, R14
		VLD1R (R14), [V31.S4]
		4* scvtf v12{}.4s, v12{}.4s
		4* fmul v12{}.4s, v12{}.4s, v31.4s
		4* fmul v12{}.4s, v20{}.4s, v12{}.4s
		4* fadd v8{}.4s, v8{}.4s, v12{}.4s
		// The next span, or the second half of this one.
		CMP $4, R10
		BEQ next
		EOR $1, R11
		CBNZ R11, done
	next:
		ADD $32, R6
	done:
		SUBS $1, R13, R13
		BNE term
		ADD R3, R1
		SUBS $1, R8, R8
		BNE block
		args dst=R0
		FSTPQ (F8, F9), 0(R0)
		FSTPQ (F10, F11), 32(R0)
		RET`)
}

func groupNEONDot(p *neon.Program) {
	p.Asm("FLDPQ.P 32(R5), (F16, F17)")
	p.Clear(0, 4)
	for dword := range 2 {
		p.Asm(`
			FLDPQ %d(R1), (F24, F25)
			FLDPQ %d(R1), (F26, F27)
			PRFM %d(R1), PLDL1KEEP`, 256*dword, 256*dword+32, 256*dword+2048)
		for i := range 4 {
			shiftDown(p, 24, 4, 2*i)
			multiplyLanes(p, true, 0, 4, 16+dword, i)
		}
	}
	p.Asm(`
		4* mla v12{}.4s, v0{}.4s, v30.4s
		ADD $512, R1`)
}

func groupNEON(p *neon.Program) {
	p.Clear(0, 8)
	p.Asm(`
		MOVD $2, R16
	dword:
		FLDPQ 0(R1), (F24, F25)
		FLDPQ 32(R1), (F26, F27)
		PRFM 2048(R1), PLDL1KEEP
		ADD $256, R1`)
	for i := range 4 {
		p.Asm("VLD1R.P 4(R5), [V29.S4]")
		shiftDown(p, 24, 16, 2*i)
		multiplyLanes(p, false, 0, 16, 29, 0)
	}
	p.Asm(`
		SUBS $1, R16, R16
		BNE dword
		8* saddlp v0{}.4s, v0{}.8h
		4* VADDP V1{2}.S4, V0{2}.S4, V0{2}.S4
		4* mla v12{}.4s, v0{2}.4s, v30.4s`)
}
