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

// GenerateNibblesNEON writes the products of formats with codes of 4 bits for arm64, 8 rows at a time: V0 has the
// results of rows 0 to 3, V1 those of rows 4 to 7.
func GenerateNibblesNEON(p *neon.Program) {
	nibblesNEON(p, true)
	nibblesNEON(p, false)
}

func nibblesNEON(p *neon.Program, dot bool) {
	p.Func("nibbles" + neon.ISA(dot))
	// V2 and V3 are the scales of a group, V4 and V5 its offsets, V26 to V29 what they are times in a block.
	p.Asm(`
		args dst=R0 w=R1 q=R2 sums=R3 scales=R4 shift=R5 groups=R6 tiles=R7 inBlocks=R11
		VMOVI $15, V31.B16
	tile:
		2* VEOR V0{}.B16, V0{}.B16, V0{}.B16
		MOVD R2, R8
		MOVD $0, R9
	group:
		3* PRFM 2048{64}(R1), PLDL1KEEP
		FLDPQ.P 32(R8), (F6, F7)
		CBNZ R11, inBlock
		FMOVQ.P 16(R1), F2
		fcvtl2 v3.4s, v2.8h
		fcvtl v2.4s, v2.4h
		B scaled
	inBlock:
		TST $7, R9
		BNE within
		FLDPQ.P 32(R1), (F26, F28)
		2* fcvtl2 v27{2}.4s, v26{2}.8h
		2* fcvtl v26{2}.4s, v26{2}.4h
	within:
		2* FMOVD.P 8(R1), F2{2}
		2* sshll v2{2}.8h, v2{2}.8b, #0
		2* sshll2 v3{2}.4s, v2{2}.8h, #0
		2* sshll v2{2}.4s, v2{2}.4h, #0
		4* scvtf v2{}.4s, v2{}.4s
		4* fmul v2{}.4s, v2{}.4s, v26{}.4s
	scaled:`)
	p.Clear(20, 2)
	if !dot {
		p.Clear(12, 4) // sums of two rows each, as int16: 4·2·15·127 = 15,240 at most
	}
	for i := range 4 {
		p.Asm(`
			FLDPQ.P 32(R1), (F16, F17)
			2* VAND V31.B16, V16{}.B16, V18{}.B16
			2* VUSHR $4, V16{}.B16, V16{}.B16`)
		if dot {
			p.Asm(`
				2* sdot v20{}.4s, v18{}.16b, v6.4b[%[1]d]
				2* sdot v20{}.4s, v16{}.16b, v7.4b[%[1]d]`, i)
			continue
		}
		p.Asm(`
			2* VDUP V6{}.S[%d], V24{}.S4
			2* smlal v12{2}.8h, v18{}.8b, v24.8b
			2* smlal2 v13{2}.8h, v18{}.16b, v24.16b
			2* smlal v12{2}.8h, v16{}.8b, v25.8b
			2* smlal2 v13{2}.8h, v16{}.16b, v25.16b`, i)
	}
	if !dot {
		p.Asm(`
			4* saddlp v12{}.4s, v12{}.8h
			2* addp v20{}.4s, v12{2}.4s, v13{2}.4s`)
	}
	// V22 is Σq, V23 the activations' scale.
	p.Asm(`
		FMOVS (R3)(R9<<2), F22
		VDUP V22.S[0], V22.S4
		LSR R5, R9, R10
		FMOVS (R4)(R10<<2), F23
		2* fmul v2{}.4s, v2{}.4s, v23.s[0]
		CBNZ R11, less
		VSHL $3, V22.S4, V22.S4
		2* VSUB V22.S4, V20{}.S4, V20{}.S4
		2* scvtf v20{}.4s, v20{}.4s
		2* fmul v20{}.4s, v20{}.4s, v2{}.4s
		B add
	less:
		3* scvtf v20{}.4s, v20{}.4s
		2* fmul v20{}.4s, v20{}.4s, v2{}.4s
		2* fmul v4{}.4s, v4{}.4s, v23.s[0]
		2* fmul v4{}.4s, v4{}.4s, v22.s[0]
		2* fsub v20{}.4s, v20{}.4s, v4{}.4s
	add:
		2* fadd v0{}.4s, v0{}.4s, v20{}.4s
		ADD $1, R9, R9
		CMP R6, R9
		BNE group
		FSTPQ.P (F0, F1), 32(R0)
		SUBS $1, R7, R7
		BNE tile
		RET`)
}
