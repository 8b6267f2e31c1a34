//go:build !purego

#include "textflag.h"

// The vector operations of vector.go in NEON: the same float operations on each
// element in the same order, eight elements at a time.

// func addSIMD(x, y *float32, n int)
TEXT ·addSIMD(SB), NOSPLIT, $0-24
	MOVD x+0(FP), R0
	MOVD y+8(FP), R1
	MOVD n+16(FP), R2

addLoop:
	FLDPQ (R0), (F0, F1)
	FLDPQ (R1), (F2, F3)
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE addLoop
	RET

// func squaresSIMD(sum *lanes, x *float32, n int)
TEXT ·squaresSIMD(SB), NOSPLIT, $0-24
	MOVD sum+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	FLDPQ (R0), (F4, F5)
	FLDPQ 32(R0), (F6, F7)

squaresLoop:
	FLDPQ (R1), (F0, F1)
	WORD $0x0e617810 // fcvtl v16.2d, v0.2s
	WORD $0x4e617811 // fcvtl2 v17.2d, v0.4s
	WORD $0x0e617832 // fcvtl v18.2d, v1.2s
	WORD $0x4e617833 // fcvtl2 v19.2d, v1.4s
	WORD $0x6e70de10 // fmul v16.2d, v16.2d, v16.2d
	WORD $0x6e71de31 // fmul v17.2d, v17.2d, v17.2d
	WORD $0x6e72de52 // fmul v18.2d, v18.2d, v18.2d
	WORD $0x6e73de73 // fmul v19.2d, v19.2d, v19.2d
	WORD $0x4e70d484 // fadd v4.2d, v4.2d, v16.2d
	WORD $0x4e71d4a5 // fadd v5.2d, v5.2d, v17.2d
	WORD $0x4e72d4c6 // fadd v6.2d, v6.2d, v18.2d
	WORD $0x4e73d4e7 // fadd v7.2d, v7.2d, v19.2d
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE squaresLoop
	FSTPQ (F4, F5), (R0)
	FSTPQ (F6, F7), 32(R0)
	RET

// func scaleSIMD(dst, x, gain *float32, n int, scale float32)
TEXT ·scaleSIMD(SB), NOSPLIT, $0-36
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD gain+16(FP), R2
	MOVD n+24(FP), R3
	FMOVS scale+32(FP), F4

scaleLoop:
	FLDPQ (R1), (F0, F1)
	FLDPQ (R2), (F2, F3)
	WORD $0x4f849000 // fmul v0.4s, v0.4s, v4.s[0]
	WORD $0x4f849021 // fmul v1.4s, v1.4s, v4.s[0]
	WORD $0x6e22dc00 // fmul v0.4s, v0.4s, v2.4s
	WORD $0x6e23dc21 // fmul v1.4s, v1.4s, v3.4s
	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	ADD $32, R1, R1
	ADD $32, R2, R2
	SUBS $8, R3, R3
	BNE scaleLoop
	RET

// func relu2SIMD(gate, up *float32, n int)
TEXT ·relu2SIMD(SB), NOSPLIT, $0-24
	MOVD gate+0(FP), R0
	MOVD up+8(FP), R1
	MOVD n+16(FP), R2
	VEOR V4.B16, V4.B16, V4.B16

relu2Loop:
	FLDPQ (R0), (F0, F1)
	FLDPQ (R1), (F2, F3)
	WORD $0x4e24f400 // fmax v0.4s, v0.4s, v4.4s
	WORD $0x4e24f421 // fmax v1.4s, v1.4s, v4.4s
	WORD $0x6e20dc00 // fmul v0.4s, v0.4s, v0.4s
	WORD $0x6e21dc21 // fmul v1.4s, v1.4s, v1.4s
	WORD $0x6e22dc00 // fmul v0.4s, v0.4s, v2.4s
	WORD $0x6e23dc21 // fmul v1.4s, v1.4s, v3.4s
	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE relu2Loop
	RET

