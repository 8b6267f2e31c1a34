//go:build !purego

#include "textflag.h"

// The products of float formats, 2 rows at a time and 32 columns of each in a
// step. Lane k mod 32 of a row is lane k%4 of V0 to V7, of the second row of V8
// to V15. They equal
//
//	for r := range 2 * tiles {
//		var lanes [32]float32
//		for k := range 32 * blocks {
//			lanes[k%32] += float32(weight(w[r*stride:], k) * x[k])
//		}
//		dst[r] = foldLanes(&lanes)
//	}
//
// R7 and R8 are the rows, R9 and R10 those of the next tile, which are
// prefetched.

// func f32RowsNEON(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)
//
// Weights are what they are.
TEXT ·f32RowsNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD x+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD tiles+40(FP), R5

tile:
	MOVD R1, R7
	ADD R2, R7, R8
	ADD R2, R8, R9
	ADD R2, R9, R10
	MOVD R3, R11
	MOVD R4, R12
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

block:
	FLDPQ 0(R11), (F16, F17)
	FLDPQ 32(R11), (F18, F19)
	FLDPQ 64(R11), (F20, F21)
	FLDPQ 96(R11), (F22, F23)
	PRFM (R9), PLDL1KEEP
	PRFM 64(R9), PLDL1KEEP

	// First row, columns 0 to 15.
	FLDPQ 0(R7), (F26, F27)
	FLDPQ 32(R7), (F28, F29)
	WORD $0x6e30df5a // fmul v26.4s, v26.4s, v16.4s
	WORD $0x6e31df7b // fmul v27.4s, v27.4s, v17.4s
	WORD $0x6e32df9c // fmul v28.4s, v28.4s, v18.4s
	WORD $0x6e33dfbd // fmul v29.4s, v29.4s, v19.4s
	WORD $0x4e3ad400 // fadd v0.4s, v0.4s, v26.4s
	WORD $0x4e3bd421 // fadd v1.4s, v1.4s, v27.4s
	WORD $0x4e3cd442 // fadd v2.4s, v2.4s, v28.4s
	WORD $0x4e3dd463 // fadd v3.4s, v3.4s, v29.4s

	// First row, columns 16 to 31.
	FLDPQ 64(R7), (F26, F27)
	FLDPQ 96(R7), (F28, F29)
	WORD $0x6e34df5a // fmul v26.4s, v26.4s, v20.4s
	WORD $0x6e35df7b // fmul v27.4s, v27.4s, v21.4s
	WORD $0x6e36df9c // fmul v28.4s, v28.4s, v22.4s
	WORD $0x6e37dfbd // fmul v29.4s, v29.4s, v23.4s
	WORD $0x4e3ad484 // fadd v4.4s, v4.4s, v26.4s
	WORD $0x4e3bd4a5 // fadd v5.4s, v5.4s, v27.4s
	WORD $0x4e3cd4c6 // fadd v6.4s, v6.4s, v28.4s
	WORD $0x4e3dd4e7 // fadd v7.4s, v7.4s, v29.4s
	PRFM (R10), PLDL1KEEP
	PRFM 64(R10), PLDL1KEEP

	// Second row, columns 0 to 15.
	FLDPQ 0(R8), (F26, F27)
	FLDPQ 32(R8), (F28, F29)
	WORD $0x6e30df5a // fmul v26.4s, v26.4s, v16.4s
	WORD $0x6e31df7b // fmul v27.4s, v27.4s, v17.4s
	WORD $0x6e32df9c // fmul v28.4s, v28.4s, v18.4s
	WORD $0x6e33dfbd // fmul v29.4s, v29.4s, v19.4s
	WORD $0x4e3ad508 // fadd v8.4s, v8.4s, v26.4s
	WORD $0x4e3bd529 // fadd v9.4s, v9.4s, v27.4s
	WORD $0x4e3cd54a // fadd v10.4s, v10.4s, v28.4s
	WORD $0x4e3dd56b // fadd v11.4s, v11.4s, v29.4s

	// Second row, columns 16 to 31.
	FLDPQ 64(R8), (F26, F27)
	FLDPQ 96(R8), (F28, F29)
	WORD $0x6e34df5a // fmul v26.4s, v26.4s, v20.4s
	WORD $0x6e35df7b // fmul v27.4s, v27.4s, v21.4s
	WORD $0x6e36df9c // fmul v28.4s, v28.4s, v22.4s
	WORD $0x6e37dfbd // fmul v29.4s, v29.4s, v23.4s
	WORD $0x4e3ad58c // fadd v12.4s, v12.4s, v26.4s
	WORD $0x4e3bd5ad // fadd v13.4s, v13.4s, v27.4s
	WORD $0x4e3cd5ce // fadd v14.4s, v14.4s, v28.4s
	WORD $0x4e3dd5ef // fadd v15.4s, v15.4s, v29.4s
	ADD $128, R7, R7
	ADD $128, R8, R8
	ADD $128, R9, R9
	ADD $128, R10, R10
	ADD $128, R11, R11
	SUBS $1, R12, R12
	BNE block

	WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
	WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
	WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	VEXT $8, V0.B16, V0.B16, V16.B16
	WORD $0x4e30d400 // fadd v0.4s, v0.4s, v16.4s
	WORD $0x7e30d800 // faddp s0, v0.2s
	WORD $0x4e2cd508 // fadd v8.4s, v8.4s, v12.4s
	WORD $0x4e2dd529 // fadd v9.4s, v9.4s, v13.4s
	WORD $0x4e2ed54a // fadd v10.4s, v10.4s, v14.4s
	WORD $0x4e2fd56b // fadd v11.4s, v11.4s, v15.4s
	WORD $0x4e2ad508 // fadd v8.4s, v8.4s, v10.4s
	WORD $0x4e2bd529 // fadd v9.4s, v9.4s, v11.4s
	WORD $0x4e29d508 // fadd v8.4s, v8.4s, v9.4s
	VEXT $8, V8.B16, V8.B16, V16.B16
	WORD $0x4e30d508 // fadd v8.4s, v8.4s, v16.4s
	WORD $0x7e30d908 // faddp s8, v8.2s
	FMOVS F0, (R0)
	FMOVS F8, 4(R0)
	ADD R2<<1, R1, R1
	ADD $8, R0, R0
	SUBS $1, R5, R5
	BNE tile
	RET

