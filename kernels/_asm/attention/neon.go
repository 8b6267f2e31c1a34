package attention

import (
	"fmt"

	"onebit/kernels/_asm/neon"
)

// GenerateNEON writes attention for arm64, as attention_amd64.s specifies it.
func GenerateNEON(p *neon.Program) {
	for _, queries := range []int{4, 2, 1} {
		scoresNEON(p, queries)
		weightedNEON(p, queries)
		addValuesNEON(p, queries)
	}
	scoresQ8NEON(p, false, 1)
	scoresQ8NEON(p, true, 2)
	scoresQ8NEON(p, true, 1)
	blendNEON(p)
	unpackNEON(p)
	softenNEON(p)
	roundCodesNEON(p)
	greatestNEON(p)
}

// scoresNEON multiplies queries with the keys of 16 · tiles positions. A position's 16 are in V16 to V19, 8 from R2
// and 8 from R20; sums of a query are four registers from V0.
func scoresNEON(p *neon.Program, queries int) {
	p.Func(fmt.Sprintf("scores%dx16NEON", queries))
	p.Asm(`
		args dst=R0 keys=R2 tiles=R4 ahead=R5 step=R25
	tile:
		args q=R7 width=R3
		LSL $5, R3, R20
		ADD R20, R2, R20
		MOVD R0, R12
		LSL $2, R3, R11
		%[1]d* {
			ADD R11, R7{}, R8{}
			ADD $512, R12{}, R13{}
		}
		VEOR V16.B16, V16.B16, V16.B16
		%[2]d* {
			FSTPQ (F16, F16), (R12{})
			FSTPQ (F16, F16), 32(R12{})
		}
	chunk:`, queries-1, queries)
	p.Clear(0, 4*queries)
	p.Asm(`
		CBZ R5, fetched
		8* PRFM 0{64}(R5), PLDL1KEEP
		ADD R25, R5, R5
	fetched:
		4* {
			%[1]d* FMOVQ.P 16(R7{}), F20{}
			4* {
				FLDPQ 0{32,128}(R2), (F16, F17)
				FLDPQ 0{32,128}(R20), (F18, F19)
				%[1]d* {
					4* fmla v0{1,4}.4s, v16{}.4s, v20{0,1}.s[0{0,0,1}]
				}
			}
		}
		ADD $512, R2, R2
		ADD $512, R20, R20
		%[1]d* {
			FLDPQ (R12{}), (F16, F17)
			FLDPQ 32(R12{}), (F18, F19)
			4* fadd v16{}.4s, v16{}.4s, v0{1,4}.4s
			FSTPQ (F16, F17), (R12{})
			FSTPQ (F18, F19), 32(R12{})
		}
		SUBS $16, R3, R3
		BNE chunk
		ADD $64, R0, R0
		MOVD R20, R2
		SUBS $1, R4, R4
		BNE tile
		RET`, queries)
}

// weightedNEON adds up 16 · tiles columns of rows.
func weightedNEON(p *neon.Program, rows int) {
	p.Func(fmt.Sprintf("weighted%dx16NEON", rows))
	p.Asm(`
		args dst=R0 weights=R1 values=R2 width=R4
		LSL $2, R4, R4
		args tiles=R5 ahead=R6 step=R25
	tile:
		MOVD R0, R7
		%[2]d* ADD R4, R7{}, R8{}
		%[1]d* {
			FLDPQ (R7{}), (F0{4}, F1{4})
			FLDPQ 32(R7{}), (F2{4}, F3{4})
		}
		MOVD R1, R12
		MOVD R2, R13
		args positions=R14
	position:
		CBZ R6, fetched
		PRFM (R6), PLDL1KEEP
		ADD R25, R6, R6
	fetched:
		FLDPQ (R13), (F16, F17)
		FLDPQ 32(R13), (F18, F19)
		%[1]d* FMOVS 0{512}(R12), F20{}
		%[1]d* {
			4* fmla v0{1,4}.4s, v16{}.4s, v20{0,1}.s[0]
		}
		ADD $4, R12, R12
		ADD R4, R13, R13
		SUBS $1, R14, R14
		BNE position
		%[1]d* {
			FSTPQ (F0{4}, F1{4}), (R7{})
			FSTPQ (F2{4}, F3{4}), 32(R7{})
		}
		ADD $64, R0, R0
		ADD $64, R2, R2
		SUBS $1, R5, R5
		BNE tile
		RET`, rows, rows-1)
}

