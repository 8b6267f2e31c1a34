//go:build !purego

#include "textflag.h"

// The layout codes64: tiles of 64 rows, of which every dword is 16 registers of 4 rows.

// func codes64NEONDot(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, pairs, scaleStep, rows int)
//
// The layout has rows in lanes: SDOT takes four activations by element. Codes stay
// where they are in their byte, sums of 4 rows each in V0-V3 at shifts 0 and 6, V4-V7 at
// 2, V8-V11 at 4. The results of a tile are in the frame.
TEXT ·codes64NEONDot(SB), NOSPLIT, $256-72
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R1
	MOVD rows+64(FP), R3
	VMOVI $0x03, V28.B16
	VMOVI $0x0c, V29.B16
	VMOVI $0x30, V30.B16

tile:
	MOVD $y-256(SP), R4
	VEOR V31.B16, V31.B16, V31.B16
	FSTPQ (F31, F31), 0(R4)
	FSTPQ (F31, F31), 32(R4)
	FSTPQ (F31, F31), 64(R4)
	FSTPQ (F31, F31), 96(R4)
	FSTPQ (F31, F31), 128(R4)
	FSTPQ (F31, F31), 160(R4)
	FSTPQ (F31, F31), 192(R4)
	FSTPQ (F31, F31), 224(R4)
	MOVD q+16(FP), R5
	MOVD scales+24(FP), R6
	MOVD sums+32(FP), R7
	MOVD blocks+40(FP), R8
	MOVD $0, R9

block:
	// V27: Σq of the block.
	MOVD $0, R10
	MOVD pairs+48(FP), R13
	MOVD R13, R11

sum:
	MOVW.P 4(R7), R12
	ADD R12, R10
	SUBS $1, R11, R11
	BNE sum
	VDUP R10, V27.S4
	// V26: the activation scale, of which R9 bytes were stepped over.
	AND $~3, R9, R11
	ADD R6, R11
	FMOVS (R11), F26
	MOVD scaleStep+56(FP), R11
	ADD R11, R9
	ADD R13<<9, R1, R13 // the weight scales
	MOVD $4, R12

rows:
	// 16 rows: 64 bytes of every dword.
	MOVD R1, R14
	MOVD R5, R15
	MOVD pairs+48(FP), R19
	LSL $1, R19
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

