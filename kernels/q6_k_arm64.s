//go:build !purego

#include "textflag.h"

// func q6RowsNEON(dst *float32, w *byte, stride int, q *int8, scales *float32, blocks, tiles int)
//
// The product of q6_k, a row at a time; a tile is a row. It equals
//
//	for r := range tiles {
//		dst[r] = 0
//		for g := range 8 * blocks {
//			var sum int32
//			for k := 32 * g; k < 32*g+32; k++ {
//				sum += q6Code(w[r*stride:], k) * int32(q[k])
//			}
//			dst[r] += term(fp16At(w, r*stride+g/8*210+208), scales[g], sum)
//		}
//	}
//
// Six bits less 32 times q, two of them added, stay within 2·32·127 = 8128. V0
// to V7 are the sums of the groups of a block, F31 that of the row: the chain
// of 8 additions is shorter than it takes to decode a block.
TEXT ·q6RowsNEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD q+24(FP), R3
	MOVD scales+32(FP), R4
	MOVD blocks+40(FP), R5
	MOVD tiles+48(FP), R6
	VMOVI $0x0f, V28.B16
	VMOVI $0x30, V29.B16
	VMOVI $32, V30.B16

row:
	MOVD R1, R8
	MOVD R3, R9
	MOVD R4, R10
	MOVD R5, R11
	VEOR V31.B16, V31.B16, V31.B16

