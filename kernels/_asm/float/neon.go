package float

import "onebit/kernels/_asm/neon"

// GenerateNEON writes the products of float formats for arm64, 2 rows at a time and 32 columns of each in a step.
// Lane k mod 32 of a row is lane k%4 of V0 to V7, of the second row of V8 to V15. R7 and R8 are the rows, R9 and
// R10 those of the next tile, which are prefetched.
func GenerateNEON(p *neon.Program) {
	rowsNEON(p, "f32", 4, "")
	rowsNEON(p, "f16", 2, `
		2* fcvtl v26{2}.4s, v24{}.4h
		2* fcvtl2 v27{2}.4s, v24{}.8h`)
	rowsNEON(p, "bf16", 2, `
		2* shll v26{2}.4s, v24{}.4h, #16
		2* shll2 v27{2}.4s, v24{}.8h, #16`)
}

// rowsNEON is for weights of some bytes, of which widen makes V26 to V29 of 16 in V24 and V25.
func rowsNEON(p *neon.Program, format string, bytes int, widen string) {
	p.Func(format + "RowsNEON")
	p.Asm(`
		args dst=R0 w=R1 stride=R2 x=R3 blocks=R4 tiles=R5
	tile:
		MOVD R1, R7
		3* ADD R2, R7{}, R8{}
		MOVD R3, R11
		MOVD R4, R12`)
	p.Clear(0, 16)
	p.Asm(`
	block:
		4* FLDPQ 0{32}(R11), (F16{2}, F17{2})`)
	for row := range 2 {
		p.Asm("%d* PRFM 0{64}(R%d), PLDL1KEEP", bytes/2, 9+row)
		for half := range 2 {
			at, from := half*16*bytes, 7+row
			if widen == "" {
				p.Asm("2* FLDPQ %d{32}(R%d), (F26{2}, F27{2})", at, from)
			} else {
				p.Asm("FLDPQ %d(R%d), (F24, F25)", at, from)
				p.Asm(widen)
			}
			p.Asm(`
				4* fmul v26{}.4s, v26{}.4s, v%[1]d{}.4s
				4* fadd v%[2]d{}.4s, v%[2]d{}.4s, v26{}.4s`, 16+4*half, 8*row+4*half)
		}
	}
	p.Asm(`
		4* ADD $%d, R7{}, R7{}
		ADD $128, R11, R11
		SUBS $1, R12, R12
		BNE block
		2* {
			4* fadd v0{1,8}.4s, v0{1,8}.4s, v4{1,8}.4s
			2* fadd v0{1,8}.4s, v0{1,8}.4s, v2{1,8}.4s
			fadd v0{8}.4s, v0{8}.4s, v1{8}.4s
			VEXT $8, V0{8}.B16, V0{8}.B16, V16.B16
			fadd v0{8}.4s, v0{8}.4s, v16.4s
			faddp s0{8}, v0{8}.2s
		}
		FMOVS F0, (R0)
		FMOVS F8, 4(R0)
		ADD R2<<1, R1, R1
		ADD $8, R0, R0
		SUBS $1, R5, R5
		BNE tile
		RET`, 32*bytes)
}
