package quantize

import "onebit/kernels/_asm/neon"

// GenerateNEON writes the quantization of activations for arm64.
func GenerateNEON(p *neon.Program) {
	// The sign bit is shifted out and the result shifted back: bits compare as integers.
	p.Func("maxAbsBitsNEON")
	p.Asm("args x=R0 runs=R1")
	p.Clear(16, 4)
	p.Asm(`
	run:
		4* FLDPQ.P 32(R0), (F0{2}, F1{2})
		8* VSHL $1, V0{}.S4, V0{}.S4
		4* umax v16{}.4s, v16{}.4s, v0{}.4s
		4* umax v16{}.4s, v16{}.4s, v4{}.4s
		SUBS $1, R1, R1
		BNE run
		2* umax v16{2}.4s, v16{2}.4s, v17{2}.4s
		umax v16.4s, v16.4s, v18.4s
		umaxv s16, v16.4s
		FMOVS F16, R0
		LSRW $1, R0, R0
		MOVW R0, ret(FP)
		RET`)
	// FCVTNS rounds to the nearest integer, ties to even, a NaN to 0; what is too large saturates, here
	// and in the two narrowings. -128 is left to clamp.
	p.Func("quantizeRunsNEON")
	p.Asm(`
		args q=R0 sums=R1 x=R2 runs=R3 mul=F31
		movi v30.16b, #129
	run:
		4* FLDPQ.P 32(R2), (F0{2}, F1{2})
		8* fmul v0{}.4s, v0{}.4s, v31.s[0]
		8* fcvtns v0{}.4s, v0{}.4s
		4* sqxtn v16{}.4h, v0{2}.4s
		4* sqxtn2 v16{}.8h, v1{2}.4s
		2* sqxtn v20{}.8b, v16{2}.8h
		2* sqxtn2 v20{}.16b, v17{2}.8h
		2* smax v20{}.16b, v20{}.16b, v30.16b
		FSTPQ.P (F20, F21), 32(R0)
		saddlp v22.8h, v20.16b
		sadalp v22.8h, v21.16b
		saddlv s22, v22.8h
		FMOVS.P F22, 4(R1)
		SUBS $1, R3, R3
		BNE run
		RET`)
}