// func f16RowsNEON(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)
//
// FCVTL widens; subnormals and all else are exact.
TEXT ·f16RowsNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD x+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD tiles+40(FP), R5

tile:
	MOVD R1, R7
	ADD R2, R7, R8
	ADD R2, R8, R9
	ADD R2, R9, R10
	MOVD R3, R11
	MOVD R4, R12
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

block:
	FLDPQ 0(R11), (F16, F17)
	FLDPQ 32(R11), (F18, F19)
	FLDPQ 64(R11), (F20, F21)
	FLDPQ 96(R11), (F22, F23)
	PRFM (R9), PLDL1KEEP

	// First row, columns 0 to 15.
	FLDPQ 0(R7), (F24, F25)
	WORD $0x0e217b1a // fcvtl v26.4s, v24.4h
	WORD $0x4e217b1b // fcvtl2 v27.4s, v24.8h
	WORD $0x0e217b3c // fcvtl v28.4s, v25.4h
	WORD $0x4e217b3d // fcvtl2 v29.4s, v25.8h
	WORD $0x6e30df5a // fmul v26.4s, v26.4s, v16.4s
	WORD $0x6e31df7b // fmul v27.4s, v27.4s, v17.4s
	WORD $0x6e32df9c // fmul v28.4s, v28.4s, v18.4s
	WORD $0x6e33dfbd // fmul v29.4s, v29.4s, v19.4s
	WORD $0x4e3ad400 // fadd v0.4s, v0.4s, v26.4s
	WORD $0x4e3bd421 // fadd v1.4s, v1.4s, v27.4s
	WORD $0x4e3cd442 // fadd v2.4s, v2.4s, v28.4s
	WORD $0x4e3dd463 // fadd v3.4s, v3.4s, v29.4s

	// First row, columns 16 to 31.
	FLDPQ 32(R7), (F24, F25)
	WORD $0x0e217b1a // fcvtl v26.4s, v24.4h
	WORD $0x4e217b1b // fcvtl2 v27.4s, v24.8h
	WORD $0x0e217b3c // fcvtl v28.4s, v25.4h
	WORD $0x4e217b3d // fcvtl2 v29.4s, v25.8h
	WORD $0x6e34df5a // fmul v26.4s, v26.4s, v20.4s
	WORD $0x6e35df7b // fmul v27.4s, v27.4s, v21.4s
	WORD $0x6e36df9c // fmul v28.4s, v28.4s, v22.4s
	WORD $0x6e37dfbd // fmul v29.4s, v29.4s, v23.4s
	WORD $0x4e3ad484 // fadd v4.4s, v4.4s, v26.4s
	WORD $0x4e3bd4a5 // fadd v5.4s, v5.4s, v27.4s
	WORD $0x4e3cd4c6 // fadd v6.4s, v6.4s, v28.4s
	WORD $0x4e3dd4e7 // fadd v7.4s, v7.4s, v29.4s
	PRFM (R10), PLDL1KEEP

	// Second row, columns 0 to 15.
	FLDPQ 0(R8), (F24, F25)
	WORD $0x0e217b1a // fcvtl v26.4s, v24.4h
	WORD $0x4e217b1b // fcvtl2 v27.4s, v24.8h
	WORD $0x0e217b3c // fcvtl v28.4s, v25.4h
	WORD $0x4e217b3d // fcvtl2 v29.4s, v25.8h
	WORD $0x6e30df5a // fmul v26.4s, v26.4s, v16.4s
	WORD $0x6e31df7b // fmul v27.4s, v27.4s, v17.4s
	WORD $0x6e32df9c // fmul v28.4s, v28.4s, v18.4s
	WORD $0x6e33dfbd // fmul v29.4s, v29.4s, v19.4s
	WORD $0x4e3ad508 // fadd v8.4s, v8.4s, v26.4s
	WORD $0x4e3bd529 // fadd v9.4s, v9.4s, v27.4s
	WORD $0x4e3cd54a // fadd v10.4s, v10.4s, v28.4s
	WORD $0x4e3dd56b // fadd v11.4s, v11.4s, v29.4s

	// Second row, columns 16 to 31.
	FLDPQ 32(R8), (F24, F25)
	WORD $0x0e217b1a // fcvtl v26.4s, v24.4h
	WORD $0x4e217b1b // fcvtl2 v27.4s, v24.8h
	WORD $0x0e217b3c // fcvtl v28.4s, v25.4h
	WORD $0x4e217b3d // fcvtl2 v29.4s, v25.8h
	WORD $0x6e34df5a // fmul v26.4s, v26.4s, v20.4s
	WORD $0x6e35df7b // fmul v27.4s, v27.4s, v21.4s
	WORD $0x6e36df9c // fmul v28.4s, v28.4s, v22.4s
	WORD $0x6e37dfbd // fmul v29.4s, v29.4s, v23.4s
	WORD $0x4e3ad58c // fadd v12.4s, v12.4s, v26.4s
	WORD $0x4e3bd5ad // fadd v13.4s, v13.4s, v27.4s
	WORD $0x4e3cd5ce // fadd v14.4s, v14.4s, v28.4s
	WORD $0x4e3dd5ef // fadd v15.4s, v15.4s, v29.4s
	ADD $64, R7, R7
	ADD $64, R8, R8
	ADD $64, R9, R9
	ADD $64, R10, R10
	ADD $128, R11, R11
	SUBS $1, R12, R12
	BNE block

	WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
	WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
	WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	VEXT $8, V0.B16, V0.B16, V16.B16
	WORD $0x4e30d400 // fadd v0.4s, v0.4s, v16.4s
	WORD $0x7e30d800 // faddp s0, v0.2s
	WORD $0x4e2cd508 // fadd v8.4s, v8.4s, v12.4s
	WORD $0x4e2dd529 // fadd v9.4s, v9.4s, v13.4s
	WORD $0x4e2ed54a // fadd v10.4s, v10.4s, v14.4s
	WORD $0x4e2fd56b // fadd v11.4s, v11.4s, v15.4s
	WORD $0x4e2ad508 // fadd v8.4s, v8.4s, v10.4s
	WORD $0x4e2bd529 // fadd v9.4s, v9.4s, v11.4s
	WORD $0x4e29d508 // fadd v8.4s, v8.4s, v9.4s
	VEXT $8, V8.B16, V8.B16, V16.B16
	WORD $0x4e30d508 // fadd v8.4s, v8.4s, v16.4s
	WORD $0x7e30d908 // faddp s8, v8.2s
	FMOVS F0, (R0)
	FMOVS F8, 4(R0)
	ADD R2<<1, R1, R1
	ADD $8, R0, R0
	SUBS $1, R5, R5
	BNE tile
	RET