// EXPCONSTANTS loads those of expFloat32: a register each.
#define EXPCONSTANTS \
	MOVW $0xc2ae0000, R9 /* -87 */; VDUP R9, V16.S4; \
	MOVW $0x42b00000, R9 /* 88 */; VDUP R9, V17.S4; \
	MOVW $0x3fb8aa3b, R9 /* log2 e */; VDUP R9, V18.S4; \
	MOVW $0x4b400000, R9 /* magic */; VDUP R9, V19.S4; \
	MOVW $0x3f317000, R9 /* ln2Hi */; VDUP R9, V20.S4; \
	MOVW $0x3805fdf4, R9 /* ln2Lo */; VDUP R9, V21.S4; \
	MOVW $0x39500d01, R9 /* 1/5040 */; VDUP R9, V22.S4; \
	MOVW $0x3ab60b61, R9 /* 1/720 */; VDUP R9, V23.S4; \
	MOVW $0x3c088889, R9 /* 1/120 */; VDUP R9, V24.S4; \
	MOVW $0x3d2aaaab, R9 /* 1/24 */; VDUP R9, V25.S4; \
	MOVW $0x3e2aaaab, R9 /* 1/6 */; VDUP R9, V26.S4; \
	MOVW $0x3f000000, R9 /* 1/2 */; VDUP R9, V27.S4; \
	MOVW $0x3f800000, R9 /* 1 */; VDUP R9, V28.S4

// func siluSIMD(gate, up *float32, n int)
//
// V0 and V1 become exp(-gate); V2 and V3 hold shifted, V4 and V5 first n and
// then p.
TEXT ·siluSIMD(SB), NOSPLIT, $0-24
	MOVD gate+0(FP), R0
	MOVD up+8(FP), R1
	MOVD n+16(FP), R2
	EXPCONSTANTS

siluLoop:
	FLDPQ (R0), (F30, F31)
	WORD $0x6ea0fbc0 // fneg v0.4s, v30.4s
	WORD $0x6ea0fbe1 // fneg v1.4s, v31.4s
	WORD $0x4e30f400 // fmax v0.4s, v0.4s, v16.4s
	WORD $0x4e30f421 // fmax v1.4s, v1.4s, v16.4s
	WORD $0x4eb1f400 // fmin v0.4s, v0.4s, v17.4s
	WORD $0x4eb1f421 // fmin v1.4s, v1.4s, v17.4s
	WORD $0x6e32dc02 // fmul v2.4s, v0.4s, v18.4s
	WORD $0x6e32dc23 // fmul v3.4s, v1.4s, v18.4s
	WORD $0x4e33d442 // fadd v2.4s, v2.4s, v19.4s
	WORD $0x4e33d463 // fadd v3.4s, v3.4s, v19.4s
	WORD $0x4eb3d444 // fsub v4.4s, v2.4s, v19.4s
	WORD $0x4eb3d465 // fsub v5.4s, v3.4s, v19.4s
	WORD $0x6e34dc86 // fmul v6.4s, v4.4s, v20.4s
	WORD $0x6e34dca7 // fmul v7.4s, v5.4s, v20.4s
	WORD $0x4ea6d400 // fsub v0.4s, v0.4s, v6.4s
	WORD $0x4ea7d421 // fsub v1.4s, v1.4s, v7.4s
	WORD $0x6e35dc86 // fmul v6.4s, v4.4s, v21.4s
	WORD $0x6e35dca7 // fmul v7.4s, v5.4s, v21.4s
	WORD $0x4ea6d400 // fsub v0.4s, v0.4s, v6.4s
	WORD $0x4ea7d421 // fsub v1.4s, v1.4s, v7.4s
	WORD $0x6e36dc04 // fmul v4.4s, v0.4s, v22.4s
	WORD $0x6e36dc25 // fmul v5.4s, v1.4s, v22.4s
	WORD $0x4e37d484 // fadd v4.4s, v4.4s, v23.4s
	WORD $0x4e37d4a5 // fadd v5.4s, v5.4s, v23.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e38d484 // fadd v4.4s, v4.4s, v24.4s
	WORD $0x4e38d4a5 // fadd v5.4s, v5.4s, v24.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e39d484 // fadd v4.4s, v4.4s, v25.4s
	WORD $0x4e39d4a5 // fadd v5.4s, v5.4s, v25.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3ad484 // fadd v4.4s, v4.4s, v26.4s
	WORD $0x4e3ad4a5 // fadd v5.4s, v5.4s, v26.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3bd484 // fadd v4.4s, v4.4s, v27.4s
	WORD $0x4e3bd4a5 // fadd v5.4s, v5.4s, v27.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3cd484 // fadd v4.4s, v4.4s, v28.4s
	WORD $0x4e3cd4a5 // fadd v5.4s, v5.4s, v28.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3cd484 // fadd v4.4s, v4.4s, v28.4s
	WORD $0x4e3cd4a5 // fadd v5.4s, v5.4s, v28.4s
	WORD $0x4f375442 // shl v2.4s, v2.4s, #23
	WORD $0x4f375463 // shl v3.4s, v3.4s, #23
	WORD $0x4ebc8442 // add v2.4s, v2.4s, v28.4s
	WORD $0x4ebc8463 // add v3.4s, v3.4s, v28.4s
	WORD $0x6e22dc80 // fmul v0.4s, v4.4s, v2.4s
	WORD $0x6e23dca1 // fmul v1.4s, v5.4s, v3.4s
	WORD $0x4e3cd400 // fadd v0.4s, v0.4s, v28.4s
	WORD $0x4e3cd421 // fadd v1.4s, v1.4s, v28.4s
	WORD $0x6e20ffc0 // fdiv v0.4s, v30.4s, v0.4s
	WORD $0x6e21ffe1 // fdiv v1.4s, v31.4s, v1.4s
	FLDPQ (R1), (F2, F3)
	WORD $0x6e22dc00 // fmul v0.4s, v0.4s, v2.4s
	WORD $0x6e23dc21 // fmul v1.4s, v1.4s, v3.4s
	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE siluLoop
	RET