dword:
	FMOVQ.P 16(R15), F16
	FLDPQ 0(R14), (F20, F21)
	FLDPQ 32(R14), (F22, F23)
	PRFM 2048(R14), PLDL1KEEP
	ADD $256, R14
	VAND V28.B16, V20.B16, V12.B16
	VAND V28.B16, V21.B16, V13.B16
	VAND V28.B16, V22.B16, V14.B16
	VAND V28.B16, V23.B16, V15.B16
	WORD $0x4f90e180 // sdot v0.4s, v12.16b, v16.4b[0]
	WORD $0x4f90e1a1 // sdot v1.4s, v13.16b, v16.4b[0]
	WORD $0x4f90e1c2 // sdot v2.4s, v14.16b, v16.4b[0]
	WORD $0x4f90e1e3 // sdot v3.4s, v15.16b, v16.4b[0]
	VAND V29.B16, V20.B16, V12.B16
	VAND V29.B16, V21.B16, V13.B16
	VAND V29.B16, V22.B16, V14.B16
	VAND V29.B16, V23.B16, V15.B16
	WORD $0x4fb0e184 // sdot v4.4s, v12.16b, v16.4b[1]
	WORD $0x4fb0e1a5 // sdot v5.4s, v13.16b, v16.4b[1]
	WORD $0x4fb0e1c6 // sdot v6.4s, v14.16b, v16.4b[1]
	WORD $0x4fb0e1e7 // sdot v7.4s, v15.16b, v16.4b[1]
	VAND V30.B16, V20.B16, V12.B16
	VAND V30.B16, V21.B16, V13.B16
	VAND V30.B16, V22.B16, V14.B16
	VAND V30.B16, V23.B16, V15.B16
	WORD $0x4f90e988 // sdot v8.4s, v12.16b, v16.4b[2]
	WORD $0x4f90e9a9 // sdot v9.4s, v13.16b, v16.4b[2]
	WORD $0x4f90e9ca // sdot v10.4s, v14.16b, v16.4b[2]
	WORD $0x4f90e9eb // sdot v11.4s, v15.16b, v16.4b[2]
	VUSHR $6, V20.B16, V12.B16
	VUSHR $6, V21.B16, V13.B16
	VUSHR $6, V22.B16, V14.B16
	VUSHR $6, V23.B16, V15.B16
	WORD $0x4fb0e980 // sdot v0.4s, v12.16b, v16.4b[3]
	WORD $0x4fb0e9a1 // sdot v1.4s, v13.16b, v16.4b[3]
	WORD $0x4fb0e9c2 // sdot v2.4s, v14.16b, v16.4b[3]
	WORD $0x4fb0e9e3 // sdot v3.4s, v15.16b, v16.4b[3]
	SUBS $1, R19, R19
	BNE dword

	WORD $0x4f3e1480 // ssra v0.4s, v4.4s, #2
	WORD $0x4f3e14a1 // ssra v1.4s, v5.4s, #2
	WORD $0x4f3e14c2 // ssra v2.4s, v6.4s, #2
	WORD $0x4f3e14e3 // ssra v3.4s, v7.4s, #2
	WORD $0x4f3c1500 // ssra v0.4s, v8.4s, #4
	WORD $0x4f3c1521 // ssra v1.4s, v9.4s, #4
	WORD $0x4f3c1542 // ssra v2.4s, v10.4s, #4
	WORD $0x4f3c1563 // ssra v3.4s, v11.4s, #4
	FLDPQ.P 32(R13), (F16, F18)
	WORD $0x4e217a11 // fcvtl2 v17.4s, v16.8h
	WORD $0x0e217a10 // fcvtl v16.4s, v16.4h
	WORD $0x4e217a53 // fcvtl2 v19.4s, v18.8h
	WORD $0x0e217a52 // fcvtl v18.4s, v18.4h
	WORD $0x4f9a9210 // fmul v16.4s, v16.4s, v26.s[0]
	WORD $0x4f9a9231 // fmul v17.4s, v17.4s, v26.s[0]
	WORD $0x4f9a9252 // fmul v18.4s, v18.4s, v26.s[0]
	WORD $0x4f9a9273 // fmul v19.4s, v19.4s, v26.s[0]
	VSUB V27.S4, V0.S4, V0.S4
	VSUB V27.S4, V1.S4, V1.S4
	VSUB V27.S4, V2.S4, V2.S4
	VSUB V27.S4, V3.S4, V3.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e20de00 // fmul v0.4s, v16.4s, v0.4s
	WORD $0x6e21de21 // fmul v1.4s, v17.4s, v1.4s
	WORD $0x6e22de42 // fmul v2.4s, v18.4s, v2.4s
	WORD $0x6e23de63 // fmul v3.4s, v19.4s, v3.4s
	FLDPQ 0(R4), (F20, F21)
	FLDPQ 32(R4), (F22, F23)
	WORD $0x4e20d694 // fadd v20.4s, v20.4s, v0.4s
	WORD $0x4e21d6b5 // fadd v21.4s, v21.4s, v1.4s
	WORD $0x4e22d6d6 // fadd v22.4s, v22.4s, v2.4s
	WORD $0x4e23d6f7 // fadd v23.4s, v23.4s, v3.4s
	FSTPQ (F20, F21), 0(R4)
	FSTPQ (F22, F23), 32(R4)
	ADD $64, R4
	ADD $64, R1
	SUBS $1, R12, R12
	BNE rows

	// The next block lies behind the scales.
	MOVD R13, R1
	MOVD R15, R5
	SUB $256, R4
	SUBS $1, R8, R8
	BNE block

	CMP $64, R3
	BLT few
	FLDPQ 0(R4), (F0, F1)
	FLDPQ 32(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	FLDPQ 64(R4), (F0, F1)
	FLDPQ 96(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	FLDPQ 128(R4), (F0, F1)
	FLDPQ 160(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	FLDPQ 192(R4), (F0, F1)
	FLDPQ 224(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	SUBS $64, R3, R3
	BNE tile
	RET

few:
	FMOVS.P 4(R4), F0
	FMOVS.P F0, 4(R0)
	SUBS $1, R3, R3
	BNE few
	RET

// func codes64NEON(dst *float32, data *byte, q *int8, scales *float32, sums *int32, blocks, pairs, scaleStep, rows int)
//
// codes64NEONDot without dot products: codes are shifted down, sums in 16 bits are of rows
// 0 and 1 of 4 in V0, of 2 and 3 in V1, and so on. A block of at most 16 dwords adds
// 64·3·127 = 24384.
TEXT ·codes64NEON(SB), NOSPLIT, $256-72
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R1
	MOVD rows+64(FP), R3
	VMOVI $0x03, V28.B16

tile:
	MOVD $y-256(SP), R4
	VEOR V31.B16, V31.B16, V31.B16
	FSTPQ (F31, F31), 0(R4)
	FSTPQ (F31, F31), 32(R4)
	FSTPQ (F31, F31), 64(R4)
	FSTPQ (F31, F31), 96(R4)
	FSTPQ (F31, F31), 128(R4)
	FSTPQ (F31, F31), 160(R4)
	FSTPQ (F31, F31), 192(R4)
	FSTPQ (F31, F31), 224(R4)
	MOVD q+16(FP), R5
	MOVD scales+24(FP), R6
	MOVD sums+32(FP), R7
	MOVD blocks+40(FP), R8
	MOVD $0, R9

block:
	// V27: Σq of the block.
	MOVD $0, R10
	MOVD pairs+48(FP), R13
	MOVD R13, R11

sum:
	MOVW.P 4(R7), R12
	ADD R12, R10
	SUBS $1, R11, R11
	BNE sum
	VDUP R10, V27.S4
	// V26: the activation scale, of which R9 bytes were stepped over.
	AND $~3, R9, R11
	ADD R6, R11
	FMOVS (R11), F26
	MOVD scaleStep+56(FP), R11
	ADD R11, R9
	ADD R13<<9, R1, R13 // the weight scales
	MOVD $4, R12

rows:
	// 16 rows: 64 bytes of every dword.
	MOVD R1, R14
	MOVD R5, R15
	MOVD pairs+48(FP), R19
	LSL $1, R19
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

dword:
	VLD1R.P 4(R15), [V16.S4]
	VLD1R.P 4(R15), [V17.S4]
	VLD1R.P 4(R15), [V18.S4]
	VLD1R.P 4(R15), [V19.S4]
	FLDPQ 0(R14), (F20, F21)
	FLDPQ 32(R14), (F22, F23)
	PRFM 2048(R14), PLDL1KEEP
	ADD $256, R14
	VAND V28.B16, V20.B16, V12.B16
	VAND V28.B16, V21.B16, V13.B16
	VAND V28.B16, V22.B16, V14.B16
	VAND V28.B16, V23.B16, V15.B16
	WORD $0x0e308180 // smlal v0.8h, v12.8b, v16.8b
	WORD $0x0e3081a2 // smlal v2.8h, v13.8b, v16.8b
	WORD $0x0e3081c4 // smlal v4.8h, v14.8b, v16.8b
	WORD $0x0e3081e6 // smlal v6.8h, v15.8b, v16.8b
	WORD $0x4e308181 // smlal2 v1.8h, v12.16b, v16.16b
	WORD $0x4e3081a3 // smlal2 v3.8h, v13.16b, v16.16b
	WORD $0x4e3081c5 // smlal2 v5.8h, v14.16b, v16.16b
	WORD $0x4e3081e7 // smlal2 v7.8h, v15.16b, v16.16b
	VUSHR $2, V20.B16, V12.B16
	VUSHR $2, V21.B16, V13.B16
	VUSHR $2, V22.B16, V14.B16
	VUSHR $2, V23.B16, V15.B16
	VAND V28.B16, V12.B16, V12.B16
	VAND V28.B16, V13.B16, V13.B16
	VAND V28.B16, V14.B16, V14.B16
	VAND V28.B16, V15.B16, V15.B16
	WORD $0x0e318180 // smlal v0.8h, v12.8b, v17.8b
	WORD $0x0e3181a2 // smlal v2.8h, v13.8b, v17.8b
	WORD $0x0e3181c4 // smlal v4.8h, v14.8b, v17.8b
	WORD $0x0e3181e6 // smlal v6.8h, v15.8b, v17.8b
	WORD $0x4e318181 // smlal2 v1.8h, v12.16b, v17.16b
	WORD $0x4e3181a3 // smlal2 v3.8h, v13.16b, v17.16b
	WORD $0x4e3181c5 // smlal2 v5.8h, v14.16b, v17.16b
	WORD $0x4e3181e7 // smlal2 v7.8h, v15.16b, v17.16b
	VUSHR $4, V20.B16, V12.B16
	VUSHR $4, V21.B16, V13.B16
	VUSHR $4, V22.B16, V14.B16
	VUSHR $4, V23.B16, V15.B16
	VAND V28.B16, V12.B16, V12.B16
	VAND V28.B16, V13.B16, V13.B16
	VAND V28.B16, V14.B16, V14.B16
	VAND V28.B16, V15.B16, V15.B16
	WORD $0x0e328180 // smlal v0.8h, v12.8b, v18.8b
	WORD $0x0e3281a2 // smlal v2.8h, v13.8b, v18.8b
	WORD $0x0e3281c4 // smlal v4.8h, v14.8b, v18.8b
	WORD $0x0e3281e6 // smlal v6.8h, v15.8b, v18.8b
	WORD $0x4e328181 // smlal2 v1.8h, v12.16b, v18.16b
	WORD $0x4e3281a3 // smlal2 v3.8h, v13.16b, v18.16b
	WORD $0x4e3281c5 // smlal2 v5.8h, v14.16b, v18.16b
	WORD $0x4e3281e7 // smlal2 v7.8h, v15.16b, v18.16b
	VUSHR $6, V20.B16, V12.B16
	VUSHR $6, V21.B16, V13.B16
	VUSHR $6, V22.B16, V14.B16
	VUSHR $6, V23.B16, V15.B16
	WORD $0x0e338180 // smlal v0.8h, v12.8b, v19.8b
	WORD $0x0e3381a2 // smlal v2.8h, v13.8b, v19.8b
	WORD $0x0e3381c4 // smlal v4.8h, v14.8b, v19.8b
	WORD $0x0e3381e6 // smlal v6.8h, v15.8b, v19.8b
	WORD $0x4e338181 // smlal2 v1.8h, v12.16b, v19.16b
	WORD $0x4e3381a3 // smlal2 v3.8h, v13.16b, v19.16b
	WORD $0x4e3381c5 // smlal2 v5.8h, v14.16b, v19.16b
	WORD $0x4e3381e7 // smlal2 v7.8h, v15.16b, v19.16b
	SUBS $1, R19, R19
	BNE dword

	WORD $0x4e602800 // saddlp v0.4s, v0.8h
	WORD $0x4e602821 // saddlp v1.4s, v1.8h
	WORD $0x4e602842 // saddlp v2.4s, v2.8h
	WORD $0x4e602863 // saddlp v3.4s, v3.8h
	WORD $0x4e602884 // saddlp v4.4s, v4.8h
	WORD $0x4e6028a5 // saddlp v5.4s, v5.8h
	WORD $0x4e6028c6 // saddlp v6.4s, v6.8h
	WORD $0x4e6028e7 // saddlp v7.4s, v7.8h
	VADDP V1.S4, V0.S4, V0.S4
	VADDP V3.S4, V2.S4, V1.S4
	VADDP V5.S4, V4.S4, V2.S4
	VADDP V7.S4, V6.S4, V3.S4
	FLDPQ.P 32(R13), (F16, F18)
	WORD $0x4e217a11 // fcvtl2 v17.4s, v16.8h
	WORD $0x0e217a10 // fcvtl v16.4s, v16.4h
	WORD $0x4e217a53 // fcvtl2 v19.4s, v18.8h
	WORD $0x0e217a52 // fcvtl v18.4s, v18.4h
	WORD $0x4f9a9210 // fmul v16.4s, v16.4s, v26.s[0]
	WORD $0x4f9a9231 // fmul v17.4s, v17.4s, v26.s[0]
	WORD $0x4f9a9252 // fmul v18.4s, v18.4s, v26.s[0]
	WORD $0x4f9a9273 // fmul v19.4s, v19.4s, v26.s[0]
	VSUB V27.S4, V0.S4, V0.S4
	VSUB V27.S4, V1.S4, V1.S4
	VSUB V27.S4, V2.S4, V2.S4
	VSUB V27.S4, V3.S4, V3.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e20de00 // fmul v0.4s, v16.4s, v0.4s
	WORD $0x6e21de21 // fmul v1.4s, v17.4s, v1.4s
	WORD $0x6e22de42 // fmul v2.4s, v18.4s, v2.4s
	WORD $0x6e23de63 // fmul v3.4s, v19.4s, v3.4s
	FLDPQ 0(R4), (F20, F21)
	FLDPQ 32(R4), (F22, F23)
	WORD $0x4e20d694 // fadd v20.4s, v20.4s, v0.4s
	WORD $0x4e21d6b5 // fadd v21.4s, v21.4s, v1.4s
	WORD $0x4e22d6d6 // fadd v22.4s, v22.4s, v2.4s
	WORD $0x4e23d6f7 // fadd v23.4s, v23.4s, v3.4s
	FSTPQ (F20, F21), 0(R4)
	FSTPQ (F22, F23), 32(R4)
	ADD $64, R4
	ADD $64, R1
	SUBS $1, R12, R12
	BNE rows

	// The next block lies behind the scales.
	MOVD R13, R1
	MOVD R15, R5
	SUB $256, R4
	SUBS $1, R8, R8
	BNE block

	CMP $64, R3
	BLT few
	FLDPQ 0(R4), (F0, F1)
	FLDPQ 32(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	FLDPQ 64(R4), (F0, F1)
	FLDPQ 96(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	FLDPQ 128(R4), (F0, F1)
	FLDPQ 160(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	FLDPQ 192(R4), (F0, F1)
	FLDPQ 224(R4), (F2, F3)
	FSTPQ.P (F0, F1), 32(R0)
	FSTPQ.P (F2, F3), 32(R0)
	SUBS $64, R3, R3
	BNE tile
	RET

few:
	FMOVS.P 4(R4), F0
	FMOVS.P F0, 4(R0)
	SUBS $1, R3, R3
	BNE few
	RET

// func codes64Batch16NEONDot(dst *float32, data *byte, back, blocks, dwords int, q *int8, scales *[16]*float32, scaleShift int)
//
// The sums of a block, 4 rows of a column each, begin with V0. V30: the weight scales of
// the rows.
TEXT ·codes64Batch16NEONDot(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R8
	MOVD back+16(FP), R6
	MOVD blocks+24(FP), R3
	MOVD dwords+32(FP), R5
	MOVD q+40(FP), R4
	MOVD scales+48(FP), R12
	MOVD scaleShift+56(FP), R13
	VMOVI $3, V31.B16
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F0, F1), 32(R0)
	FSTPQ (F0, F1), 64(R0)
	FSTPQ (F0, F1), 96(R0)
	FSTPQ (F0, F1), 128(R0)
	FSTPQ (F0, F1), 160(R0)
	FSTPQ (F0, F1), 192(R0)
	FSTPQ (F0, F1), 224(R0)
	MOVD $0, R14

block:
	ADD R5<<8, R8, R15
	SUB R6, R15
	FMOVD (R15), F30
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	VLD1R.P 4(R4), [V0.S4]
	VLD1R.P 4(R4), [V1.S4]
	VLD1R.P 4(R4), [V2.S4]
	VLD1R.P 4(R4), [V3.S4]
	VLD1R.P 4(R4), [V4.S4]
	VLD1R.P 4(R4), [V5.S4]
	VLD1R.P 4(R4), [V6.S4]
	VLD1R.P 4(R4), [V7.S4]
	VLD1R.P 4(R4), [V8.S4]
	VLD1R.P 4(R4), [V9.S4]
	VLD1R.P 4(R4), [V10.S4]
	VLD1R.P 4(R4), [V11.S4]
	VLD1R.P 4(R4), [V12.S4]
	VLD1R.P 4(R4), [V13.S4]
	VLD1R.P 4(R4), [V14.S4]
	VLD1R.P 4(R4), [V15.S4]
	MOVD R5, R15

step:
	// V20: 4 bytes of each row, a dword of activations for each of their shifts.
	FMOVQ (R8), F20
	PRFM 2048(R8), PLDL1KEEP
	ADD $256, R8
	FLDPQ.P 32(R4), (F24, F25)
	FLDPQ.P 32(R4), (F26, F27)
	VAND V31.B16, V20.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	WORD $0x4f9ae2a8 // sdot v8.4s, v21.16b, v26.4b[0]
	WORD $0x4fbae2a9 // sdot v9.4s, v21.16b, v26.4b[1]
	WORD $0x4f9aeaaa // sdot v10.4s, v21.16b, v26.4b[2]
	WORD $0x4fbaeaab // sdot v11.4s, v21.16b, v26.4b[3]
	WORD $0x4f9be2ac // sdot v12.4s, v21.16b, v27.4b[0]
	WORD $0x4fbbe2ad // sdot v13.4s, v21.16b, v27.4b[1]
	WORD $0x4f9beaae // sdot v14.4s, v21.16b, v27.4b[2]
	WORD $0x4fbbeaaf // sdot v15.4s, v21.16b, v27.4b[3]
	FLDPQ.P 32(R4), (F24, F25)
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $2, V20.B16, V21.B16
	VAND V31.B16, V21.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	WORD $0x4f9ae2a8 // sdot v8.4s, v21.16b, v26.4b[0]
	WORD $0x4fbae2a9 // sdot v9.4s, v21.16b, v26.4b[1]
	WORD $0x4f9aeaaa // sdot v10.4s, v21.16b, v26.4b[2]
	WORD $0x4fbaeaab // sdot v11.4s, v21.16b, v26.4b[3]
	WORD $0x4f9be2ac // sdot v12.4s, v21.16b, v27.4b[0]
	WORD $0x4fbbe2ad // sdot v13.4s, v21.16b, v27.4b[1]
	WORD $0x4f9beaae // sdot v14.4s, v21.16b, v27.4b[2]
	WORD $0x4fbbeaaf // sdot v15.4s, v21.16b, v27.4b[3]
	FLDPQ.P 32(R4), (F24, F25)
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $4, V20.B16, V21.B16
	VAND V31.B16, V21.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	WORD $0x4f9ae2a8 // sdot v8.4s, v21.16b, v26.4b[0]
	WORD $0x4fbae2a9 // sdot v9.4s, v21.16b, v26.4b[1]
	WORD $0x4f9aeaaa // sdot v10.4s, v21.16b, v26.4b[2]
	WORD $0x4fbaeaab // sdot v11.4s, v21.16b, v26.4b[3]
	WORD $0x4f9be2ac // sdot v12.4s, v21.16b, v27.4b[0]
	WORD $0x4fbbe2ad // sdot v13.4s, v21.16b, v27.4b[1]
	WORD $0x4f9beaae // sdot v14.4s, v21.16b, v27.4b[2]
	WORD $0x4fbbeaaf // sdot v15.4s, v21.16b, v27.4b[3]
	FLDPQ.P 32(R4), (F24, F25)
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $6, V20.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	WORD $0x4f9ae2a8 // sdot v8.4s, v21.16b, v26.4b[0]
	WORD $0x4fbae2a9 // sdot v9.4s, v21.16b, v26.4b[1]
	WORD $0x4f9aeaaa // sdot v10.4s, v21.16b, v26.4b[2]
	WORD $0x4fbaeaab // sdot v11.4s, v21.16b, v26.4b[3]
	WORD $0x4f9be2ac // sdot v12.4s, v21.16b, v27.4b[0]
	WORD $0x4fbbe2ad // sdot v13.4s, v21.16b, v27.4b[1]
	WORD $0x4f9beaae // sdot v14.4s, v21.16b, v27.4b[2]
	WORD $0x4fbbeaaf // sdot v15.4s, v21.16b, v27.4b[3]
	SUBS $1, R15, R15
	BNE step

	// The terms. R16 is the number of the activation scale.
	LSR R13, R14, R16
	FLDPQ 0(R0), (F24, F25)
	MOVD 0(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e20dea0 // fmul v0.4s, v21.4s, v0.4s
	WORD $0x4e20d718 // fadd v24.4s, v24.4s, v0.4s
	MOVD 8(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e21dea1 // fmul v1.4s, v21.4s, v1.4s
	WORD $0x4e21d739 // fadd v25.4s, v25.4s, v1.4s
	FSTPQ (F24, F25), 0(R0)
	FLDPQ 32(R0), (F24, F25)
	MOVD 16(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e22dea2 // fmul v2.4s, v21.4s, v2.4s
	WORD $0x4e22d718 // fadd v24.4s, v24.4s, v2.4s
	MOVD 24(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e23dea3 // fmul v3.4s, v21.4s, v3.4s
	WORD $0x4e23d739 // fadd v25.4s, v25.4s, v3.4s
	FSTPQ (F24, F25), 32(R0)
	FLDPQ 64(R0), (F24, F25)
	MOVD 32(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e24dea4 // fmul v4.4s, v21.4s, v4.4s
	WORD $0x4e24d718 // fadd v24.4s, v24.4s, v4.4s
	MOVD 40(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e25dea5 // fmul v5.4s, v21.4s, v5.4s
	WORD $0x4e25d739 // fadd v25.4s, v25.4s, v5.4s
	FSTPQ (F24, F25), 64(R0)
	FLDPQ 96(R0), (F24, F25)
	MOVD 48(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e26dea6 // fmul v6.4s, v21.4s, v6.4s
	WORD $0x4e26d718 // fadd v24.4s, v24.4s, v6.4s
	MOVD 56(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e27dea7 // fmul v7.4s, v21.4s, v7.4s
	WORD $0x4e27d739 // fadd v25.4s, v25.4s, v7.4s
	FSTPQ (F24, F25), 96(R0)
	FLDPQ 128(R0), (F24, F25)
	MOVD 64(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e28dea8 // fmul v8.4s, v21.4s, v8.4s
	WORD $0x4e28d718 // fadd v24.4s, v24.4s, v8.4s
	MOVD 72(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d929 // scvtf v9.4s, v9.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e29dea9 // fmul v9.4s, v21.4s, v9.4s
	WORD $0x4e29d739 // fadd v25.4s, v25.4s, v9.4s
	FSTPQ (F24, F25), 128(R0)
	FLDPQ 160(R0), (F24, F25)
	MOVD 80(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e2adeaa // fmul v10.4s, v21.4s, v10.4s
	WORD $0x4e2ad718 // fadd v24.4s, v24.4s, v10.4s
	MOVD 88(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d96b // scvtf v11.4s, v11.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e2bdeab // fmul v11.4s, v21.4s, v11.4s
	WORD $0x4e2bd739 // fadd v25.4s, v25.4s, v11.4s
	FSTPQ (F24, F25), 160(R0)
	FLDPQ 192(R0), (F24, F25)
	MOVD 96(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d98c // scvtf v12.4s, v12.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e2cdeac // fmul v12.4s, v21.4s, v12.4s
	WORD $0x4e2cd718 // fadd v24.4s, v24.4s, v12.4s
	MOVD 104(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d9ad // scvtf v13.4s, v13.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e2ddead // fmul v13.4s, v21.4s, v13.4s
	WORD $0x4e2dd739 // fadd v25.4s, v25.4s, v13.4s
	FSTPQ (F24, F25), 192(R0)
	FLDPQ 224(R0), (F24, F25)
	MOVD 112(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d9ce // scvtf v14.4s, v14.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e2edeae // fmul v14.4s, v21.4s, v14.4s
	WORD $0x4e2ed718 // fadd v24.4s, v24.4s, v14.4s
	MOVD 120(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d9ef // scvtf v15.4s, v15.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e2fdeaf // fmul v15.4s, v21.4s, v15.4s
	WORD $0x4e2fd739 // fadd v25.4s, v25.4s, v15.4s
	FSTPQ (F24, F25), 224(R0)
	ADD $128, R8 // the scales of the tile
	ADD $1, R14
	CMP R3, R14
	BNE block
	RET

// func codes64Batch8NEONDot(dst *float32, data *byte, back, blocks, dwords int, q *int8, scales *[16]*float32, scaleShift int)
//
// The sums of a block, 4 rows of a column each, begin with V0. V30: the weight scales of
// the rows.
TEXT ·codes64Batch8NEONDot(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R8
	MOVD back+16(FP), R6
	MOVD blocks+24(FP), R3
	MOVD dwords+32(FP), R5
	MOVD q+40(FP), R4
	MOVD scales+48(FP), R12
	MOVD scaleShift+56(FP), R13
	VMOVI $3, V31.B16
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F0, F1), 32(R0)
	FSTPQ (F0, F1), 64(R0)
	FSTPQ (F0, F1), 96(R0)
	MOVD $0, R14

block:
	ADD R5<<8, R8, R15
	SUB R6, R15
	FMOVD (R15), F30
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	VLD1R.P 4(R4), [V0.S4]
	VLD1R.P 4(R4), [V1.S4]
	VLD1R.P 4(R4), [V2.S4]
	VLD1R.P 4(R4), [V3.S4]
	VLD1R.P 4(R4), [V4.S4]
	VLD1R.P 4(R4), [V5.S4]
	VLD1R.P 4(R4), [V6.S4]
	VLD1R.P 4(R4), [V7.S4]
	MOVD R5, R15

step:
	// V20: 4 bytes of each row, a dword of activations for each of their shifts.
	FMOVQ (R8), F20
	PRFM 2048(R8), PLDL1KEEP
	ADD $256, R8
	FLDPQ.P 32(R4), (F24, F25)
	VAND V31.B16, V20.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	FLDPQ.P 32(R4), (F24, F25)
	VUSHR $2, V20.B16, V21.B16
	VAND V31.B16, V21.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	FLDPQ.P 32(R4), (F24, F25)
	VUSHR $4, V20.B16, V21.B16
	VAND V31.B16, V21.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	FLDPQ.P 32(R4), (F24, F25)
	VUSHR $6, V20.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	WORD $0x4f99e2a4 // sdot v4.4s, v21.16b, v25.4b[0]
	WORD $0x4fb9e2a5 // sdot v5.4s, v21.16b, v25.4b[1]
	WORD $0x4f99eaa6 // sdot v6.4s, v21.16b, v25.4b[2]
	WORD $0x4fb9eaa7 // sdot v7.4s, v21.16b, v25.4b[3]
	SUBS $1, R15, R15
	BNE step

	// The terms. R16 is the number of the activation scale.
	LSR R13, R14, R16
	FLDPQ 0(R0), (F24, F25)
	MOVD 0(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e20dea0 // fmul v0.4s, v21.4s, v0.4s
	WORD $0x4e20d718 // fadd v24.4s, v24.4s, v0.4s
	MOVD 8(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e21dea1 // fmul v1.4s, v21.4s, v1.4s
	WORD $0x4e21d739 // fadd v25.4s, v25.4s, v1.4s
	FSTPQ (F24, F25), 0(R0)
	FLDPQ 32(R0), (F24, F25)
	MOVD 16(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e22dea2 // fmul v2.4s, v21.4s, v2.4s
	WORD $0x4e22d718 // fadd v24.4s, v24.4s, v2.4s
	MOVD 24(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e23dea3 // fmul v3.4s, v21.4s, v3.4s
	WORD $0x4e23d739 // fadd v25.4s, v25.4s, v3.4s
	FSTPQ (F24, F25), 32(R0)
	FLDPQ 64(R0), (F24, F25)
	MOVD 32(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e24dea4 // fmul v4.4s, v21.4s, v4.4s
	WORD $0x4e24d718 // fadd v24.4s, v24.4s, v4.4s
	MOVD 40(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e25dea5 // fmul v5.4s, v21.4s, v5.4s
	WORD $0x4e25d739 // fadd v25.4s, v25.4s, v5.4s
	FSTPQ (F24, F25), 64(R0)
	FLDPQ 96(R0), (F24, F25)
	MOVD 48(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e26dea6 // fmul v6.4s, v21.4s, v6.4s
	WORD $0x4e26d718 // fadd v24.4s, v24.4s, v6.4s
	MOVD 56(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e27dea7 // fmul v7.4s, v21.4s, v7.4s
	WORD $0x4e27d739 // fadd v25.4s, v25.4s, v7.4s
	FSTPQ (F24, F25), 96(R0)
	ADD $128, R8 // the scales of the tile
	ADD $1, R14
	CMP R3, R14
	BNE block
	RET

// func codes64Batch4NEONDot(dst *float32, data *byte, back, blocks, dwords int, q *int8, scales *[16]*float32, scaleShift int)
//
// The sums of a block, 4 rows of a column each, begin with V0. V30: the weight scales of
// the rows.
TEXT ·codes64Batch4NEONDot(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R8
	MOVD back+16(FP), R6
	MOVD blocks+24(FP), R3
	MOVD dwords+32(FP), R5
	MOVD q+40(FP), R4
	MOVD scales+48(FP), R12
	MOVD scaleShift+56(FP), R13
	VMOVI $3, V31.B16
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F0, F1), 32(R0)
	MOVD $0, R14

block:
	ADD R5<<8, R8, R15
	SUB R6, R15
	FMOVD (R15), F30
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	VLD1R.P 4(R4), [V0.S4]
	VLD1R.P 4(R4), [V1.S4]
	VLD1R.P 4(R4), [V2.S4]
	VLD1R.P 4(R4), [V3.S4]
	MOVD R5, R15

step:
	// V20: 4 bytes of each row, a dword of activations for each of their shifts.
	FMOVQ (R8), F20
	PRFM 2048(R8), PLDL1KEEP
	ADD $256, R8
	FMOVQ.P 16(R4), F24
	VAND V31.B16, V20.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	FMOVQ.P 16(R4), F24
	VUSHR $2, V20.B16, V21.B16
	VAND V31.B16, V21.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	FMOVQ.P 16(R4), F24
	VUSHR $4, V20.B16, V21.B16
	VAND V31.B16, V21.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	FMOVQ.P 16(R4), F24
	VUSHR $6, V20.B16, V21.B16
	WORD $0x4f98e2a0 // sdot v0.4s, v21.16b, v24.4b[0]
	WORD $0x4fb8e2a1 // sdot v1.4s, v21.16b, v24.4b[1]
	WORD $0x4f98eaa2 // sdot v2.4s, v21.16b, v24.4b[2]
	WORD $0x4fb8eaa3 // sdot v3.4s, v21.16b, v24.4b[3]
	SUBS $1, R15, R15
	BNE step

	// The terms. R16 is the number of the activation scale.
	LSR R13, R14, R16
	FLDPQ 0(R0), (F24, F25)
	MOVD 0(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e20dea0 // fmul v0.4s, v21.4s, v0.4s
	WORD $0x4e20d718 // fadd v24.4s, v24.4s, v0.4s
	MOVD 8(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e21dea1 // fmul v1.4s, v21.4s, v1.4s
	WORD $0x4e21d739 // fadd v25.4s, v25.4s, v1.4s
	FSTPQ (F24, F25), 0(R0)
	FLDPQ 32(R0), (F24, F25)
	MOVD 16(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e22dea2 // fmul v2.4s, v21.4s, v2.4s
	WORD $0x4e22d718 // fadd v24.4s, v24.4s, v2.4s
	MOVD 24(R12), R15
	FMOVS (R15)(R16<<2), F21
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x4f9593d5 // fmul v21.4s, v30.4s, v21.s[0]
	WORD $0x6e23dea3 // fmul v3.4s, v21.4s, v3.4s
	WORD $0x4e23d739 // fadd v25.4s, v25.4s, v3.4s
	FSTPQ (F24, F25), 32(R0)
	ADD $128, R8 // the scales of the tile
	ADD $1, R14
	CMP R3, R14
	BNE block
	RET