// func bf16RowsNEON(dst *float32, w *byte, stride int, x *float32, blocks, tiles int)
//
// The upper halves of float32.
TEXT ·bf16RowsNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD x+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD tiles+40(FP), R5

tile:
	MOVD R1, R7
	ADD R2, R7, R8
	ADD R2, R8, R9
	ADD R2, R9, R10
	MOVD R3, R11
	MOVD R4, R12
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

block:
	FLDPQ 0(R11), (F16, F17)
	FLDPQ 32(R11), (F18, F19)
	FLDPQ 64(R11), (F20, F21)
	FLDPQ 96(R11), (F22, F23)
	PRFM (R9), PLDL1KEEP

	// First row, columns 0 to 15.
	FLDPQ 0(R7), (F24, F25)
	WORD $0x2e613b1a // shll v26.4s, v24.4h, #16
	WORD $0x6e613b1b // shll2 v27.4s, v24.8h, #16
	WORD $0x2e613b3c // shll v28.4s, v25.4h, #16
	WORD $0x6e613b3d // shll2 v29.4s, v25.8h, #16
	WORD $0x6e30df5a // fmul v26.4s, v26.4s, v16.4s
	WORD $0x6e31df7b // fmul v27.4s, v27.4s, v17.4s
	WORD $0x6e32df9c // fmul v28.4s, v28.4s, v18.4s
	WORD $0x6e33dfbd // fmul v29.4s, v29.4s, v19.4s
	WORD $0x4e3ad400 // fadd v0.4s, v0.4s, v26.4s
	WORD $0x4e3bd421 // fadd v1.4s, v1.4s, v27.4s
	WORD $0x4e3cd442 // fadd v2.4s, v2.4s, v28.4s
	WORD $0x4e3dd463 // fadd v3.4s, v3.4s, v29.4s

	// First row, columns 16 to 31.
	FLDPQ 32(R7), (F24, F25)
	WORD $0x2e613b1a // shll v26.4s, v24.4h, #16
	WORD $0x6e613b1b // shll2 v27.4s, v24.8h, #16
	WORD $0x2e613b3c // shll v28.4s, v25.4h, #16
	WORD $0x6e613b3d // shll2 v29.4s, v25.8h, #16
	WORD $0x6e34df5a // fmul v26.4s, v26.4s, v20.4s
	WORD $0x6e35df7b // fmul v27.4s, v27.4s, v21.4s
	WORD $0x6e36df9c // fmul v28.4s, v28.4s, v22.4s
	WORD $0x6e37dfbd // fmul v29.4s, v29.4s, v23.4s
	WORD $0x4e3ad484 // fadd v4.4s, v4.4s, v26.4s
	WORD $0x4e3bd4a5 // fadd v5.4s, v5.4s, v27.4s
	WORD $0x4e3cd4c6 // fadd v6.4s, v6.4s, v28.4s
	WORD $0x4e3dd4e7 // fadd v7.4s, v7.4s, v29.4s
	PRFM (R10), PLDL1KEEP

	// Second row, columns 0 to 15.
	FLDPQ 0(R8), (F24, F25)
	WORD $0x2e613b1a // shll v26.4s, v24.4h, #16
	WORD $0x6e613b1b // shll2 v27.4s, v24.8h, #16
	WORD $0x2e613b3c // shll v28.4s, v25.4h, #16
	WORD $0x6e613b3d // shll2 v29.4s, v25.8h, #16
	WORD $0x6e30df5a // fmul v26.4s, v26.4s, v16.4s
	WORD $0x6e31df7b // fmul v27.4s, v27.4s, v17.4s
	WORD $0x6e32df9c // fmul v28.4s, v28.4s, v18.4s
	WORD $0x6e33dfbd // fmul v29.4s, v29.4s, v19.4s
	WORD $0x4e3ad508 // fadd v8.4s, v8.4s, v26.4s
	WORD $0x4e3bd529 // fadd v9.4s, v9.4s, v27.4s
	WORD $0x4e3cd54a // fadd v10.4s, v10.4s, v28.4s
	WORD $0x4e3dd56b // fadd v11.4s, v11.4s, v29.4s

	// Second row, columns 16 to 31.
	FLDPQ 32(R8), (F24, F25)
	WORD $0x2e613b1a // shll v26.4s, v24.4h, #16
	WORD $0x6e613b1b // shll2 v27.4s, v24.8h, #16
	WORD $0x2e613b3c // shll v28.4s, v25.4h, #16
	WORD $0x6e613b3d // shll2 v29.4s, v25.8h, #16
	WORD $0x6e34df5a // fmul v26.4s, v26.4s, v20.4s
	WORD $0x6e35df7b // fmul v27.4s, v27.4s, v21.4s
	WORD $0x6e36df9c // fmul v28.4s, v28.4s, v22.4s
	WORD $0x6e37dfbd // fmul v29.4s, v29.4s, v23.4s
	WORD $0x4e3ad58c // fadd v12.4s, v12.4s, v26.4s
	WORD $0x4e3bd5ad // fadd v13.4s, v13.4s, v27.4s
	WORD $0x4e3cd5ce // fadd v14.4s, v14.4s, v28.4s
	WORD $0x4e3dd5ef // fadd v15.4s, v15.4s, v29.4s
	ADD $64, R7, R7
	ADD $64, R8, R8
	ADD $64, R9, R9
	ADD $64, R10, R10
	ADD $128, R11, R11
	SUBS $1, R12, R12
	BNE block

	WORD $0x4e24d400 // fadd v0.4s, v0.4s, v4.4s
	WORD $0x4e25d421 // fadd v1.4s, v1.4s, v5.4s
	WORD $0x4e26d442 // fadd v2.4s, v2.4s, v6.4s
	WORD $0x4e27d463 // fadd v3.4s, v3.4s, v7.4s
	WORD $0x4e22d400 // fadd v0.4s, v0.4s, v2.4s
	WORD $0x4e23d421 // fadd v1.4s, v1.4s, v3.4s
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	VEXT $8, V0.B16, V0.B16, V16.B16
	WORD $0x4e30d400 // fadd v0.4s, v0.4s, v16.4s
	WORD $0x7e30d800 // faddp s0, v0.2s
	WORD $0x4e2cd508 // fadd v8.4s, v8.4s, v12.4s
	WORD $0x4e2dd529 // fadd v9.4s, v9.4s, v13.4s
	WORD $0x4e2ed54a // fadd v10.4s, v10.4s, v14.4s
	WORD $0x4e2fd56b // fadd v11.4s, v11.4s, v15.4s
	WORD $0x4e2ad508 // fadd v8.4s, v8.4s, v10.4s
	WORD $0x4e2bd529 // fadd v9.4s, v9.4s, v11.4s
	WORD $0x4e29d508 // fadd v8.4s, v8.4s, v9.4s
	VEXT $8, V8.B16, V8.B16, V16.B16
	WORD $0x4e30d508 // fadd v8.4s, v8.4s, v16.4s
	WORD $0x7e30d908 // faddp s8, v8.2s
	FMOVS F0, (R0)
	FMOVS F8, 4(R0)
	ADD R2<<1, R1, R1
	ADD $8, R0, R0
	SUBS $1, R5, R5
	BNE tile
	RET