func blendNEON(p *neon.Program) {
	p.Func("blendNEON")
	p.Asm(`
		args dst=R0 x=R1 n=R2 by=F4
	next:
		FLDPQ (R0), (F0, F1)
		FLDPQ (R1), (F2, F3)
		2* fmla v2{}.4s, v0{}.4s, v4.s[0]
		FSTPQ (F2, F3), (R0)
		ADD $32, R0, R0
		ADD $32, R1, R1
		SUBS $8, R2, R2
		BNE next
		RET`)
}

// scoresQ8NEON multiplies queries with the keys of 16 · tiles positions, blocks of int8. Without dot products, which
// are for one query, sums of pairs add up by SADALP.
func scoresQ8NEON(p *neon.Program, dot bool, queries int) {
	p.Func(fmt.Sprintf("scoresQ8x%dx16%s", queries, neon.ISA(dot)))
	p.Asm(`
		args dst=R0 keys=R2 blocks=R3 tiles=R4 ahead=R21 step=R25
		MOVD $272, R19
		MUL R3, R19, R19
		MOVD $40, R5
		MUL R3, R5, R5
	tile:
		ADD R19, R2, R20
		args q=R7
		MOVD R3, R6
		%d* ADD R5, R7{}, R8{}`, queries-1)
	p.Clear(0, 4*queries)
	p.Asm(`
	block:
		9* PRFM 0{64}(R21), PLDL2KEEP
		ADD R25, R21, R21
		FMOVQ.P 16(R2), F28
		FMOVQ.P 16(R20), F29
		2* {
			fcvtl v24{2}.4s, v28{}.4h
			fcvtl2 v25{2}.4s, v28{}.8h
		}
		%d* FLDPQ (R7{}), (F20{2}, F21{2})`, queries)
	sums := 4 * queries
	if !dot {
		sums = 8
	}
	p.Clear(8, sums)
	for i := range 8 {
		p.Asm(`
			FLDPQ %[1]d(R2), (F16, F17)
			FLDPQ %[1]d(R20), (F18, F19)`, 32*i)
		if dot {
			p.Asm(`
				%d* {
					4* sdot v8{1,4}.4s, v16{}.16b, v%d{0,2}.4b[%d]
				}`, queries, 20+i/4, i%4)
			continue
		}
		p.Asm(`
			dup v28.4s, v%d.s[%d]
			4* {
				smull v29.8h, v16{}.8b, v28.8b
				smull2 v30.8h, v16{}.16b, v28.16b
				sadalp v8{2}.4s, v29.8h
				sadalp v9{2}.4s, v30.8h
			}`, 20+i/4, i%4)
	}
	if !dot {
		p.Asm("4* addp v8{}.4s, v8{2}.4s, v9{2}.4s")
	}
	p.Asm(`
		%[1]d* {
			FMOVS 32(R7{}), F30
			4* {
				scvtf v8{1,4}.4s, v8{1,4}.4s
				fmul v31.4s, v24{}.4s, v30.s[0]
				fmla v0{1,4}.4s, v8{1,4}.4s, v31.4s
			}
			ADD $40, R7{}, R7{}
		}
		ADD $256, R2, R2
		ADD $256, R20, R20
		SUBS $1, R6, R6
		BNE block
		%[1]d* {
			FSTPQ (F0{4}, F1{4}), 0{512}(R0)
			FSTPQ (F2{4}, F3{4}), 32{512}(R0)
		}
		ADD $64, R0, R0
		MOVD R20, R2
		SUBS $1, R4, R4
		BNE tile
		RET`, queries)
}

// unpack64 makes 64 bytes of codes of four bits the int8 of the low ones at R0 and of the high ones at an address.
func unpack64(p *neon.Program, high int) {
	p.Asm(`
		VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
		4* {
			VAND V30.B16, V0{}.B16, V4{}.B16
			VUSHR $4, V0{}.B16, V0{}.B16
		}
		8* VSUB V31.B16, V0{}.B16, V0{}.B16
		VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R0)
		VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R%d)`, high)
}

