package q8

import "onebit/kernels/_asm/neon"

// GenerateQ8_0NEON writes the products of q8_0 for arm64, 8 rows at a time, a block of each in a step. Terms are added
// in the order of the blocks, so rows lie in the lanes: V0 has rows 0 to 3, V1 rows 4 to 7. R8 to R15 are the
// rows, R16, R17, R19 and R20 every other row of the next tile, which are prefetched.
func GenerateQ8_0NEON(p *neon.Program) {
	q8RowsNEON(p, "q8RowsNEONDot", `
		VEOR V16{}.B16, V16{}.B16, V16{}.B16
		sdot v16{}.4s, v6.16b, v2.16b
		sdot v16{}.4s, v7.16b, v3.16b`)
	// Two products of int8 fit int16: 2·128·127 = 32,512.
	q8RowsNEON(p, "q8RowsNEON", `
		smull v20.8h, v6.8b, v2.8b
		smlal2 v20.8h, v6.16b, v2.16b
		smull v21.8h, v7.8b, v3.8b
		smlal2 v21.8h, v7.16b, v3.16b
		saddlp v16{}.4s, v20.8h
		sadalp v16{}.4s, v21.8h`)
}

// q8RowsNEON is for a product of V6 and V7 with V2 and V3.
func q8RowsNEON(p *neon.Program, name, product string) {
	p.Func(name)
	p.Asm(`
		args dst=R0 w=R1 stride=R2 q=R3 scales=R4 shift=R5 blocks=R6 tiles=R7
	tile:
		MOVD R1, R8
		8* ADD R2, R8{}, R9{}
		ADD R2<<1, R16, R17
		ADD R2<<1, R17, R19
		ADD R2<<1, R19, R20
		MOVD R3, R21
		MOVD $0, R22
		2* VEOR V0{}.B16, V0{}.B16, V0{}.B16
	block:
		FLDPQ (R21), (F2, F3)
		ADD $32, R21, R21
		LSR R5, R22, R23
		FMOVS (R4)(R23<<2), F4
		2* {
			2* PRFM 0{64}(R16{0,3}), PLDL1KEEP
			2* PRFM 0{64}(R17{0,3}), PLDL1KEEP
		}`)
	for four := range 2 {
		// The sums in V16 to V19, the scales in V5.
		p.Asm(`
			4* {
				VLD1 (R%[1]d{}), V5.H[0{}]
				FMOVQ 2(R%[1]d{}), F6
				FMOVQ 18(R%[1]d{}), F7
				%[2]s
				ADD $34, R%[1]d{}, R%[1]d{}
			}`, 8+4*four, product)
		p.AddFour(16)
		p.Asm(`
			scvtf v16.4s, v16.4s
			fcvtl v5.4s, v5.4h
			fmul v5.4s, v5.4s, v4.s[0]
			fmul v5.4s, v5.4s, v16.4s
			fadd v%[1]d.4s, v%[1]d.4s, v5.4s`, four)
	}
	p.Asm(`
		2* {
			ADD $68, R16{3}, R16{3}
			ADD $68, R17{3}, R17{3}
		}
		ADD $1, R22, R22
		CMP R6, R22
		BNE block
		FSTPQ (F0, F1), (R0)
		ADD $32, R0, R0
		ADD R2<<3, R1, R1
		SUBS $1, R7, R7
		BNE tile
		RET`)
}

// GenerateQ6_KNEON writes the products of q6_k for arm64, a row at a time; a tile is a row. Six bits less 32 times q,
// two of them added, stay within 2·32·127 = 8128. V0 to V7 are the sums of the groups of a block, F31 that of the
// row: the chain of 8 additions is shorter than it takes to decode a block.
func GenerateQ6_KNEON(p *neon.Program) {
	q6RowsNEON(p, false)
	q6RowsNEON(p, true)
}