block:
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4160(R8), PLDL1KEEP
	PRFM 4224(R8), PLDL1KEEP
	PRFM 4288(R8), PLDL1KEEP

	// V14, V15: the 16 int8 scales, as int16.
	FMOVQ 192(R8), F22
	WORD $0x0f08a6ce // sshll v14.8h, v22.8b, #0
	WORD $0x4f08a6cf // sshll2 v15.8h, v22.16b, #0

	FLDPQ 0(R8), (F16, F17)
	FLDPQ 32(R8), (F18, F19)
	FLDPQ 128(R8), (F20, F21)

	// Columns 0 to 31.
	FLDPQ 0(R9), (F22, F23)
	VAND V28.B16, V16.B16, V24.B16
	VSHL $4, V20.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f4ea320 // smull v0.4s, v25.4h, v14.h[0]
	WORD $0x4f4e2320 // smlal2 v0.4s, v25.8h, v14.h[0]
	VAND V28.B16, V17.B16, V24.B16
	VSHL $4, V21.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f5e2320 // smlal v0.4s, v25.4h, v14.h[1]
	WORD $0x4f5e2320 // smlal2 v0.4s, v25.8h, v14.h[1]

	// Columns 32 to 63.
	FLDPQ 32(R9), (F22, F23)
	VAND V28.B16, V18.B16, V24.B16
	VSHL $2, V20.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f6ea321 // smull v1.4s, v25.4h, v14.h[2]
	WORD $0x4f6e2321 // smlal2 v1.4s, v25.8h, v14.h[2]
	VAND V28.B16, V19.B16, V24.B16
	VSHL $2, V21.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f7e2321 // smlal v1.4s, v25.4h, v14.h[3]
	WORD $0x4f7e2321 // smlal2 v1.4s, v25.8h, v14.h[3]

	// Columns 64 to 95.
	FLDPQ 64(R9), (F22, F23)
	VUSHR $4, V16.B16, V24.B16
	VAND V29.B16, V20.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f4eab22 // smull v2.4s, v25.4h, v14.h[4]
	WORD $0x4f4e2b22 // smlal2 v2.4s, v25.8h, v14.h[4]
	VUSHR $4, V17.B16, V24.B16
	VAND V29.B16, V21.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f5e2b22 // smlal v2.4s, v25.4h, v14.h[5]
	WORD $0x4f5e2b22 // smlal2 v2.4s, v25.8h, v14.h[5]

	// Columns 96 to 127.
	FLDPQ 96(R9), (F22, F23)
	VUSHR $4, V18.B16, V24.B16
	VUSHR $2, V20.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f6eab23 // smull v3.4s, v25.4h, v14.h[6]
	WORD $0x4f6e2b23 // smlal2 v3.4s, v25.8h, v14.h[6]
	VUSHR $4, V19.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f7e2b23 // smlal v3.4s, v25.4h, v14.h[7]
	WORD $0x4f7e2b23 // smlal2 v3.4s, v25.8h, v14.h[7]

	FLDPQ 64(R8), (F16, F17)
	FLDPQ 96(R8), (F18, F19)
	FLDPQ 160(R8), (F20, F21)

	// Columns 128 to 159.
	FLDPQ 128(R9), (F22, F23)
	VAND V28.B16, V16.B16, V24.B16
	VSHL $4, V20.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f4fa324 // smull v4.4s, v25.4h, v15.h[0]
	WORD $0x4f4f2324 // smlal2 v4.4s, v25.8h, v15.h[0]
	VAND V28.B16, V17.B16, V24.B16
	VSHL $4, V21.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f5f2324 // smlal v4.4s, v25.4h, v15.h[1]
	WORD $0x4f5f2324 // smlal2 v4.4s, v25.8h, v15.h[1]

	// Columns 160 to 191.
	FLDPQ 160(R9), (F22, F23)
	VAND V28.B16, V18.B16, V24.B16
	VSHL $2, V20.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f6fa325 // smull v5.4s, v25.4h, v15.h[2]
	WORD $0x4f6f2325 // smlal2 v5.4s, v25.8h, v15.h[2]
	VAND V28.B16, V19.B16, V24.B16
	VSHL $2, V21.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f7f2325 // smlal v5.4s, v25.4h, v15.h[3]
	WORD $0x4f7f2325 // smlal2 v5.4s, v25.8h, v15.h[3]

	// Columns 192 to 223.
	FLDPQ 192(R9), (F22, F23)
	VUSHR $4, V16.B16, V24.B16
	VAND V29.B16, V20.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f4fab26 // smull v6.4s, v25.4h, v15.h[4]
	WORD $0x4f4f2b26 // smlal2 v6.4s, v25.8h, v15.h[4]
	VUSHR $4, V17.B16, V24.B16
	VAND V29.B16, V21.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f5f2b26 // smlal v6.4s, v25.4h, v15.h[5]
	WORD $0x4f5f2b26 // smlal2 v6.4s, v25.8h, v15.h[5]

	// Columns 224 to 255.
	FLDPQ 224(R9), (F22, F23)
	VUSHR $4, V18.B16, V24.B16
	VUSHR $2, V20.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e36c319 // smull v25.8h, v24.8b, v22.8b
	WORD $0x4e368319 // smlal2 v25.8h, v24.16b, v22.16b
	WORD $0x0f6fab27 // smull v7.4s, v25.4h, v15.h[6]
	WORD $0x4f6f2b27 // smlal2 v7.4s, v25.8h, v15.h[6]
	VUSHR $4, V19.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VAND V29.B16, V25.B16, V25.B16
	VORR V25.B16, V24.B16, V24.B16
	VSUB V30.B16, V24.B16, V24.B16
	WORD $0x0e37c319 // smull v25.8h, v24.8b, v23.8b
	WORD $0x4e378319 // smlal2 v25.8h, v24.16b, v23.16b
	WORD $0x0f7f2b27 // smlal v7.4s, v25.4h, v15.h[7]
	WORD $0x4f7f2b27 // smlal2 v7.4s, v25.8h, v15.h[7]

	// V0, V4: the terms of the groups.
	VADDP V1.S4, V0.S4, V0.S4
	VADDP V3.S4, V2.S4, V2.S4
	VADDP V2.S4, V0.S4, V0.S4
	VADDP V5.S4, V4.S4, V4.S4
	VADDP V7.S4, V6.S4, V6.S4
	VADDP V6.S4, V4.S4, V4.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	MOVHU 208(R8), R12
	FMOVS R12, F12
	FCVTHS F12, F12
	FLDPQ (R10), (F10, F11)
	WORD $0x4f8c914a // fmul v10.4s, v10.4s, v12.s[0]
	WORD $0x4f8c916b // fmul v11.4s, v11.4s, v12.s[0]
	WORD $0x6e2adc00 // fmul v0.4s, v0.4s, v10.4s
	WORD $0x6e2bdc84 // fmul v4.4s, v4.4s, v11.4s

	FADDS F0, F31, F31
	VDUP V0.S[1], V1.S4
	FADDS F1, F31, F31
	VDUP V0.S[2], V1.S4
	FADDS F1, F31, F31
	VDUP V0.S[3], V1.S4
	FADDS F1, F31, F31
	FADDS F4, F31, F31
	VDUP V4.S[1], V1.S4
	FADDS F1, F31, F31
	VDUP V4.S[2], V1.S4
	FADDS F1, F31, F31
	VDUP V4.S[3], V1.S4
	FADDS F1, F31, F31

	ADD $210, R8, R8
	ADD $256, R9, R9
	ADD $32, R10, R10
	SUBS $1, R11, R11
	BNE block

	FMOVS F31, (R0)
	ADD $4, R0, R0
	ADD R2, R1, R1
	SUBS $1, R6, R6
	BNE row
	RET
