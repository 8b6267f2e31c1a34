package vectors

import "onebit/kernels/_asm/neon"

// GenerateNEON writes vectors_arm64.s: the same float operations on each number in the same order as in Go, eight
// numbers at a time. Loops that only training runs are left to Go.
func GenerateNEON(p *neon.Program) {
	sumsNEON(p)
	loop(p, "addNEON", "dst=R0 x=R1 n=R2", "", 2, `
		FLDPQ (R0), (F0, F1)
		FLDPQ (R1), (F2, F3)
		2* fadd v0{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "scaleNEON", "dst=R0 x=R1 n=R2 a=F4", "", 2, `
		FLDPQ (R1), (F0, F1)
		2* fmul v0{}.4s, v0{}.4s, v4.s[0]
		FSTPQ (F0, F1), (R0)`)
	loop(p, "mulNEON", "dst=R0 x=R1 y=R2 n=R3", "", 3, `
		FLDPQ (R1), (F0, F1)
		FLDPQ (R2), (F2, F3)
		2* fmul v0{}.4s, v0{}.4s, v2{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "mulAddNEON", "dst=R0 x=R1 y=R2 n=R3", "", 3, `
		FLDPQ (R1), (F0, F1)
		FLDPQ (R2), (F2, F3)
		FLDPQ (R0), (F4, F5)
		2* fmul v0{}.4s, v0{}.4s, v2{}.4s
		2* fadd v4{}.4s, v4{}.4s, v0{}.4s
		FSTPQ (F4, F5), (R0)`)
	loop(p, "siluNEON", "dst=R0 x=R1 n=R2", expConstants, 2, `
		FLDPQ (R1), (F30, F31)
		2* fneg v0{}.4s, v30{}.4s`+exp+`
		2* fadd v0{}.4s, v0{}.4s, v28.4s
		2* fdiv v0{}.4s, v30{}.4s, v0{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "sigmoidNEON", "dst=R0 x=R1 n=R2", expConstants, 2, `
		FLDPQ (R1), (F0, F1)
		2* fneg v0{}.4s, v0{}.4s`+exp+`
		2* fadd v0{}.4s, v0{}.4s, v28.4s
		2* fdiv v0{}.4s, v28.4s, v0{}.4s
		FSTPQ (F0, F1), (R0)`)
	loop(p, "squaredReLUNEON", "dst=R0 x=R1 n=R2", "VEOR V4.B16, V4.B16, V4.B16", 2, `
		FLDPQ (R1), (F0, F1)
		2* fmax v0{}.4s, v0{}.4s, v4.4s
		2* fmul v0{}.4s, v0{}.4s, v0{}.4s
		FSTPQ (F0, F1), (R0)`)
	rotations(p)
	halvesNEON(p)
	hadamardNEON(p)
}

// rotations writes the rotations of pairs that lie in two slices, and in one.
func rotations(p *neon.Program) {
	loop(p, "rotateNEON", "a=R0 b=R1 cos=R2 sin=R3 n=R4", "", 4, `
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
	loop(p, "rotateAdjacentNEON", "x=R0 cos=R1 sin=R2 n=R3", "", 3, `
		ADD $32, R0, R4
		VLD2 (R0), [V0.S4, V1.S4]
		VLD2 (R4), [V2.S4, V3.S4]
		2* FLDPQ (R1{}), (F4{2}, F5{2})
		2* {
			fmul v16{2}.4s, v0{2}.4s, v4{}.4s
			fmul v24.4s, v1{2}.4s, v6{}.4s
			fsub v16{2}.4s, v16{2}.4s, v24.4s
			fmul v17{2}.4s, v0{2}.4s, v6{}.4s
			fmul v24.4s, v1{2}.4s, v4{}.4s
			fadd v17{2}.4s, v17{2}.4s, v24.4s
		}
		VST2 [V16.S4, V17.S4], (R0)
		VST2 [V18.S4, V19.S4], (R4)
		MOVD R4, R0`)
}

// loop writes a function whose body goes through R0 and the pointers behind it, of eight float32 each; the register
// behind those has how many blocks there are.
func loop(p *neon.Program, name, args, start string, pointers int, body string) {
	p.Func(name)
	p.Asm("args " + args + "\n" + start)
	p.Asm("LSL $2, R%[1]d, R%[1]d", pointers)
	p.Asm("next:\n" + body)
	p.Asm(`
		%[1]d* ADD $32, R0{}, R0{}
		SUBS $1, R%[1]d, R%[1]d
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

// sumsNEON has the sums of a dot product in V16 to V31, and those of exponentials where they are in memory.
func sumsNEON(p *neon.Program) {
	p.Func("dotNEON")
	p.Clear(16, 16)
	p.Asm(`
		args sums=R0 x=R1 y=R2 n=R3
	next:
		4* {
			2* FLDPQ 0{0,32}(R1{}), (F0{2}, F1{2})
			4* {
				fcvtl v4{}.2d, v0{}.2s
				fcvtl2 v8{}.2d, v0{}.4s
			}
			2* {
				fmul v4{}.2d, v4{}.2d, v6{}.2d
				fmul v8{}.2d, v8{}.2d, v10{}.2d
				fadd v16{2,4}.2d, v16{2,4}.2d, v4{}.2d
				fadd v17{2,4}.2d, v17{2,4}.2d, v8{}.2d
			}
		}
		2* ADD $128, R1{}, R1{}
		SUBS $1, R3, R3
		BNE next
		8* FSTPQ (F16{2}, F17{2}), 0{32}(R0)
		RET`)
	p.Func("expSumNEON")
	p.Asm(`
		args sums=R0 dst=R1 x=R2 n=R3 shift=F30 scale=F31
		VDUP V30.S[0], V30.S4` + expConstants + `
	block:
		MOVD R0, R4
		MOVD $4, R5
	next:
		FLDPQ.P 32(R2), (F0, F1)
		2* fsub v0{}.4s, v0{}.4s, v30.4s
		2* fmul v0{}.4s, v0{}.4s, v31.s[0]` + exp + `
		FSTPQ.P (F0, F1), 32(R1)
		2* {
			fcvtl v2{2}.2d, v0{}.2s
			fcvtl2 v3{2}.2d, v0{}.4s
		}
		2* FLDPQ 0{32}(R4), (F8{2}, F9{2})
		4* fadd v8{}.2d, v8{}.2d, v2{}.2d
		2* FSTPQ (F8{2}, F9{2}), 0{32}(R4)
		ADD $64, R4, R4
		SUBS $1, R5, R5
		BNE next
		SUBS $1, R3, R3
		BNE block
		RET`)
	p.Func("maxNEON")
	p.Asm(`
		args most=R0 x=R1 n=R2
		4* FLDPQ 0{32}(R0), (F16{2}, F17{2})
	next:
		4* {
			FLDPQ.P 32(R1), (F0, F1)
			2* fcmgt v2{}.4s, v0{}.4s, v16{1,2}.4s
			2* VBIT V2{}.B16, V0{}.B16, V16{1,2}.B16
		}
		SUBS $1, R2, R2
		BNE next
		4* FSTPQ (F16{2}, F17{2}), 0{32}(R0)
		RET`)
}

func halvesNEON(p *neon.Program) {
	p.Func("encodeF16NEON")
	p.Asm(`
		args dst=R0 src=R1 n=R2
		LSL $2, R2, R2
	next:
		FLDPQ.P 32(R1), (F0, F1)
		fcvtn v0.4h, v0.4s
		fcvtn2 v0.8h, v1.4s
		FMOVQ.P F0, 16(R0)
		SUBS $1, R2, R2
		BNE next
		RET`)
	p.Func("decodeF16NEON")
	p.Asm(`
		args dst=R0 src=R1 n=R2
		LSL $2, R2, R2
	next:
		FMOVQ.P 16(R1), F0
		fcvtl v1.4s, v0.4h
		fcvtl2 v2.4s, v0.8h
		FSTPQ.P (F1, F2), 32(R0)
		SUBS $1, R2, R2
		BNE next
		RET`)
}

// hadamardNEON takes two registers through the steps of values 1, 2 and 4 apart, then pairs of two through those further
// apart. V5 and V6 change the signs of lanes that are the second of values 1 and 2 apart.
func hadamardNEON(p *neon.Program) {
	p.Func("hadamardNEON")
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
