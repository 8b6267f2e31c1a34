//go:build !purego

#include "textflag.h"

// The tiles: 8 rows of up to 12 columns. Row i has the sums of its columns in V(vectors·i) and
// those that follow, one for each vector; of a step of k, V24 and V25 are a, V26 to V28
// b. Each function equals
//
//	for i := range 8 {
//		for j := range columns {
//			s := float32(0)
//			for l := range k {
//				s = fma(a[8*l+i], b[columns*l+j], s)
//			}
//			if add {
//				s += c[i*stride+j]
//			}
//			c[i*stride+j] = s
//		}
//	}

// func tile8x12NEON(c *float32, stride int, a, b *float32, k int, add bool)
TEXT ·tile8x12NEON(SB), NOSPLIT, $0-41
	MOVD c+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD a+16(FP), R2
	MOVD b+24(FP), R3
	MOVD k+32(FP), R4
	MOVBU add+40(FP), R5
	LSL $2, R1, R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16

step:
	FLDPQ.P 32(R2), (F24, F25)
	FLDPQ (R3), (F26, F27)
	FMOVQ 32(R3), F28
	ADD $48, R3
	WORD $0x4f981340 // fmla v0.4s, v26.4s, v24.s[0]
	WORD $0x4f981361 // fmla v1.4s, v27.4s, v24.s[0]
	WORD $0x4f981382 // fmla v2.4s, v28.4s, v24.s[0]
	WORD $0x4fb81343 // fmla v3.4s, v26.4s, v24.s[1]
	WORD $0x4fb81364 // fmla v4.4s, v27.4s, v24.s[1]
	WORD $0x4fb81385 // fmla v5.4s, v28.4s, v24.s[1]
	WORD $0x4f981b46 // fmla v6.4s, v26.4s, v24.s[2]
	WORD $0x4f981b67 // fmla v7.4s, v27.4s, v24.s[2]
	WORD $0x4f981b88 // fmla v8.4s, v28.4s, v24.s[2]
	WORD $0x4fb81b49 // fmla v9.4s, v26.4s, v24.s[3]
	WORD $0x4fb81b6a // fmla v10.4s, v27.4s, v24.s[3]
	WORD $0x4fb81b8b // fmla v11.4s, v28.4s, v24.s[3]
	WORD $0x4f99134c // fmla v12.4s, v26.4s, v25.s[0]
	WORD $0x4f99136d // fmla v13.4s, v27.4s, v25.s[0]
	WORD $0x4f99138e // fmla v14.4s, v28.4s, v25.s[0]
	WORD $0x4fb9134f // fmla v15.4s, v26.4s, v25.s[1]
	WORD $0x4fb91370 // fmla v16.4s, v27.4s, v25.s[1]
	WORD $0x4fb91391 // fmla v17.4s, v28.4s, v25.s[1]
	WORD $0x4f991b52 // fmla v18.4s, v26.4s, v25.s[2]
	WORD $0x4f991b73 // fmla v19.4s, v27.4s, v25.s[2]
	WORD $0x4f991b94 // fmla v20.4s, v28.4s, v25.s[2]
	WORD $0x4fb91b55 // fmla v21.4s, v26.4s, v25.s[3]
	WORD $0x4fb91b76 // fmla v22.4s, v27.4s, v25.s[3]
	WORD $0x4fb91b97 // fmla v23.4s, v28.4s, v25.s[3]
	SUBS $1, R4
	BNE step
	CBZ R5, store
	MOVD R0, R6

	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d400 // fadd v0.4s, v0.4s, v24.4s
	WORD $0x4e39d421 // fadd v1.4s, v1.4s, v25.4s
	WORD $0x4e3ad442 // fadd v2.4s, v2.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d463 // fadd v3.4s, v3.4s, v24.4s
	WORD $0x4e39d484 // fadd v4.4s, v4.4s, v25.4s
	WORD $0x4e3ad4a5 // fadd v5.4s, v5.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d4c6 // fadd v6.4s, v6.4s, v24.4s
	WORD $0x4e39d4e7 // fadd v7.4s, v7.4s, v25.4s
	WORD $0x4e3ad508 // fadd v8.4s, v8.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d529 // fadd v9.4s, v9.4s, v24.4s
	WORD $0x4e39d54a // fadd v10.4s, v10.4s, v25.4s
	WORD $0x4e3ad56b // fadd v11.4s, v11.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d58c // fadd v12.4s, v12.4s, v24.4s
	WORD $0x4e39d5ad // fadd v13.4s, v13.4s, v25.4s
	WORD $0x4e3ad5ce // fadd v14.4s, v14.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d5ef // fadd v15.4s, v15.4s, v24.4s
	WORD $0x4e39d610 // fadd v16.4s, v16.4s, v25.4s
	WORD $0x4e3ad631 // fadd v17.4s, v17.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d652 // fadd v18.4s, v18.4s, v24.4s
	WORD $0x4e39d673 // fadd v19.4s, v19.4s, v25.4s
	WORD $0x4e3ad694 // fadd v20.4s, v20.4s, v26.4s
	FLDPQ (R6), (F24, F25)
	FMOVQ 32(R6), F26
	ADD R1, R6
	WORD $0x4e38d6b5 // fadd v21.4s, v21.4s, v24.4s
	WORD $0x4e39d6d6 // fadd v22.4s, v22.4s, v25.4s
	WORD $0x4e3ad6f7 // fadd v23.4s, v23.4s, v26.4s