// func expSIMD(sum *lanes, x *float32, n int, top, scale float32)
TEXT ·expSIMD(SB), NOSPLIT, $0-32
	MOVD sum+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	FMOVS top+24(FP), F30
	VDUP V30.S[0], V30.S4
	FMOVS scale+28(FP), F31
	EXPCONSTANTS
	FLDPQ (R0), (F8, F9)
	FLDPQ 32(R0), (F10, F11)

expLoop:
	FLDPQ (R1), (F0, F1)
	WORD $0x4ebed400 // fsub v0.4s, v0.4s, v30.4s
	WORD $0x4ebed421 // fsub v1.4s, v1.4s, v30.4s
	WORD $0x4f9f9000 // fmul v0.4s, v0.4s, v31.s[0]
	WORD $0x4f9f9021 // fmul v1.4s, v1.4s, v31.s[0]
	WORD $0x4e30f400 // fmax v0.4s, v0.4s, v16.4s
	WORD $0x4e30f421 // fmax v1.4s, v1.4s, v16.4s
	WORD $0x4eb1f400 // fmin v0.4s, v0.4s, v17.4s
	WORD $0x4eb1f421 // fmin v1.4s, v1.4s, v17.4s
	WORD $0x6e32dc02 // fmul v2.4s, v0.4s, v18.4s
	WORD $0x6e32dc23 // fmul v3.4s, v1.4s, v18.4s
	WORD $0x4e33d442 // fadd v2.4s, v2.4s, v19.4s
	WORD $0x4e33d463 // fadd v3.4s, v3.4s, v19.4s
	WORD $0x4eb3d444 // fsub v4.4s, v2.4s, v19.4s
	WORD $0x4eb3d465 // fsub v5.4s, v3.4s, v19.4s
	WORD $0x6e34dc86 // fmul v6.4s, v4.4s, v20.4s
	WORD $0x6e34dca7 // fmul v7.4s, v5.4s, v20.4s
	WORD $0x4ea6d400 // fsub v0.4s, v0.4s, v6.4s
	WORD $0x4ea7d421 // fsub v1.4s, v1.4s, v7.4s
	WORD $0x6e35dc86 // fmul v6.4s, v4.4s, v21.4s
	WORD $0x6e35dca7 // fmul v7.4s, v5.4s, v21.4s
	WORD $0x4ea6d400 // fsub v0.4s, v0.4s, v6.4s
	WORD $0x4ea7d421 // fsub v1.4s, v1.4s, v7.4s
	WORD $0x6e36dc04 // fmul v4.4s, v0.4s, v22.4s
	WORD $0x6e36dc25 // fmul v5.4s, v1.4s, v22.4s
	WORD $0x4e37d484 // fadd v4.4s, v4.4s, v23.4s
	WORD $0x4e37d4a5 // fadd v5.4s, v5.4s, v23.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e38d484 // fadd v4.4s, v4.4s, v24.4s
	WORD $0x4e38d4a5 // fadd v5.4s, v5.4s, v24.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e39d484 // fadd v4.4s, v4.4s, v25.4s
	WORD $0x4e39d4a5 // fadd v5.4s, v5.4s, v25.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3ad484 // fadd v4.4s, v4.4s, v26.4s
	WORD $0x4e3ad4a5 // fadd v5.4s, v5.4s, v26.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3bd484 // fadd v4.4s, v4.4s, v27.4s
	WORD $0x4e3bd4a5 // fadd v5.4s, v5.4s, v27.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3cd484 // fadd v4.4s, v4.4s, v28.4s
	WORD $0x4e3cd4a5 // fadd v5.4s, v5.4s, v28.4s
	WORD $0x6e20dc84 // fmul v4.4s, v4.4s, v0.4s
	WORD $0x6e21dca5 // fmul v5.4s, v5.4s, v1.4s
	WORD $0x4e3cd484 // fadd v4.4s, v4.4s, v28.4s
	WORD $0x4e3cd4a5 // fadd v5.4s, v5.4s, v28.4s
	WORD $0x4f375442 // shl v2.4s, v2.4s, #23
	WORD $0x4f375463 // shl v3.4s, v3.4s, #23
	WORD $0x4ebc8442 // add v2.4s, v2.4s, v28.4s
	WORD $0x4ebc8463 // add v3.4s, v3.4s, v28.4s
	WORD $0x6e22dc80 // fmul v0.4s, v4.4s, v2.4s
	WORD $0x6e23dca1 // fmul v1.4s, v5.4s, v3.4s
	FSTPQ (F0, F1), (R1)
	WORD $0x0e617802 // fcvtl v2.2d, v0.2s
	WORD $0x4e617803 // fcvtl2 v3.2d, v0.4s
	WORD $0x0e617824 // fcvtl v4.2d, v1.2s
	WORD $0x4e617825 // fcvtl2 v5.2d, v1.4s
	WORD $0x4e62d508 // fadd v8.2d, v8.2d, v2.2d
	WORD $0x4e63d529 // fadd v9.2d, v9.2d, v3.2d
	WORD $0x4e64d54a // fadd v10.2d, v10.2d, v4.2d
	WORD $0x4e65d56b // fadd v11.2d, v11.2d, v5.2d
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE expLoop
	FSTPQ (F8, F9), (R0)
	FSTPQ (F10, F11), 32(R0)
	RET

