//go:build !purego

#include "textflag.h"

// Batches of the 2-bit formats: 4 rows in the lanes of a register meet 4, 8 or
// 16 columns, whose activations are the elements of others.

// func twoBitBatch16NEONDot(dst *float32, w *byte, stride, blocks, dwords, scaleAt int, weights *float32, q *int8, scales *[16]*float32, scaleShift int)
//
// V0 to V15 are the sums of a block, 4 rows of a column each. V30: the weight
// scales of the rows.
TEXT ·twoBitBatch16NEONDot(SB), NOSPLIT, $0-80
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R8
	MOVD stride+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD dwords+32(FP), R5
	MOVD scaleAt+40(FP), R6
	MOVD weights+48(FP), R7
	MOVD q+56(FP), R4
	MOVD scales+64(FP), R12
	MOVD scaleShift+72(FP), R13
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
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
	CBNZ R7, tensor
	ADD R8, R6, R15
	VLD1 (R15), V30.H[0]
	ADD R9, R6, R15
	VLD1 (R15), V30.H[1]
	ADD R10, R6, R15
	VLD1 (R15), V30.H[2]
	ADD R11, R6, R15
	VLD1 (R15), V30.H[3]
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	B start

tensor:
	FMOVQ (R7), F30

start:
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
	FMOVS.P 4(R8), F20
	VLD1.P 4(R9), V20.S[1]
	VLD1.P 4(R10), V20.S[2]
	VLD1.P 4(R11), V20.S[3]
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
	// Two bytes of the block are left: its scale, or the next one's.
	ADD $2, R8
	ADD $2, R9
	ADD $2, R10
	ADD $2, R11
	ADD $1, R14
	CMP R3, R14
	BNE block
	RET

// func twoBitBatch8NEONDot(dst *float32, w *byte, stride, blocks, dwords, scaleAt int, weights *float32, q *int8, scales *[16]*float32, scaleShift int)
//
// V0 to V7 are the sums of a block, 4 rows of a column each. V30: the weight
// scales of the rows.
TEXT ·twoBitBatch8NEONDot(SB), NOSPLIT, $0-80
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R8
	MOVD stride+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD dwords+32(FP), R5
	MOVD scaleAt+40(FP), R6
	MOVD weights+48(FP), R7
	MOVD q+56(FP), R4
	MOVD scales+64(FP), R12
	MOVD scaleShift+72(FP), R13
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	VMOVI $3, V31.B16
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F0, F1), 32(R0)
	FSTPQ (F0, F1), 64(R0)
	FSTPQ (F0, F1), 96(R0)
	MOVD $0, R14

block:
	CBNZ R7, tensor
	ADD R8, R6, R15
	VLD1 (R15), V30.H[0]
	ADD R9, R6, R15
	VLD1 (R15), V30.H[1]
	ADD R10, R6, R15
	VLD1 (R15), V30.H[2]
	ADD R11, R6, R15
	VLD1 (R15), V30.H[3]
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	B start

tensor:
	FMOVQ (R7), F30

start:
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
	FMOVS.P 4(R8), F20
	VLD1.P 4(R9), V20.S[1]
	VLD1.P 4(R10), V20.S[2]
	VLD1.P 4(R11), V20.S[3]
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
	// Two bytes of the block are left: its scale, or the next one's.
	ADD $2, R8
	ADD $2, R9
	ADD $2, R10
	ADD $2, R11
	ADD $1, R14
	CMP R3, R14
	BNE block
	RET

// func twoBitBatch4NEONDot(dst *float32, w *byte, stride, blocks, dwords, scaleAt int, weights *float32, q *int8, scales *[16]*float32, scaleShift int)
//
// V0 to V3 are the sums of a block, 4 rows of a column each. V30: the weight
// scales of the rows.
TEXT ·twoBitBatch4NEONDot(SB), NOSPLIT, $0-80
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R8
	MOVD stride+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD dwords+32(FP), R5
	MOVD scaleAt+40(FP), R6
	MOVD weights+48(FP), R7
	MOVD q+56(FP), R4
	MOVD scales+64(FP), R12
	MOVD scaleShift+72(FP), R13
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	VMOVI $3, V31.B16
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F0, F1), 32(R0)
	MOVD $0, R14

