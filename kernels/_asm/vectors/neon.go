package vectors

import "onebit/kernels/_asm/neon"

// GenerateNEON writes the vector operations of models/engine/cpu for arm64: the same float operations on each
// element in the same order as in Go, eight elements at a time.
func GenerateNEON(p *neon.Program) {
	loop(p, "addSIMD", "x=R0 y=R1 n=R2", "", 2, `
		FLDPQ (R0), (F0, F1)
		FLDPQ (R1), (F2, F3)
		2* fadd v0{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F0, F1), (R0)`)
	sums(p)
	loop(p, "scaleSIMD", "dst=R0 x=R1 gain=R2 n=R3 scale=F4", "", 3, `
		FLDPQ (R1), (F0, F1)
		FLDPQ (R2), (F2, F3)
		2* fmul v0{}.4s, v0{}.4s, v4.s[0]
		2* fmul v0{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "relu2SIMD", "gate=R0 up=R1 n=R2", "VEOR V4.B16, V4.B16, V4.B16", 2, `
		FLDPQ (R0), (F0, F1)
		FLDPQ (R1), (F2, F3)
		2* fmax v0{}.4s, v0{}.4s, v4.4s
		2* fmul v0{}.4s, v0{}.4s, v0{}.4s
		2* fmul v0{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "siluSIMD", "gate=R0 up=R1 n=R2", expConstants, 2, `
		FLDPQ (R0), (F30, F31)
		2* fneg v0{}.4s, v30{}.4s`+exp+`
		2* fadd v0{}.4s, v0{}.4s, v28.4s
		2* fdiv v0{}.4s, v30{}.4s, v0{}.4s
		FLDPQ (R1), (F2, F3)
		2* fmul v0{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "turnSIMD", "a=R0 b=R1 cos=R2 sin=R3 n=R4", "", 4, `
		4* FLDPQ (R0{}), (F0{2}, F1{2})
		2* {
			fmul v16{}.4s, v0{}.4s, v4{}.4s
			fmul v18{}.4s, v2{}.4s, v6{}.4s
			fsub v16{}.4s, v16{}.4s, v18{}.4s
			fmul v20{}.4s, v0{}.4s, v6{}.4s
			fmul v22{}.4s, v2{}.4s, v4{}.4s
			fadd v20{}.4s, v20{}.4s, v22{}.4s
		}
		FSTPQ (F16, F17), (R0)
		FSTPQ (F20, F21), (R1)`)
	loop(p, "addProductSIMD", "dst=R0 x=R1 y=R2 n=R3", "", 3, `
		FLDPQ (R1), (F0, F1)
		FLDPQ (R2), (F2, F3)
		FLDPQ (R0), (F4, F5)
		2* fmul v0{}.4s, v0{}.4s, v2{}.4s
		2* fadd v4{}.4s, v4{}.4s, v0{}.4s
		FSTPQ (F4, F5), (R0)`)
	halves(p)
	hadamard(p)
	deltaRule(p)
}

// loop writes a function whose body goes through R0 and the pointers behind it, of eight float32 each; the register
// behind those has how many numbers there are.
func loop(p *neon.Program, name, args, start string, pointers int, body string) {
	p.Func(name)
	p.Asm("args " + args + "\n" + start + "\nnext:\n" + body)
	p.Asm(`
		%[1]d* ADD $32, R0{}, R0{}
		SUBS $8, R%[1]d, R%[1]d
		BNE next
		RET`, pointers)
}

// expConstants loads those of exp: from V16 on -87, 88, log2 e, magic, ln2Hi, ln2Lo, 1/5040, 1/720, 1/120, 1/24, 1/6, 1/2
// and 1.
var expConstants = neon.Splat(16, 0xc2ae0000, 0x42b00000, 0x3fb8aa3b, 0x4b400000, 0x3f317000, 0x3805fdf4, 0x39500d01, 0x3ab60b61,
	0x3c088889, 0x3d2aaaab, 0x3e2aaaab, 0x3f000000, 0x3f800000)

// exp replaces V0 and V1 by their exponentials. V2 and V3 hold shifted, V4 and V5 first n and then the sum.
const exp = `
	2* fmax v0{}.4s, v0{}.4s, v16.4s
	2* fmin v0{}.4s, v0{}.4s, v17.4s
	2* fmul v2{}.4s, v0{}.4s, v18.4s
	2* fadd v2{}.4s, v2{}.4s, v19.4s
	2* fsub v4{}.4s, v2{}.4s, v19.4s
	2* {
		2* fmul v6{}.4s, v4{}.4s, v20{0,1}.4s
		2* fsub v0{}.4s, v0{}.4s, v6{}.4s
	}
	2* fmul v4{}.4s, v0{}.4s, v22.4s
	5* {
		2* fadd v4{}.4s, v4{}.4s, v23{0,1}.4s
		2* fmul v4{}.4s, v4{}.4s, v0{}.4s
	}
	2* fadd v4{}.4s, v4{}.4s, v28.4s
	2* fmul v4{}.4s, v4{}.4s, v0{}.4s
	2* fadd v4{}.4s, v4{}.4s, v28.4s
	2* shl v2{}.4s, v2{}.4s, #23
	2* add v2{}.4s, v2{}.4s, v28.4s
	2* fmul v0{}.4s, v4{}.4s, v2{}.4s`

func sums(p *neon.Program) {
	p.Func("squaresSIMD")
	p.Asm(`
		args sum=R0 x=R1 n=R2
		2* FLDPQ 0{32}(R0), (F4{2}, F5{2})
	next:
		FLDPQ (R1), (F0, F1)
		2* {
			fcvtl v16{2}.2d, v0{}.2s
			fcvtl2 v17{2}.2d, v0{}.4s
		}
		4* fmul v16{}.2d, v16{}.2d, v16{}.2d
		4* fadd v4{}.2d, v4{}.2d, v16{}.2d
		ADD $32, R1, R1
		SUBS $8, R2, R2
		BNE next
		2* FSTPQ (F4{2}, F5{2}), 0{32}(R0)
		RET`)
	p.Func("expSIMD")
	p.Asm(`
		args sum=R0 x=R1 n=R2 top=F30 scale=F31
		VDUP V30.S[0], V30.S4` + expConstants + `
		2* FLDPQ 0{32}(R0), (F8{2}, F9{2})
	next:
		FLDPQ (R1), (F0, F1)
		2* fsub v0{}.4s, v0{}.4s, v30.4s
		2* fmul v0{}.4s, v0{}.4s, v31.s[0]` + exp + `
		FSTPQ (F0, F1), (R1)
		2* {
			fcvtl v2{2}.2d, v0{}.2s
			fcvtl2 v3{2}.2d, v0{}.4s
		}
		4* fadd v8{}.2d, v8{}.2d, v2{}.2d
		ADD $32, R1, R1
		SUBS $8, R2, R2
		BNE next
		2* FSTPQ (F8{2}, F9{2}), 0{32}(R0)
		RET`)
	// FMAXNM returns the number if one is NaN.
	p.Func("maxSIMD")
	p.Asm(`
		args x=R0 n=R1
		MOVW $0xff800000, R2 // -Inf
		VDUP R2, V2.S4
	next:
		FLDPQ (R0), (F0, F1)
		fmaxnm v0.4s, v0.4s, v1.4s
		fmaxnm v2.4s, v2.4s, v0.4s
		ADD $32, R0, R0
		SUBS $8, R1, R1
		BNE next
		fmaxnmv s0, v2.4s
		FMOVS F0, ret(FP)
		RET`)
}

func halves(p *neon.Program) {
	p.Func("encodeF16SIMD")
	p.Asm(`
		args dst=R0 src=R1 n=R2
	next:
		FLDPQ (R1), (F0, F1)
		fcvtn v0.4h, v0.4s
		fcvtn2 v0.8h, v1.4s
		FMOVQ F0, (R0)
		ADD $16, R0, R0
		ADD $32, R1, R1
		SUBS $8, R2, R2
		BNE next
		RET`)
	p.Func("decodeF16SIMD")
	p.Asm(`
		args dst=R0 src=R1 n=R2
	next:
		FMOVQ (R1), F0
		fcvtl v1.4s, v0.4h
		fcvtl2 v2.4s, v0.8h
		FSTPQ (F1, F2), (R0)
		ADD $32, R0, R0
		ADD $16, R1, R1
		SUBS $8, R2, R2
		BNE next
		RET`)
}

// hadamard takes two registers through the steps of values 1, 2 and 4 apart, then pairs of two through those further
// apart. V5 and V6 change the signs of lanes that are the second of values 1 and 2 apart.
func hadamard(p *neon.Program) {
	p.Func("hadamardSIMD")
	p.Asm(`
		args x=R0 n=R1 by=F7
		MOVD $0x8000000000000000, R2
		VDUP R2, V5.D2
		MOVD $0x8000000080000000, R2
		VEOR V6.B16, V6.B16, V6.B16
		VMOV R2, V6.D[1]
		LSL $2, R1, R1
		ADD R0, R1, R3
		MOVD R0, R4
	within:
		FLDPQ (R4), (F0, F1)
		2* VREV64 V0{}.S4, V2{}.S4
		2* VEOR V5.B16, V0{}.B16, V0{}.B16
		2* fadd v0{}.4s, v2{}.4s, v0{}.4s
		2* VEXT $8, V0{}.B16, V0{}.B16, V2{}.B16
		2* VEOR V6.B16, V0{}.B16, V0{}.B16
		2* fadd v0{}.4s, v2{}.4s, v0{}.4s
		fadd v2.4s, v0.4s, v1.4s
		fsub v3.4s, v0.4s, v1.4s
		FSTPQ (F2, F3), (R4)
		ADD $32, R4, R4
		CMP R3, R4
		BLT within
		MOVD $32, R5
	step:
		CMP R1, R5
		BGE scale
		MOVD R0, R4
	pair:
		ADD R5, R4, R6
		MOVD R6, R7
	turn:
		FLDPQ (R4), (F0, F1)
		FLDPQ (R6), (F2, F3)
		2* fadd v16{}.4s, v0{}.4s, v2{}.4s
		2* fsub v18{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F16, F17), (R4)
		FSTPQ (F18, F19), (R6)
		ADD $32, R4, R4
		ADD $32, R6, R6
		CMP R7, R4
		BLT turn
		MOVD R6, R4
		CMP R3, R4
		BLT pair
		LSL $1, R5, R5
		B step
	scale:
		FLDPQ (R0), (F0, F1)
		2* fmul v0{}.4s, v0{}.4s, v7.s[0]
		FSTPQ (F0, F1), (R0)
		ADD $32, R0, R0
		CMP R3, R0
		BLT scale
		RET`)
}

// deltaRule is for a matrix of 32 columns.
func deltaRule(p *neon.Program) {
	p.Func("deltaRuleSIMD")
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
