//go:build !purego

#include "textflag.h"

// The products of q8_0, 8 rows at a time, a block of each in a step. Terms are
// added in the order of the blocks, so rows lie in the lanes: V0 has rows 0 to 3,
// V1 rows 4 to 7. They equal
//
//	for r := range 8 * tiles {
//		dst[r] = 0
//		for b := range blocks {
//			var sum int32
//			for i := range 32 {
//				sum += int32(int8(w[r*stride+34*b+2+i])) * int32(q[32*b+i])
//			}
//			dst[r] += term(fp16At(w, r*stride+34*b), scales[b>>shift], sum)
//		}
//	}
//
// R8 to R15 are the rows, R16, R17, R19 and R20 every other row of the next
// tile, which are prefetched.

// func q8RowsNEONDot(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)
//
// Two SDOT per block.
TEXT ·q8RowsNEONDot(SB), NOSPLIT, $0-72
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD q+24(FP), R3
	MOVD scales+40(FP), R4
	MOVD shift+48(FP), R5
	MOVD blocks+56(FP), R6
	MOVD tiles+64(FP), R7

tile:
	MOVD R1, R8
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	ADD R2, R11, R12
	ADD R2, R12, R13
	ADD R2, R13, R14
	ADD R2, R14, R15
	ADD R2, R15, R16
	ADD R2<<1, R16, R17
	ADD R2<<1, R17, R19
	ADD R2<<1, R19, R20
	MOVD R3, R21
	MOVD $0, R22
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16

block:
	FLDPQ (R21), (F2, F3)
	ADD $32, R21, R21
	LSR R5, R22, R23
	FMOVS (R4)(R23<<2), F4
	PRFM (R16), PLDL1KEEP
	PRFM 64(R16), PLDL1KEEP
	PRFM (R17), PLDL1KEEP
	PRFM 64(R17), PLDL1KEEP
	PRFM (R19), PLDL1KEEP
	PRFM 64(R19), PLDL1KEEP
	PRFM (R20), PLDL1KEEP
	PRFM 64(R20), PLDL1KEEP

	// Rows 0 to 3: the sums in V16 to V19, the scales in V5.
	VLD1 (R8), V5.H[0]
	FMOVQ 2(R8), F6
	FMOVQ 18(R8), F7
	VEOR V16.B16, V16.B16, V16.B16
	WORD $0x4e8294d0 // sdot v16.4s, v6.16b, v2.16b
	WORD $0x4e8394f0 // sdot v16.4s, v7.16b, v3.16b
	ADD $34, R8, R8
	VLD1 (R9), V5.H[1]
	FMOVQ 2(R9), F6
	FMOVQ 18(R9), F7
	VEOR V17.B16, V17.B16, V17.B16
	WORD $0x4e8294d1 // sdot v17.4s, v6.16b, v2.16b
	WORD $0x4e8394f1 // sdot v17.4s, v7.16b, v3.16b
	ADD $34, R9, R9
	VLD1 (R10), V5.H[2]
	FMOVQ 2(R10), F6
	FMOVQ 18(R10), F7
	VEOR V18.B16, V18.B16, V18.B16
	WORD $0x4e8294d2 // sdot v18.4s, v6.16b, v2.16b
	WORD $0x4e8394f2 // sdot v18.4s, v7.16b, v3.16b
	ADD $34, R10, R10
	VLD1 (R11), V5.H[3]
	FMOVQ 2(R11), F6
	FMOVQ 18(R11), F7
	VEOR V19.B16, V19.B16, V19.B16
	WORD $0x4e8294d3 // sdot v19.4s, v6.16b, v2.16b
	WORD $0x4e8394f3 // sdot v19.4s, v7.16b, v3.16b
	ADD $34, R11, R11
	VADDP V17.S4, V16.S4, V16.S4
	VADDP V19.S4, V18.S4, V18.S4
	VADDP V18.S4, V16.S4, V16.S4
	WORD $0x4e21da10 // scvtf v16.4s, v16.4s
	WORD $0x0e2178a5 // fcvtl v5.4s, v5.4h
	WORD $0x4f8490a5 // fmul v5.4s, v5.4s, v4.s[0]
	WORD $0x6e30dca5 // fmul v5.4s, v5.4s, v16.4s
	WORD $0x4e25d400 // fadd v0.4s, v0.4s, v5.4s

	// Rows 4 to 7: the sums in V16 to V19, the scales in V5.
	VLD1 (R12), V5.H[0]
	FMOVQ 2(R12), F6
	FMOVQ 18(R12), F7
	VEOR V16.B16, V16.B16, V16.B16
	WORD $0x4e8294d0 // sdot v16.4s, v6.16b, v2.16b
	WORD $0x4e8394f0 // sdot v16.4s, v7.16b, v3.16b
	ADD $34, R12, R12
	VLD1 (R13), V5.H[1]
	FMOVQ 2(R13), F6
	FMOVQ 18(R13), F7
	VEOR V17.B16, V17.B16, V17.B16
	WORD $0x4e8294d1 // sdot v17.4s, v6.16b, v2.16b
	WORD $0x4e8394f1 // sdot v17.4s, v7.16b, v3.16b
	ADD $34, R13, R13
	VLD1 (R14), V5.H[2]
	FMOVQ 2(R14), F6
	FMOVQ 18(R14), F7
	VEOR V18.B16, V18.B16, V18.B16
	WORD $0x4e8294d2 // sdot v18.4s, v6.16b, v2.16b
	WORD $0x4e8394f2 // sdot v18.4s, v7.16b, v3.16b
	ADD $34, R14, R14
	VLD1 (R15), V5.H[3]
	FMOVQ 2(R15), F6
	FMOVQ 18(R15), F7
	VEOR V19.B16, V19.B16, V19.B16
	WORD $0x4e8294d3 // sdot v19.4s, v6.16b, v2.16b
	WORD $0x4e8394f3 // sdot v19.4s, v7.16b, v3.16b
	ADD $34, R15, R15
	VADDP V17.S4, V16.S4, V16.S4
	VADDP V19.S4, V18.S4, V18.S4
	VADDP V18.S4, V16.S4, V16.S4
	WORD $0x4e21da10 // scvtf v16.4s, v16.4s
	WORD $0x0e2178a5 // fcvtl v5.4s, v5.4h
	WORD $0x4f8490a5 // fmul v5.4s, v5.4s, v4.s[0]
	WORD $0x6e30dca5 // fmul v5.4s, v5.4s, v16.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s

	ADD $68, R16, R16
	ADD $68, R17, R17
	ADD $68, R19, R19
	ADD $68, R20, R20
	ADD $1, R22, R22
	CMP R6, R22
	BNE block

	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	ADD R2<<3, R1, R1
	SUBS $1, R7, R7
	BNE tile
	RET