block:
	CBNZ R7, tensor
	ADD R8, R6, R15
	VLD1 (R15), V30.H[0]
	ADD R9, R6, R15
	VLD1 (R15), V30.H[1]
	ADD R10, R6, R15
	VLD1 (R15), V30.H[2]
	ADD R11, R6, R15
	VLD1 (R15), V30.H[3]
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	B start

tensor:
	FMOVQ (R7), F30

start:
	VLD1R.P 4(R4), [V0.S4]
	VLD1R.P 4(R4), [V1.S4]
	VLD1R.P 4(R4), [V2.S4]
	VLD1R.P 4(R4), [V3.S4]
	MOVD R5, R15

step:
	// V20: 4 bytes of each row, a dword of activations for each of their shifts.
	FMOVS.P 4(R8), F20
	VLD1.P 4(R9), V20.S[1]
	VLD1.P 4(R10), V20.S[2]
	VLD1.P 4(R11), V20.S[3]
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
	// Two bytes of the block are left: its scale, or the next one's.
	ADD $2, R8
	ADD $2, R9
	ADD $2, R10
	ADD $2, R11
	ADD $1, R14
	CMP R3, R14
	BNE block
	RET

// func arrangeColumnsNEONDot(dst, q0, q1, q2, q3 *int8, groups, step int)
TEXT ·arrangeColumnsNEONDot(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD q0+8(FP), R1
	MOVD q1+16(FP), R2
	MOVD q2+24(FP), R3
	MOVD q3+32(FP), R4
	MOVD groups+40(FP), R5
	MOVD step+48(FP), R6
	// V16: the columns' sums, V17: ones.
	VEOR V16.B16, V16.B16, V16.B16
	VMOVI $1, V17.B16
	LSL $2, R6, R7
	ADD R6, R0, R8

group:
	MOVD $4, R9

shift:
	FMOVQ.P 16(R1), F0
	FMOVQ.P 16(R2), F1
	FMOVQ.P 16(R3), F2
	FMOVQ.P 16(R4), F3
	VTRN1 V1.S4, V0.S4, V4.S4
	VTRN2 V1.S4, V0.S4, V5.S4
	VTRN1 V3.S4, V2.S4, V6.S4
	VTRN2 V3.S4, V2.S4, V7.S4
	VTRN1 V6.D2, V4.D2, V0.D2
	VTRN1 V7.D2, V5.D2, V1.D2
	VTRN2 V6.D2, V4.D2, V2.D2
	VTRN2 V7.D2, V5.D2, V3.D2
	MOVD R8, R10
	FMOVQ F0, (R10)
	ADD R7, R10
	WORD $0x4e919410 // sdot v16.4s, v0.16b, v17.16b
	FMOVQ F1, (R10)
	ADD R7, R10
	WORD $0x4e919430 // sdot v16.4s, v1.16b, v17.16b
	FMOVQ F2, (R10)
	ADD R7, R10
	WORD $0x4e919450 // sdot v16.4s, v2.16b, v17.16b
	FMOVQ F3, (R10)
	ADD R7, R10
	WORD $0x4e919470 // sdot v16.4s, v3.16b, v17.16b
	ADD R6, R8
	SUBS $1, R9, R9
	BNE shift
	// 4 of the 16 steps of a group have been passed.
	ADD R7<<1, R8
	ADD R7, R8
	SUBS $1, R5, R5
	BNE group

	WORD $0x6ea0ba10 // neg v16.4s, v16.4s
	FMOVQ F16, (R0)
	RET