// func maxSIMD(x *float32, n int) float32
//
// FMAXNM returns the number if one is NaN.
TEXT ·maxSIMD(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	MOVW $0xff800000, R2 // -Inf
	VDUP R2, V2.S4

maxLoop:
	FLDPQ (R0), (F0, F1)
	WORD $0x4e21c400 // fmaxnm v0.4s, v0.4s, v1.4s
	WORD $0x4e20c442 // fmaxnm v2.4s, v2.4s, v0.4s
	ADD $32, R0, R0
	SUBS $8, R1, R1
	BNE maxLoop
	WORD $0x6e30c840 // fmaxnmv s0, v2.4s
	FMOVS F0, ret+16(FP)
	RET

// func turnSIMD(a, b, cos, sin *float32, n int)
TEXT ·turnSIMD(SB), NOSPLIT, $0-40
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD cos+16(FP), R2
	MOVD sin+24(FP), R3
	MOVD n+32(FP), R4

turnLoop:
	FLDPQ (R0), (F0, F1)
	FLDPQ (R1), (F2, F3)
	FLDPQ (R2), (F4, F5)
	FLDPQ (R3), (F6, F7)
	WORD $0x6e24dc10 // fmul v16.4s, v0.4s, v4.4s
	WORD $0x6e26dc52 // fmul v18.4s, v2.4s, v6.4s
	WORD $0x4eb2d610 // fsub v16.4s, v16.4s, v18.4s
	WORD $0x6e26dc14 // fmul v20.4s, v0.4s, v6.4s
	WORD $0x6e24dc56 // fmul v22.4s, v2.4s, v4.4s
	WORD $0x4e36d694 // fadd v20.4s, v20.4s, v22.4s
	WORD $0x6e25dc31 // fmul v17.4s, v1.4s, v5.4s
	WORD $0x6e27dc73 // fmul v19.4s, v3.4s, v7.4s
	WORD $0x4eb3d631 // fsub v17.4s, v17.4s, v19.4s
	WORD $0x6e27dc35 // fmul v21.4s, v1.4s, v7.4s
	WORD $0x6e25dc77 // fmul v23.4s, v3.4s, v5.4s
	WORD $0x4e37d6b5 // fadd v21.4s, v21.4s, v23.4s
	FSTPQ (F16, F17), (R0)
	FSTPQ (F20, F21), (R1)
	ADD $32, R0, R0
	ADD $32, R1, R1
	ADD $32, R2, R2
	ADD $32, R3, R3
	SUBS $8, R4, R4
	BNE turnLoop
	RET

// func encodeF16SIMD(dst *byte, src *float32, n int)
TEXT ·encodeF16SIMD(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2

encodeLoop:
	FLDPQ (R1), (F0, F1)
	WORD $0x0e216800 // fcvtn v0.4h, v0.4s
	WORD $0x4e216820 // fcvtn2 v0.8h, v1.4s
	FMOVQ F0, (R0)
	ADD $16, R0, R0
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE encodeLoop
	RET

// func decodeF16SIMD(dst, src *byte, n int)
TEXT ·decodeF16SIMD(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2

decodeLoop:
	FMOVQ (R1), F0
	WORD $0x0e217801 // fcvtl v1.4s, v0.4h
	WORD $0x4e217802 // fcvtl2 v2.4s, v0.8h
	FSTPQ (F1, F2), (R0)
	ADD $32, R0, R0
	ADD $16, R1, R1
	SUBS $8, R2, R2
	BNE decodeLoop
	RET

// func addProductSIMD(dst, x, y *float32, n int)
TEXT ·addProductSIMD(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD y+16(FP), R2
	MOVD n+24(FP), R3

addProductLoop:
	FLDPQ (R1), (F0, F1)
	FLDPQ (R2), (F2, F3)
	FLDPQ (R0), (F4, F5)
	WORD $0x6e22dc00 // fmul v0.4s, v0.4s, v2.4s
	WORD $0x6e23dc21 // fmul v1.4s, v1.4s, v3.4s
	WORD $0x4e20d484 // fadd v4.4s, v4.4s, v0.4s
	WORD $0x4e21d4a5 // fadd v5.4s, v5.4s, v1.4s
	FSTPQ (F4, F5), (R0)
	ADD $32, R0, R0
	ADD $32, R1, R1
	ADD $32, R2, R2
	SUBS $8, R3, R3
	BNE addProductLoop
	RET

// func hadamardSIMD(x *float32, n int, by float32)
//
// Two registers go through the steps of values 1, 2 and 4 apart, then pairs of
// two through those further apart. V5 and V6 change the signs of lanes that are
// the second of values 1 and 2 apart.
TEXT ·hadamardSIMD(SB), NOSPLIT, $0-20
	MOVD x+0(FP), R0
	MOVD n+8(FP), R1
	FMOVS by+16(FP), F7
	MOVD $0x8000000000000000, R2
	VDUP R2, V5.D2
	MOVD $0x8000000080000000, R2
	VEOR V6.B16, V6.B16, V6.B16
	VMOV R2, V6.D[1]
	LSL $2, R1, R1
	ADD R0, R1, R3
	MOVD R0, R4

hadamardWithin:
	FLDPQ (R4), (F0, F1)
	VREV64 V0.S4, V2.S4
	VREV64 V1.S4, V3.S4
	VEOR V5.B16, V0.B16, V0.B16
	VEOR V5.B16, V1.B16, V1.B16
	WORD $0x4e20d440 // fadd v0.4s, v2.4s, v0.4s
	WORD $0x4e21d461 // fadd v1.4s, v3.4s, v1.4s
	VEXT $8, V0.B16, V0.B16, V2.B16
	VEXT $8, V1.B16, V1.B16, V3.B16
	VEOR V6.B16, V0.B16, V0.B16
	VEOR V6.B16, V1.B16, V1.B16
	WORD $0x4e20d440 // fadd v0.4s, v2.4s, v0.4s
	WORD $0x4e21d461 // fadd v1.4s, v3.4s, v1.4s
	WORD $0x4e21d402 // fadd v2.4s, v0.4s, v1.4s
	WORD $0x4ea1d403 // fsub v3.4s, v0.4s, v1.4s
	FSTPQ (F2, F3), (R4)
	ADD $32, R4, R4
	CMP R3, R4
	BLT hadamardWithin
	MOVD $32, R5

hadamardStep:
	CMP R1, R5
	BGE hadamardScale
	MOVD R0, R4

hadamardPair:
	ADD R5, R4, R6
	MOVD R6, R7

hadamardTurn:
	FLDPQ (R4), (F0, F1)
	FLDPQ (R6), (F2, F3)
	WORD $0x4e22d410 // fadd v16.4s, v0.4s, v2.4s
	WORD $0x4e23d431 // fadd v17.4s, v1.4s, v3.4s
	WORD $0x4ea2d412 // fsub v18.4s, v0.4s, v2.4s
	WORD $0x4ea3d433 // fsub v19.4s, v1.4s, v3.4s
	FSTPQ (F16, F17), (R4)
	FSTPQ (F18, F19), (R6)
	ADD $32, R4, R4
	ADD $32, R6, R6
	CMP R7, R4
	BLT hadamardTurn
	MOVD R6, R4
	CMP R3, R4
	BLT hadamardPair
	LSL $1, R5, R5
	B hadamardStep

hadamardScale:
	FLDPQ (R0), (F0, F1)
	WORD $0x4f879000 // fmul v0.4s, v0.4s, v7.s[0]
	WORD $0x4f879021 // fmul v1.4s, v1.4s, v7.s[0]
	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	CMP R3, R0
	BLT hadamardScale
	RET

// func deltaRuleSIMD(matrix, q, k, v, out *float32, keys int, decay, beta float32)
//
// The matrix has 32 columns.
TEXT ·deltaRuleSIMD(SB), NOSPLIT, $0-56
	MOVD matrix+0(FP), R0
	MOVD q+8(FP), R1
	MOVD k+16(FP), R2
	MOVD v+24(FP), R3
	MOVD out+32(FP), R4
	MOVD keys+40(FP), R5
	FMOVS decay+48(FP), F24
	FMOVS beta+52(FP), F25
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD R0, R6
	MOVD R2, R7
	MOVD R5, R8

deltaPredict:
	FMOVS.P 4(R7), F26
	FLDPQ 0(R6), (F16, F17)
	FLDPQ 32(R6), (F18, F19)
	FLDPQ 64(R6), (F20, F21)
	FLDPQ 96(R6), (F22, F23)
	WORD $0x4f989210 // fmul v16.4s, v16.4s, v24.s[0]
	WORD $0x4f989231 // fmul v17.4s, v17.4s, v24.s[0]
	WORD $0x4f989252 // fmul v18.4s, v18.4s, v24.s[0]
	WORD $0x4f989273 // fmul v19.4s, v19.4s, v24.s[0]
	WORD $0x4f989294 // fmul v20.4s, v20.4s, v24.s[0]
	WORD $0x4f9892b5 // fmul v21.4s, v21.4s, v24.s[0]
	WORD $0x4f9892d6 // fmul v22.4s, v22.4s, v24.s[0]
	WORD $0x4f9892f7 // fmul v23.4s, v23.4s, v24.s[0]
	FSTPQ (F16, F17), 0(R6)
	FSTPQ (F18, F19), 32(R6)
	FSTPQ (F20, F21), 64(R6)
	FSTPQ (F22, F23), 96(R6)
	WORD $0x4f9a9210 // fmul v16.4s, v16.4s, v26.s[0]
	WORD $0x4f9a9231 // fmul v17.4s, v17.4s, v26.s[0]
	WORD $0x4f9a9252 // fmul v18.4s, v18.4s, v26.s[0]
	WORD $0x4f9a9273 // fmul v19.4s, v19.4s, v26.s[0]
	WORD $0x4f9a9294 // fmul v20.4s, v20.4s, v26.s[0]
	WORD $0x4f9a92b5 // fmul v21.4s, v21.4s, v26.s[0]
	WORD $0x4f9a92d6 // fmul v22.4s, v22.4s, v26.s[0]
	WORD $0x4f9a92f7 // fmul v23.4s, v23.4s, v26.s[0]
	WORD $0x4e30d400 // fadd v0.4s, v0.4s, v16.4s
	WORD $0x4e31d421 // fadd v1.4s, v1.4s, v17.4s
	WORD $0x4e32d442 // fadd v2.4s, v2.4s, v18.4s
	WORD $0x4e33d463 // fadd v3.4s, v3.4s, v19.4s
	WORD $0x4e34d484 // fadd v4.4s, v4.4s, v20.4s
	WORD $0x4e35d4a5 // fadd v5.4s, v5.4s, v21.4s
	WORD $0x4e36d4c6 // fadd v6.4s, v6.4s, v22.4s
	WORD $0x4e37d4e7 // fadd v7.4s, v7.4s, v23.4s
	ADD $128, R6, R6
	SUBS $1, R8, R8
	BNE deltaPredict
	FLDPQ 0(R3), (F16, F17)
	FLDPQ 32(R3), (F18, F19)
	FLDPQ 64(R3), (F20, F21)
	FLDPQ 96(R3), (F22, F23)
	WORD $0x4ea0d600 // fsub v0.4s, v16.4s, v0.4s
	WORD $0x4ea1d621 // fsub v1.4s, v17.4s, v1.4s
	WORD $0x4ea2d642 // fsub v2.4s, v18.4s, v2.4s
	WORD $0x4ea3d663 // fsub v3.4s, v19.4s, v3.4s
	WORD $0x4ea4d684 // fsub v4.4s, v20.4s, v4.4s
	WORD $0x4ea5d6a5 // fsub v5.4s, v21.4s, v5.4s
	WORD $0x4ea6d6c6 // fsub v6.4s, v22.4s, v6.4s
	WORD $0x4ea7d6e7 // fsub v7.4s, v23.4s, v7.4s
	WORD $0x4f999000 // fmul v0.4s, v0.4s, v25.s[0]
	WORD $0x4f999021 // fmul v1.4s, v1.4s, v25.s[0]
	WORD $0x4f999042 // fmul v2.4s, v2.4s, v25.s[0]
	WORD $0x4f999063 // fmul v3.4s, v3.4s, v25.s[0]
	WORD $0x4f999084 // fmul v4.4s, v4.4s, v25.s[0]
	WORD $0x4f9990a5 // fmul v5.4s, v5.4s, v25.s[0]
	WORD $0x4f9990c6 // fmul v6.4s, v6.4s, v25.s[0]
	WORD $0x4f9990e7 // fmul v7.4s, v7.4s, v25.s[0]
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16

deltaWrite:
	FMOVS.P 4(R2), F26
	FMOVS.P 4(R1), F27
	FLDPQ 0(R0), (F16, F17)
	FLDPQ 32(R0), (F18, F19)
	WORD $0x4f9a9014 // fmul v20.4s, v0.4s, v26.s[0]
	WORD $0x4f9a9035 // fmul v21.4s, v1.4s, v26.s[0]
	WORD $0x4f9a9056 // fmul v22.4s, v2.4s, v26.s[0]
	WORD $0x4f9a9077 // fmul v23.4s, v3.4s, v26.s[0]
	WORD $0x4e34d610 // fadd v16.4s, v16.4s, v20.4s
	WORD $0x4e35d631 // fadd v17.4s, v17.4s, v21.4s
	WORD $0x4e36d652 // fadd v18.4s, v18.4s, v22.4s
	WORD $0x4e37d673 // fadd v19.4s, v19.4s, v23.4s
	FSTPQ (F16, F17), 0(R0)
	FSTPQ (F18, F19), 32(R0)
	WORD $0x4f9b9210 // fmul v16.4s, v16.4s, v27.s[0]
	WORD $0x4f9b9231 // fmul v17.4s, v17.4s, v27.s[0]
	WORD $0x4f9b9252 // fmul v18.4s, v18.4s, v27.s[0]
	WORD $0x4f9b9273 // fmul v19.4s, v19.4s, v27.s[0]
	WORD $0x4e30d508 // fadd v8.4s, v8.4s, v16.4s
	WORD $0x4e31d529 // fadd v9.4s, v9.4s, v17.4s
	WORD $0x4e32d54a // fadd v10.4s, v10.4s, v18.4s
	WORD $0x4e33d56b // fadd v11.4s, v11.4s, v19.4s
	FLDPQ 64(R0), (F16, F17)
	FLDPQ 96(R0), (F18, F19)
	WORD $0x4f9a9094 // fmul v20.4s, v4.4s, v26.s[0]
	WORD $0x4f9a90b5 // fmul v21.4s, v5.4s, v26.s[0]
	WORD $0x4f9a90d6 // fmul v22.4s, v6.4s, v26.s[0]
	WORD $0x4f9a90f7 // fmul v23.4s, v7.4s, v26.s[0]
	WORD $0x4e34d610 // fadd v16.4s, v16.4s, v20.4s
	WORD $0x4e35d631 // fadd v17.4s, v17.4s, v21.4s
	WORD $0x4e36d652 // fadd v18.4s, v18.4s, v22.4s
	WORD $0x4e37d673 // fadd v19.4s, v19.4s, v23.4s
	FSTPQ (F16, F17), 64(R0)
	FSTPQ (F18, F19), 96(R0)
	WORD $0x4f9b9210 // fmul v16.4s, v16.4s, v27.s[0]
	WORD $0x4f9b9231 // fmul v17.4s, v17.4s, v27.s[0]
	WORD $0x4f9b9252 // fmul v18.4s, v18.4s, v27.s[0]
	WORD $0x4f9b9273 // fmul v19.4s, v19.4s, v27.s[0]
	WORD $0x4e30d58c // fadd v12.4s, v12.4s, v16.4s
	WORD $0x4e31d5ad // fadd v13.4s, v13.4s, v17.4s
	WORD $0x4e32d5ce // fadd v14.4s, v14.4s, v18.4s
	WORD $0x4e33d5ef // fadd v15.4s, v15.4s, v19.4s
	ADD $128, R0, R0
	SUBS $1, R5, R5
	BNE deltaWrite
	FSTPQ (F8, F9), 0(R4)
	FSTPQ (F10, F11), 32(R4)
	FSTPQ (F12, F13), 64(R4)
	FSTPQ (F14, F15), 96(R4)
	RET