// func q8RowsNEON(dst *float32, w *byte, stride int, q *int8, sums *int32, scales *float32, shift, blocks, tiles int)
//
// Two products of int8 fit int16: 2·128·127 = 32,512.
TEXT ·q8RowsNEON(SB), NOSPLIT, $0-72
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD q+24(FP), R3
	MOVD scales+40(FP), R4
	MOVD shift+48(FP), R5
	MOVD blocks+56(FP), R6
	MOVD tiles+64(FP), R7

tile:
	MOVD R1, R8
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	ADD R2, R11, R12
	ADD R2, R12, R13
	ADD R2, R13, R14
	ADD R2, R14, R15
	ADD R2, R15, R16
	ADD R2<<1, R16, R17
	ADD R2<<1, R17, R19
	ADD R2<<1, R19, R20
	MOVD R3, R21
	MOVD $0, R22
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16

block:
	FLDPQ (R21), (F2, F3)
	ADD $32, R21, R21
	LSR R5, R22, R23
	FMOVS (R4)(R23<<2), F4
	PRFM (R16), PLDL1KEEP
	PRFM 64(R16), PLDL1KEEP
	PRFM (R17), PLDL1KEEP
	PRFM 64(R17), PLDL1KEEP
	PRFM (R19), PLDL1KEEP
	PRFM 64(R19), PLDL1KEEP
	PRFM (R20), PLDL1KEEP
	PRFM 64(R20), PLDL1KEEP

	// Rows 0 to 3: the sums in V16 to V19, the scales in V5.
	VLD1 (R8), V5.H[0]
	FMOVQ 2(R8), F6
	FMOVQ 18(R8), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a90 // saddlp v16.4s, v20.8h
	WORD $0x4e606ab0 // sadalp v16.4s, v21.8h
	ADD $34, R8, R8
	VLD1 (R9), V5.H[1]
	FMOVQ 2(R9), F6
	FMOVQ 18(R9), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a91 // saddlp v17.4s, v20.8h
	WORD $0x4e606ab1 // sadalp v17.4s, v21.8h
	ADD $34, R9, R9
	VLD1 (R10), V5.H[2]
	FMOVQ 2(R10), F6
	FMOVQ 18(R10), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a92 // saddlp v18.4s, v20.8h
	WORD $0x4e606ab2 // sadalp v18.4s, v21.8h
	ADD $34, R10, R10
	VLD1 (R11), V5.H[3]
	FMOVQ 2(R11), F6
	FMOVQ 18(R11), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a93 // saddlp v19.4s, v20.8h
	WORD $0x4e606ab3 // sadalp v19.4s, v21.8h
	ADD $34, R11, R11
	VADDP V17.S4, V16.S4, V16.S4
	VADDP V19.S4, V18.S4, V18.S4
	VADDP V18.S4, V16.S4, V16.S4
	WORD $0x4e21da10 // scvtf v16.4s, v16.4s
	WORD $0x0e2178a5 // fcvtl v5.4s, v5.4h
	WORD $0x4f8490a5 // fmul v5.4s, v5.4s, v4.s[0]
	WORD $0x6e30dca5 // fmul v5.4s, v5.4s, v16.4s
	WORD $0x4e25d400 // fadd v0.4s, v0.4s, v5.4s

	// Rows 4 to 7: the sums in V16 to V19, the scales in V5.
	VLD1 (R12), V5.H[0]
	FMOVQ 2(R12), F6
	FMOVQ 18(R12), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a90 // saddlp v16.4s, v20.8h
	WORD $0x4e606ab0 // sadalp v16.4s, v21.8h
	ADD $34, R12, R12
	VLD1 (R13), V5.H[1]
	FMOVQ 2(R13), F6
	FMOVQ 18(R13), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a91 // saddlp v17.4s, v20.8h
	WORD $0x4e606ab1 // sadalp v17.4s, v21.8h
	ADD $34, R13, R13
	VLD1 (R14), V5.H[2]
	FMOVQ 2(R14), F6
	FMOVQ 18(R14), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a92 // saddlp v18.4s, v20.8h
	WORD $0x4e606ab2 // sadalp v18.4s, v21.8h
	ADD $34, R14, R14
	VLD1 (R15), V5.H[3]
	FMOVQ 2(R15), F6
	FMOVQ 18(R15), F7
	WORD $0x0e22c0d4 // smull v20.8h, v6.8b, v2.8b
	WORD $0x4e2280d4 // smlal2 v20.8h, v6.16b, v2.16b
	WORD $0x0e23c0f5 // smull v21.8h, v7.8b, v3.8b
	WORD $0x4e2380f5 // smlal2 v21.8h, v7.16b, v3.16b
	WORD $0x4e602a93 // saddlp v19.4s, v20.8h
	WORD $0x4e606ab3 // sadalp v19.4s, v21.8h
	ADD $34, R15, R15
	VADDP V17.S4, V16.S4, V16.S4
	VADDP V19.S4, V18.S4, V18.S4
	VADDP V18.S4, V16.S4, V16.S4
	WORD $0x4e21da10 // scvtf v16.4s, v16.4s
	WORD $0x0e2178a5 // fcvtl v5.4s, v5.4h
	WORD $0x4f8490a5 // fmul v5.4s, v5.4s, v4.s[0]
	WORD $0x6e30dca5 // fmul v5.4s, v5.4s, v16.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s

	ADD $68, R16, R16
	ADD $68, R17, R17
	ADD $68, R19, R19
	ADD $68, R20, R20
	ADD $1, R22, R22
	CMP R6, R22
	BNE block

	FSTPQ (F0, F1), (R0)
	ADD $32, R0, R0
	ADD R2<<3, R1, R1
	SUBS $1, R7, R7
	BNE tile
	RET
