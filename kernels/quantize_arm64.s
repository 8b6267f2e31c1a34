//go:build !purego

#include "textflag.h"

// func maxAbsBitsNEON(x *float32, runs int) uint32
// The sign bit is shifted out and the result shifted back: bits compare as integers.
TEXT ·maxAbsBitsNEON(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD runs+8(FP), R1
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16

run:
	FLDPQ.P 32(R0), (F0, F1)
	FLDPQ.P 32(R0), (F2, F3)
	FLDPQ.P 32(R0), (F4, F5)
	FLDPQ.P 32(R0), (F6, F7)
	VSHL $1, V0.S4, V0.S4
	VSHL $1, V1.S4, V1.S4
	VSHL $1, V2.S4, V2.S4
	VSHL $1, V3.S4, V3.S4
	VSHL $1, V4.S4, V4.S4
	VSHL $1, V5.S4, V5.S4
	VSHL $1, V6.S4, V6.S4
	VSHL $1, V7.S4, V7.S4
	WORD $0x6ea06610 // umax v16.4s, v16.4s, v0.4s
	WORD $0x6ea16631 // umax v17.4s, v17.4s, v1.4s
	WORD $0x6ea26652 // umax v18.4s, v18.4s, v2.4s
	WORD $0x6ea36673 // umax v19.4s, v19.4s, v3.4s
	WORD $0x6ea46610 // umax v16.4s, v16.4s, v4.4s
	WORD $0x6ea56631 // umax v17.4s, v17.4s, v5.4s
	WORD $0x6ea66652 // umax v18.4s, v18.4s, v6.4s
	WORD $0x6ea76673 // umax v19.4s, v19.4s, v7.4s
	SUBS $1, R1, R1
	BNE run
	WORD $0x6eb16610 // umax v16.4s, v16.4s, v17.4s
	WORD $0x6eb36652 // umax v18.4s, v18.4s, v19.4s
	WORD $0x6eb26610 // umax v16.4s, v16.4s, v18.4s
	WORD $0x6eb0aa10 // umaxv s16, v16.4s
	FMOVS F16, R0
	LSRW $1, R0, R0
	MOVW R0, ret+16(FP)
	RET

// func quantizeRunsNEON(q *int8, sums *int32, x *float32, runs int, mul float32)
// FCVTNS rounds to the nearest integer, ties to even, a NaN to 0; what is too
// large saturates, here and in the two narrowings. -128 is left to clamp.
TEXT ·quantizeRunsNEON(SB), NOSPLIT, $0-36
	MOVD q+0(FP), R0
	MOVD sums+8(FP), R1
	MOVD x+16(FP), R2
	MOVD runs+24(FP), R3
	FMOVS mul+32(FP), F31
	WORD $0x4f04e43e // movi v30.16b, #129

run:
	FLDPQ.P 32(R2), (F0, F1)
	FLDPQ.P 32(R2), (F2, F3)
	FLDPQ.P 32(R2), (F4, F5)
	FLDPQ.P 32(R2), (F6, F7)
	WORD $0x4f9f9000 // fmul v0.4s, v0.4s, v31.s[0]
	WORD $0x4f9f9021 // fmul v1.4s, v1.4s, v31.s[0]
	WORD $0x4f9f9042 // fmul v2.4s, v2.4s, v31.s[0]
	WORD $0x4f9f9063 // fmul v3.4s, v3.4s, v31.s[0]
	WORD $0x4f9f9084 // fmul v4.4s, v4.4s, v31.s[0]
	WORD $0x4f9f90a5 // fmul v5.4s, v5.4s, v31.s[0]
	WORD $0x4f9f90c6 // fmul v6.4s, v6.4s, v31.s[0]
	WORD $0x4f9f90e7 // fmul v7.4s, v7.4s, v31.s[0]
	WORD $0x4e21a800 // fcvtns v0.4s, v0.4s
	WORD $0x4e21a821 // fcvtns v1.4s, v1.4s
	WORD $0x4e21a842 // fcvtns v2.4s, v2.4s
	WORD $0x4e21a863 // fcvtns v3.4s, v3.4s
	WORD $0x4e21a884 // fcvtns v4.4s, v4.4s
	WORD $0x4e21a8a5 // fcvtns v5.4s, v5.4s
	WORD $0x4e21a8c6 // fcvtns v6.4s, v6.4s
	WORD $0x4e21a8e7 // fcvtns v7.4s, v7.4s
	WORD $0x0e614810 // sqxtn v16.4h, v0.4s
	WORD $0x0e614851 // sqxtn v17.4h, v2.4s
	WORD $0x0e614892 // sqxtn v18.4h, v4.4s
	WORD $0x0e6148d3 // sqxtn v19.4h, v6.4s
	WORD $0x4e614830 // sqxtn2 v16.8h, v1.4s
	WORD $0x4e614871 // sqxtn2 v17.8h, v3.4s
	WORD $0x4e6148b2 // sqxtn2 v18.8h, v5.4s
	WORD $0x4e6148f3 // sqxtn2 v19.8h, v7.4s
	WORD $0x0e214a14 // sqxtn v20.8b, v16.8h
	WORD $0x0e214a55 // sqxtn v21.8b, v18.8h
	WORD $0x4e214a34 // sqxtn2 v20.16b, v17.8h
	WORD $0x4e214a75 // sqxtn2 v21.16b, v19.8h
	WORD $0x4e3e6694 // smax v20.16b, v20.16b, v30.16b
	WORD $0x4e3e66b5 // smax v21.16b, v21.16b, v30.16b
	FSTPQ.P (F20, F21), 32(R0)
	WORD $0x4e202a96 // saddlp v22.8h, v20.16b
	WORD $0x4e206ab6 // sadalp v22.8h, v21.16b
	WORD $0x4e703ad6 // saddlv s22, v22.8h
	FMOVS.P F22, 4(R1)
	SUBS $1, R3, R3
	BNE run
	RET