func q6RowsNEON(p *neon.Program, dot bool) {
	p.Func("q6Rows" + neon.ISA(dot))
	p.Asm(`
		args dst=R0 w=R1 stride=R2 q=R3 scales=R4 blocks=R5 tiles=R6
		VMOVI $0x0f, V28.B16
		VMOVI $0x30, V29.B16
		VMOVI $32, V30.B16
	row:
		MOVD R1, R8
		MOVD R3, R9
		MOVD R4, R10
		MOVD R5, R11
		VEOR V31.B16, V31.B16, V31.B16
	block:
		4* PRFM 4096{64}(R8), PLDL1KEEP
		// V14, V15: the 16 int8 scales as int16; with dot products V8 to V11, as int32.
		FMOVQ 192(R8), F22
		sshll v14.8h, v22.8b, #0
		sshll2 v15.8h, v22.16b, #0`)
	if dot {
		p.Asm(`
			2* sshll v8{2}.4s, v14{}.4h, #0
			2* sshll2 v9{2}.4s, v14{}.8h, #0`)
	}
	for group := range 8 {
		if half := group / 4; group%4 == 0 {
			p.Asm(`
				2* FLDPQ %d{32}(R8), (F16{2}, F17{2})
				FLDPQ %d(R8), (F20, F21)`, 64*half, 128+32*half)
		}
		p.Asm("FLDPQ %d(R9), (F22, F23)", 32*group)
		for part := range 2 {
			q6Codes(p, group%4, part)
			q6Product(p, dot, group, part)
		}
	}
	p.AddFour(0)
	p.AddFour(4)
	p.Asm(`
		scvtf v0.4s, v0.4s
		scvtf v4.4s, v4.4s
		MOVHU 208(R8), R12
		FMOVS R12, F12
		FCVTHS F12, F12
		FLDPQ (R10), (F16, F17)
		2* fmul v16{}.4s, v16{}.4s, v12.s[0]
		2* fmul v0{4}.4s, v0{4}.4s, v16{}.4s
		2* {
			FADDS F0{4}, F31, F31
			3* {
				VDUP V0{0,4}.S[1{}], V1.S4
				FADDS F1, F31, F31
			}
		}
		ADD $210, R8, R8
		ADD $256, R9, R9
		ADD $32, R10, R10
		SUBS $1, R11, R11
		BNE block
		FMOVS F31, (R0)
		ADD $4, R0, R0
		ADD R2, R1, R1
		SUBS $1, R6, R6
		BNE row
		RET`)
}

// q6Codes makes V24 16 codes of a group of four: their low bits are in V16 to V19, the high ones in V20 and V21.
func q6Codes(p *neon.Program, group, part int) {
	low, high := 16+group%2*2+part, 20+part
	if group < 2 {
		p.Asm("VAND V28.B16, V%d.B16, V24.B16", low)
	} else {
		p.Asm("VUSHR $4, V%d.B16, V24.B16", low)
	}
	shifted := 25
	switch group {
	case 0, 1:
		p.Asm("VSHL $%d, V%d.B16, V25.B16", 4-2*group, high)
	case 2:
		shifted = high
	case 3:
		p.Asm("VUSHR $2, V%d.B16, V25.B16", high)
	}
	p.Asm(`
		VAND V29.B16, V%d.B16, V25.B16
		VORR V25.B16, V24.B16, V24.B16
		VSUB V30.B16, V24.B16, V24.B16`, shifted)
}

// q6Product adds the products of 16 codes to those of their group, or begins it.
func q6Product(p *neon.Program, dot bool, group, part int) {
	scale, q := 2*group+part, 22+part
	if dot { // which adds up four columns before they are multiplied by their scale
		op := []string{"mul", "mla"}[part]
		p.Asm(`
			VEOR V25.B16, V25.B16, V25.B16
			sdot v25.4s, v24.16b, v%d.16b
			%s v%d.4s, v25.4s, v%d.s[%d]`, q, op, group, 8+scale/4, scale%4)
		return
	}
	op := []string{"smull", "smlal"}[part]
	p.Asm(`
		smull v25.8h, v24.8b, v%[1]d.8b
		smlal2 v25.8h, v24.16b, v%[1]d.16b
		%[2]s v%[3]d.4s, v25.4h, v%[4]d.h[%[5]d]
		smlal2 v%[3]d.4s, v25.8h, v%[4]d.h[%[5]d]`, q, op, group, 14+scale/8, scale%8)
}