func unpackNEON(p *neon.Program) {
	p.Func("unpackQ4NEON") // blocks of 8 positions side by side
	p.Asm(`
		args dst=R0 src=R1 blocks=R2
		VMOVI $15, V30.B16
		VMOVI $8, V31.B16
	block:
		FMOVQ.P 16(R1), F0
		FMOVQ.P F0, 16(R0)
		ADD $128, R0, R3`)
	unpack64(p, 3)
	unpack64(p, 3)
	p.Asm(`
		MOVD R3, R0
		SUBS $1, R2, R2
		BNE block
		RET`)
	p.Func("unpackPairsNEON") // the codes of 4 · quads positions
	p.Asm(`
		args dst=R0 src=R1 width=R2 quads=R3
		LSL $1, R2, R2
		VMOVI $15, V30.B16
		VMOVI $8, V31.B16
	quad:
		MOVD R2, R4
		ADD R2, R0, R5
	next:`)
	unpack64(p, 5)
	p.Asm(`
		SUBS $64, R4, R4
		BNE next
		MOVD R5, R0
		SUBS $1, R3, R3
		BNE quad
		RET`)
}

// softenNEON is for scores of whole tiles.
func softenNEON(p *neon.Program) {
	p.Func("softenNEON")
	p.Asm("args scores=R0 tops=R1 sums=R2 rows=R3 scale=F31")
	// -125, magic, terms 4 to 1, 1 and -Inf.
	p.Asm(neon.Splat(16, 0xc2fa0000, 0x4b400000, 0x3c1d0178, 0x3d64fe2e, 0x3e7601bc, 0x3f317096, 0x3f800000, 0xff800000))
	p.Asm(`
	row:
		MOVD R0, R4
		MOVD $8, R5
		VMOV V23.B16, V24.B16
	most:
		FLDPQ (R4), (F0, F1)
		FLDPQ 32(R4), (F2, F3)
		2* fmaxnm v0{2}.4s, v0{2}.4s, v1{2}.4s
		fmaxnm v0.4s, v0.4s, v2.4s
		fmaxnm v24.4s, v24.4s, v0.4s
		ADD $64, R4, R4
		SUBS $1, R5, R5
		BNE most
		fmaxnmv s30, v24.4s
		FMOVS.P F30, 4(R1)
		VDUP V30.S[0], V30.S4`)
	p.Clear(26, 4)
	p.Asm(`
		MOVD $8, R5
	weights:
		FLDPQ (R0), (F0, F1)
		FLDPQ 32(R0), (F2, F3)
		4* fsub v0{}.4s, v0{}.4s, v30.4s
		4* fmul v0{}.4s, v0{}.4s, v31.s[0]
		2* {
			2* fcmgt v4{}.4s, v16.4s, v0{1,2}.4s
			2* fadd v6{}.4s, v0{1,2}.4s, v17.4s
			2* fsub v8{}.4s, v6{}.4s, v17.4s
			2* fsub v0{1,2}.4s, v0{1,2}.4s, v8{}.4s
			2* mov v10{}.16b, v19.16b
			2* fmla v10{}.4s, v18.4s, v0{1,2}.4s
			2* mov v12{}.16b, v20.16b
			2* fmla v12{}.4s, v10{}.4s, v0{1,2}.4s
			2* mov v10{}.16b, v21.16b
			2* fmla v10{}.4s, v12{}.4s, v0{1,2}.4s
			2* mov v12{}.16b, v22.16b
			2* fmla v12{}.4s, v10{}.4s, v0{1,2}.4s
			2* shl v6{}.4s, v6{}.4s, #23
			2* add v6{}.4s, v6{}.4s, v22.4s
			2* fmul v0{1,2}.4s, v12{}.4s, v6{}.4s
			2* bic v0{1,2}.16b, v0{1,2}.16b, v4{}.16b
		}
		4* fadd v26{}.4s, v26{}.4s, v0{}.4s
		FSTPQ (F0, F1), (R0)
		FSTPQ (F2, F3), 32(R0)
		ADD $64, R0, R0
		SUBS $1, R5, R5
		BNE weights
		2* fadd v26{}.4s, v26{}.4s, v28{}.4s
		fadd v26.4s, v26.4s, v27.4s
		ext v27.16b, v26.16b, v26.16b, #8
		fadd v26.4s, v26.4s, v27.4s
		faddp s26, v26.2s
		FMOVS.P F26, 4(R2)
		SUBS $1, R3, R3
		BNE row
		RET`)
}