store:
	FSTPQ (F0, F1), (R0)
	FMOVQ F2, 32(R0)
	ADD R1, R0
	FSTPQ (F3, F4), (R0)
	FMOVQ F5, 32(R0)
	ADD R1, R0
	FSTPQ (F6, F7), (R0)
	FMOVQ F8, 32(R0)
	ADD R1, R0
	FSTPQ (F9, F10), (R0)
	FMOVQ F11, 32(R0)
	ADD R1, R0
	FSTPQ (F12, F13), (R0)
	FMOVQ F14, 32(R0)
	ADD R1, R0
	FSTPQ (F15, F16), (R0)
	FMOVQ F17, 32(R0)
	ADD R1, R0
	FSTPQ (F18, F19), (R0)
	FMOVQ F20, 32(R0)
	ADD R1, R0
	FSTPQ (F21, F22), (R0)
	FMOVQ F23, 32(R0)
	ADD R1, R0
	RET

// func tile8x8NEON(c *float32, stride int, a, b *float32, k int, add bool)
TEXT ·tile8x8NEON(SB), NOSPLIT, $0-41
	MOVD c+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD a+16(FP), R2
	MOVD b+24(FP), R3
	MOVD k+32(FP), R4
	MOVBU add+40(FP), R5
	LSL $2, R1, R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16

step:
	FLDPQ.P 32(R2), (F24, F25)
	FLDPQ.P 32(R3), (F26, F27)
	WORD $0x4f981340 // fmla v0.4s, v26.4s, v24.s[0]
	WORD $0x4f981361 // fmla v1.4s, v27.4s, v24.s[0]
	WORD $0x4fb81342 // fmla v2.4s, v26.4s, v24.s[1]
	WORD $0x4fb81363 // fmla v3.4s, v27.4s, v24.s[1]
	WORD $0x4f981b44 // fmla v4.4s, v26.4s, v24.s[2]
	WORD $0x4f981b65 // fmla v5.4s, v27.4s, v24.s[2]
	WORD $0x4fb81b46 // fmla v6.4s, v26.4s, v24.s[3]
	WORD $0x4fb81b67 // fmla v7.4s, v27.4s, v24.s[3]
	WORD $0x4f991348 // fmla v8.4s, v26.4s, v25.s[0]
	WORD $0x4f991369 // fmla v9.4s, v27.4s, v25.s[0]
	WORD $0x4fb9134a // fmla v10.4s, v26.4s, v25.s[1]
	WORD $0x4fb9136b // fmla v11.4s, v27.4s, v25.s[1]
	WORD $0x4f991b4c // fmla v12.4s, v26.4s, v25.s[2]
	WORD $0x4f991b6d // fmla v13.4s, v27.4s, v25.s[2]
	WORD $0x4fb91b4e // fmla v14.4s, v26.4s, v25.s[3]
	WORD $0x4fb91b6f // fmla v15.4s, v27.4s, v25.s[3]
	SUBS $1, R4
	BNE step
	CBZ R5, store
	MOVD R0, R6

	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d400 // fadd v0.4s, v0.4s, v24.4s
	WORD $0x4e39d421 // fadd v1.4s, v1.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d442 // fadd v2.4s, v2.4s, v24.4s
	WORD $0x4e39d463 // fadd v3.4s, v3.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d484 // fadd v4.4s, v4.4s, v24.4s
	WORD $0x4e39d4a5 // fadd v5.4s, v5.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d4c6 // fadd v6.4s, v6.4s, v24.4s
	WORD $0x4e39d4e7 // fadd v7.4s, v7.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d508 // fadd v8.4s, v8.4s, v24.4s
	WORD $0x4e39d529 // fadd v9.4s, v9.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d54a // fadd v10.4s, v10.4s, v24.4s
	WORD $0x4e39d56b // fadd v11.4s, v11.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d58c // fadd v12.4s, v12.4s, v24.4s
	WORD $0x4e39d5ad // fadd v13.4s, v13.4s, v25.4s
	FLDPQ (R6), (F24, F25)
	ADD R1, R6
	WORD $0x4e38d5ce // fadd v14.4s, v14.4s, v24.4s
	WORD $0x4e39d5ef // fadd v15.4s, v15.4s, v25.4s

