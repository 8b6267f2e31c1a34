package delta

import "onebit/kernels/_asm/neon"

// GenerateNEON writes delta_arm64.s.
func GenerateNEON(p *neon.Program) {
	p.Func("deltaRuleNEON")
	p.Asm("args matrix=R0 q=R1 k=R2 v=R3 out=R4 keys=R5 decay=F24 beta=F25")
	p.Clear(0, 8)
	p.Asm(`
		MOVD R0, R6
		MOVD R2, R7
		MOVD R5, R8
	predict:
		FMOVS.P 4(R7), F26
		4* FLDPQ 0{32}(R6), (F16{2}, F17{2})
		8* fmul v16{}.4s, v16{}.4s, v24.s[0]
		4* FSTPQ (F16{2}, F17{2}), 0{32}(R6)
		8* fmul v16{}.4s, v16{}.4s, v26.s[0]
		8* fadd v0{}.4s, v0{}.4s, v16{}.4s
		ADD $128, R6, R6
		SUBS $1, R8, R8
		BNE predict
		4* FLDPQ 0{32}(R3), (F16{2}, F17{2})
		8* fsub v0{}.4s, v16{}.4s, v0{}.4s
		8* fmul v0{}.4s, v0{}.4s, v25.s[0]`)
	p.Clear(8, 8)
	p.Asm(`
	write:
		FMOVS.P 4(R2), F26
		FMOVS.P 4(R1), F27
		2* {
			2* FLDPQ 0{32,64}(R0), (F16{2}, F17{2})
			4* fmul v20{}.4s, v0{1,4}.4s, v26.s[0]
			4* fadd v16{}.4s, v16{}.4s, v20{}.4s
			2* FSTPQ (F16{2}, F17{2}), 0{32,64}(R0)
			4* fmul v16{}.4s, v16{}.4s, v27.s[0]
			4* fadd v8{1,4}.4s, v8{1,4}.4s, v16{}.4s
		}
		ADD $128, R0, R0
		SUBS $1, R5, R5
		BNE write
		4* FSTPQ (F8{2}, F9{2}), 0{32}(R4)
		RET`)
}