// roundCodesNEON rounds weights of a tile times scales.
func roundCodesNEON(p *neon.Program) {
	p.Func("roundCodesNEON")
	p.Asm(`
		args dst=R0 scales=R2 factors=R3 blocks=R5 stride=R6
		LSL $2, R6, R6
	block:
		args weights=R1 rows=R4
		MOVD R3, R7
	row:
		FMOVS (R7), F20
		ADD R6, R7, R7
		MOVD R2, R8
		MOVD $8, R9
	sixteen:
		2* {
			FLDPQ (R1{7}), (F0{4}, F1{4})
			FLDPQ 32(R1{7}), (F2{4}, F3{4})
		}
		4* fmul v0{}.4s, v0{}.4s, v4{}.4s
		4* fmul v0{}.4s, v0{}.4s, v20.s[0]
		4* fcvtns v0{}.4s, v0{}.4s
		2* sqxtn v4{}.4h, v0{2}.4s
		2* sqxtn2 v4{}.8h, v1{2}.4s
		FSTPQ (F4, F5), (R0)
		ADD $64, R1, R1
		ADD $64, R8, R8
		ADD $32, R0, R0
		SUBS $1, R9, R9
		BNE sixteen
		SUBS $1, R4, R4
		BNE row
		ADD $512, R2, R2
		ADD $4, R3, R3
		SUBS $1, R5, R5
		BNE block
		RET`)
}

// addValuesNEON takes rows and 16 columns at a time, two parts of a block. Sums of a row are four registers from V8.
func addValuesNEON(p *neon.Program, rows int) {
	p.Func(fmt.Sprintf("addValues%dx16NEON", rows))
	p.Asm(`
		args dst=R0 codes=R1 values=R2 units=R15 blocks=R3
		LSL $7, R3, R4
		LSL $6, R3, R5
		args stride=R10
		LSL $2, R10, R10
		args ahead=R6 step=R25
	block:
		MOVD $2, R14
	part:
		MOVD R1, R12
		MOVD R2, R13
		args eights=R11`)
	p.Clear(8, 4*rows)
	p.Asm(`
	eight:
		3* PRFM 0{64}(R6), PLDL2KEEP
		ADD R25, R6, R6
		%[1]d* FMOVQ 0{256}(R12), F0{}
		ADD $16, R12, R12
		4* {
			ld2 { v24.16b, v25.16b }, [x13], x5
			2* {
				sshll v26{2}.8h, v24{}.8b, #0
				sshll2 v27{2}.8h, v24{}.16b, #0
			}
			2* {
				%[1]d* {
					2* {
						smlal v8{2,4}.4s, v26{1,0,2}.4h, v0{0,1}.h[0{0,0,1,2}]
						smlal2 v9{2,4}.4s, v26{1,0,2}.8h, v0{0,1}.h[0{0,0,1,2}]
					}
				}
			}
		}
		SUBS $1, R11, R11
		BNE eight
		args by=R7 parts=R8
		MOVD R15, R9
		MOVD R0, R11
		%[1]d* {
			FMOVS (R9), F0
			ADD R10, R9, R9
			FMOVS.P 4(R8), F1
			FMULS F1, F0, F0
			FMOVS.P 4(R7), F1
			FLDPQ (R11), (F24, F25)
			FLDPQ 32(R11), (F26, F27)
			4* scvtf v8{1,4}.4s, v8{1,4}.4s
			4* fmul v24{}.4s, v24{}.4s, v1.s[0]
			4* fmla v24{}.4s, v8{1,4}.4s, v0.s[0]
			FSTPQ (F24, F25), (R11)
			FSTPQ (F26, F27), 32(R11)
			ADD R4, R11, R11
		}
		ADD $64, R0, R0
		ADD $32, R2, R2
		SUBS $1, R14, R14
		BNE part
		ADD $%[2]d, R1, R1
		ADD $4, R15, R15
		SUBS $1, R3, R3
		BNE block
		RET`, rows, 256*rows)
}

// greatestNEON is the largest of 128 uint16 without their highest bits.
func greatestNEON(p *neon.Program) {
	p.Func("greatestNEON")
	p.Asm(`
		args halves=R0
		VLD1.P 64(R0), [V0.B16, V1.B16, V2.B16, V3.B16]
		4* bic v0{}.8h, #128, lsl #8
		MOVD $3, R1
	next:
		VLD1.P 64(R0), [V4.B16, V5.B16, V6.B16, V7.B16]
		4* bic v4{}.8h, #128, lsl #8
		4* umax v0{}.8h, v0{}.8h, v4{}.8h
		SUBS $1, R1, R1
		BNE next
		2* umax v0{2}.8h, v0{2}.8h, v1{2}.8h
		umax v0.8h, v0.8h, v2.8h
		umaxv h0, v0.8h
		VMOV V0.H[0], R0
		MOVD R0, ret(FP)
		RET`)
}
