package pack

import "onebit/kernels/_asm/neon"

// GenerateQ1NEON writes the packing of q1_0_g128 in the layout bitplanes: 16 rows, four at a time. The dwords of
// four rows are transposed, then the bits of each exchanged in the four steps of interleaveBits.
func GenerateQ1NEON(p *neon.Program) {
	p.Func("packBitplanesNEON")
	p.Asm(`
		args tile=R0 rows=R1 stride=R2 blocks=R3
		MOVD $0x0000cccc, R4
		VDUP R4, V20.S4
		MOVD $0x00aa00aa, R4
		VDUP R4, V21.S4
		MOVD $0x0c0c0c0c, R4
		VDUP R4, V22.S4
		MOVD $0x22222222, R4
		VDUP R4, V23.S4
	block:
		// R5: the first of four rows, R6: their bits in vector 0, R7: their scales.
		MOVD R1, R5
		MOVD R0, R6
		ADD $256, R0, R7
		MOVD $4, R8
	rows:
		ADD R2, R5, R9
		2* ADD R2, R9{}, R10{}
		FMOVQ 2(R5), F0
		3* FMOVQ 2(R9{}), F1{}
		MOVHU (R5), R12
		3* MOVHU (R9{}), R13{}
		4* MOVH R12{}, 0{2}(R7)
		2* {
			VZIP1 V2{}.S4, V0{}.S4, V16{2}.S4
			VZIP2 V2{}.S4, V0{}.S4, V17{2}.S4
		}
		2* {
			VZIP1 V18{}.S4, V16{}.S4, V4{2}.S4
			VZIP2 V18{}.S4, V16{}.S4, V5{2}.S4
		}`)
	exchange := func(distance, mask int) {
		p.Asm(`
			4* {
				VUSHR $%[1]d, V4{}.S4, V16{}.S4
				VEOR V4{}.B16, V16{}.B16, V16{}.B16
				VAND V%[2]d.B16, V16{}.B16, V16{}.B16
				VEOR V16{}.B16, V4{}.B16, V4{}.B16
				VSHL $%[1]d, V16{}.S4, V16{}.S4
				VEOR V16{}.B16, V4{}.B16, V4{}.B16
			}`, distance, mask)
	}
	exchange(14, 20)
	exchange(7, 21)
	exchange(2, 22)
	exchange(1, 23)
	p.Asm(`
		4* FMOVQ F4{}, 0{64}(R6)
		ADD $16, R6, R6
		ADD $8, R7, R7
		ADD R2, R11, R5
		SUBS $1, R8, R8
		BNE rows
		ADD $18, R1, R1
		ADD $288, R0, R0
		SUBS $1, R3, R3
		BNE block
		RET`)
}

// GeneratePairsNEON writes how two columns become a pair for SMMLA.
func GeneratePairsNEON(p *neon.Program) {
	p.Func("arrangePairNEON")
	p.Asm(`
		args dst=R0 q0=R1 q1=R2 groups=R3 vectors=R4 step=R5
		// V4, V5: the columns' sums.
		2* VEOR V4{}.B16, V4{}.B16, V4{}.B16
		MUL R4, R5, R6
	group:
		MOVD R4, R7
	vector:
		FMOVQ.P 16(R1), F0
		FMOVQ.P 16(R2), F1
		ADD R6, R0, R8
		VZIP1 V1.D2, V0.D2, V2.D2
		VZIP2 V1.D2, V0.D2, V3.D2
		2* saddlp v0{}.8h, v0{}.16b
		FMOVQ F2, (R0)
		FMOVQ F3, (R8)
		2* sadalp v4{}.4s, v0{}.8h
		ADD R5, R0
		SUBS $1, R7, R7
		BNE vector
		ADD R6, R0
		SUBS $1, R3, R3
		BNE group
		VADDP V5.S4, V4.S4, V4.S4
		VADDP V4.S4, V4.S4, V4.S4
		neg v4.4s, v4.4s
		FMOVQ F4, (R0)
		RET`)
}