store:
	FSTPQ (F0, F1), (R0)
	ADD R1, R0
	FSTPQ (F2, F3), (R0)
	ADD R1, R0
	FSTPQ (F4, F5), (R0)
	ADD R1, R0
	FSTPQ (F6, F7), (R0)
	ADD R1, R0
	FSTPQ (F8, F9), (R0)
	ADD R1, R0
	FSTPQ (F10, F11), (R0)
	ADD R1, R0
	FSTPQ (F12, F13), (R0)
	ADD R1, R0
	FSTPQ (F14, F15), (R0)
	ADD R1, R0
	RET

// func tile8x4NEON(c *float32, stride int, a, b *float32, k int, add bool)
TEXT ·tile8x4NEON(SB), NOSPLIT, $0-41
	MOVD c+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD a+16(FP), R2
	MOVD b+24(FP), R3
	MOVD k+32(FP), R4
	MOVBU add+40(FP), R5
	LSL $2, R1, R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

step:
	FLDPQ.P 32(R2), (F24, F25)
	FMOVQ.P 16(R3), F26
	WORD $0x4f981340 // fmla v0.4s, v26.4s, v24.s[0]
	WORD $0x4fb81341 // fmla v1.4s, v26.4s, v24.s[1]
	WORD $0x4f981b42 // fmla v2.4s, v26.4s, v24.s[2]
	WORD $0x4fb81b43 // fmla v3.4s, v26.4s, v24.s[3]
	WORD $0x4f991344 // fmla v4.4s, v26.4s, v25.s[0]
	WORD $0x4fb91345 // fmla v5.4s, v26.4s, v25.s[1]
	WORD $0x4f991b46 // fmla v6.4s, v26.4s, v25.s[2]
	WORD $0x4fb91b47 // fmla v7.4s, v26.4s, v25.s[3]
	SUBS $1, R4
	BNE step
	CBZ R5, store
	MOVD R0, R6

	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d400 // fadd v0.4s, v0.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d421 // fadd v1.4s, v1.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d442 // fadd v2.4s, v2.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d463 // fadd v3.4s, v3.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d484 // fadd v4.4s, v4.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d4a5 // fadd v5.4s, v5.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d4c6 // fadd v6.4s, v6.4s, v24.4s
	FMOVQ (R6), F24
	ADD R1, R6
	WORD $0x4e38d4e7 // fadd v7.4s, v7.4s, v24.4s

store:
	FMOVQ F0, (R0)
	ADD R1, R0
	FMOVQ F1, (R0)
	ADD R1, R0
	FMOVQ F2, (R0)
	ADD R1, R0
	FMOVQ F3, (R0)
	ADD R1, R0
	FMOVQ F4, (R0)
	ADD R1, R0
	FMOVQ F5, (R0)
	ADD R1, R0
	FMOVQ F6, (R0)
	ADD R1, R0
	FMOVQ F7, (R0)
	ADD R1, R0
	RET
