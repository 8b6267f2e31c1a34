//go:build !purego

#include "textflag.h"

// The assembly of attention in NEON, as attention_amd64.s specifies it.

// func scores4x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte)
//
// 4 queries with the keys of 16 · tiles positions.
TEXT ·scores4x16NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R5

tile:
	MOVD q+8(FP), R7
	MOVD width+24(FP), R3
	MOVD R0, R12
	LSL $2, R3, R11
	ADD R11, R7, R8
	ADD $512, R12, R13
	ADD R11, R8, R9
	ADD $512, R13, R14
	ADD R11, R9, R10
	ADD $512, R14, R15
	VEOR V16.B16, V16.B16, V16.B16
	FSTPQ (F16, F16), (R12)
	FSTPQ (F16, F16), 32(R12)
	FSTPQ (F16, F16), (R13)
	FSTPQ (F16, F16), 32(R13)
	FSTPQ (F16, F16), (R14)
	FSTPQ (F16, F16), 32(R14)
	FSTPQ (F16, F16), (R15)
	FSTPQ (F16, F16), 32(R15)

chunk:
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
	CBZ R5, fetched
	PRFM 0(R5), PLDL1KEEP
	PRFM 64(R5), PLDL1KEEP
	PRFM 128(R5), PLDL1KEEP
	PRFM 192(R5), PLDL1KEEP
	PRFM 256(R5), PLDL1KEEP
	PRFM 320(R5), PLDL1KEEP
	PRFM 384(R5), PLDL1KEEP
	PRFM 448(R5), PLDL1KEEP
	ADD $512, R5, R5

fetched:
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FMOVQ.P 16(R9), F22
	FMOVQ.P 16(R10), F23
	FLDPQ (R2), (F16, F17)
	FLDPQ 32(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	WORD $0x4f961208 // fmla v8.4s, v16.4s, v22.s[0]
	WORD $0x4f961229 // fmla v9.4s, v17.4s, v22.s[0]
	WORD $0x4f96124a // fmla v10.4s, v18.4s, v22.s[0]
	WORD $0x4f96126b // fmla v11.4s, v19.4s, v22.s[0]
	WORD $0x4f97120c // fmla v12.4s, v16.4s, v23.s[0]
	WORD $0x4f97122d // fmla v13.4s, v17.4s, v23.s[0]
	WORD $0x4f97124e // fmla v14.4s, v18.4s, v23.s[0]
	WORD $0x4f97126f // fmla v15.4s, v19.4s, v23.s[0]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 96(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	WORD $0x4fb61208 // fmla v8.4s, v16.4s, v22.s[1]
	WORD $0x4fb61229 // fmla v9.4s, v17.4s, v22.s[1]
	WORD $0x4fb6124a // fmla v10.4s, v18.4s, v22.s[1]
	WORD $0x4fb6126b // fmla v11.4s, v19.4s, v22.s[1]
	WORD $0x4fb7120c // fmla v12.4s, v16.4s, v23.s[1]
	WORD $0x4fb7122d // fmla v13.4s, v17.4s, v23.s[1]
	WORD $0x4fb7124e // fmla v14.4s, v18.4s, v23.s[1]
	WORD $0x4fb7126f // fmla v15.4s, v19.4s, v23.s[1]
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 160(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	WORD $0x4f961a08 // fmla v8.4s, v16.4s, v22.s[2]
	WORD $0x4f961a29 // fmla v9.4s, v17.4s, v22.s[2]
	WORD $0x4f961a4a // fmla v10.4s, v18.4s, v22.s[2]
	WORD $0x4f961a6b // fmla v11.4s, v19.4s, v22.s[2]
	WORD $0x4f971a0c // fmla v12.4s, v16.4s, v23.s[2]
	WORD $0x4f971a2d // fmla v13.4s, v17.4s, v23.s[2]
	WORD $0x4f971a4e // fmla v14.4s, v18.4s, v23.s[2]
	WORD $0x4f971a6f // fmla v15.4s, v19.4s, v23.s[2]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 224(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	WORD $0x4fb61a08 // fmla v8.4s, v16.4s, v22.s[3]
	WORD $0x4fb61a29 // fmla v9.4s, v17.4s, v22.s[3]
	WORD $0x4fb61a4a // fmla v10.4s, v18.4s, v22.s[3]
	WORD $0x4fb61a6b // fmla v11.4s, v19.4s, v22.s[3]
	WORD $0x4fb71a0c // fmla v12.4s, v16.4s, v23.s[3]
	WORD $0x4fb71a2d // fmla v13.4s, v17.4s, v23.s[3]
	WORD $0x4fb71a4e // fmla v14.4s, v18.4s, v23.s[3]
	WORD $0x4fb71a6f // fmla v15.4s, v19.4s, v23.s[3]
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FMOVQ.P 16(R9), F22
	FMOVQ.P 16(R10), F23
	FLDPQ 256(R2), (F16, F17)
	FLDPQ 288(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	WORD $0x4f961208 // fmla v8.4s, v16.4s, v22.s[0]
	WORD $0x4f961229 // fmla v9.4s, v17.4s, v22.s[0]
	WORD $0x4f96124a // fmla v10.4s, v18.4s, v22.s[0]
	WORD $0x4f96126b // fmla v11.4s, v19.4s, v22.s[0]
	WORD $0x4f97120c // fmla v12.4s, v16.4s, v23.s[0]
	WORD $0x4f97122d // fmla v13.4s, v17.4s, v23.s[0]
	WORD $0x4f97124e // fmla v14.4s, v18.4s, v23.s[0]
	WORD $0x4f97126f // fmla v15.4s, v19.4s, v23.s[0]
	FLDPQ 320(R2), (F16, F17)
	FLDPQ 352(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	WORD $0x4fb61208 // fmla v8.4s, v16.4s, v22.s[1]
	WORD $0x4fb61229 // fmla v9.4s, v17.4s, v22.s[1]
	WORD $0x4fb6124a // fmla v10.4s, v18.4s, v22.s[1]
	WORD $0x4fb6126b // fmla v11.4s, v19.4s, v22.s[1]
	WORD $0x4fb7120c // fmla v12.4s, v16.4s, v23.s[1]
	WORD $0x4fb7122d // fmla v13.4s, v17.4s, v23.s[1]
	WORD $0x4fb7124e // fmla v14.4s, v18.4s, v23.s[1]
	WORD $0x4fb7126f // fmla v15.4s, v19.4s, v23.s[1]
	FLDPQ 384(R2), (F16, F17)
	FLDPQ 416(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	WORD $0x4f961a08 // fmla v8.4s, v16.4s, v22.s[2]
	WORD $0x4f961a29 // fmla v9.4s, v17.4s, v22.s[2]
	WORD $0x4f961a4a // fmla v10.4s, v18.4s, v22.s[2]
	WORD $0x4f961a6b // fmla v11.4s, v19.4s, v22.s[2]
	WORD $0x4f971a0c // fmla v12.4s, v16.4s, v23.s[2]
	WORD $0x4f971a2d // fmla v13.4s, v17.4s, v23.s[2]
	WORD $0x4f971a4e // fmla v14.4s, v18.4s, v23.s[2]
	WORD $0x4f971a6f // fmla v15.4s, v19.4s, v23.s[2]
	FLDPQ 448(R2), (F16, F17)
	FLDPQ 480(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	WORD $0x4fb61a08 // fmla v8.4s, v16.4s, v22.s[3]
	WORD $0x4fb61a29 // fmla v9.4s, v17.4s, v22.s[3]
	WORD $0x4fb61a4a // fmla v10.4s, v18.4s, v22.s[3]
	WORD $0x4fb61a6b // fmla v11.4s, v19.4s, v22.s[3]
	WORD $0x4fb71a0c // fmla v12.4s, v16.4s, v23.s[3]
	WORD $0x4fb71a2d // fmla v13.4s, v17.4s, v23.s[3]
	WORD $0x4fb71a4e // fmla v14.4s, v18.4s, v23.s[3]
	WORD $0x4fb71a6f // fmla v15.4s, v19.4s, v23.s[3]
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FMOVQ.P 16(R9), F22
	FMOVQ.P 16(R10), F23
	FLDPQ 512(R2), (F16, F17)
	FLDPQ 544(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	WORD $0x4f961208 // fmla v8.4s, v16.4s, v22.s[0]
	WORD $0x4f961229 // fmla v9.4s, v17.4s, v22.s[0]
	WORD $0x4f96124a // fmla v10.4s, v18.4s, v22.s[0]
	WORD $0x4f96126b // fmla v11.4s, v19.4s, v22.s[0]
	WORD $0x4f97120c // fmla v12.4s, v16.4s, v23.s[0]
	WORD $0x4f97122d // fmla v13.4s, v17.4s, v23.s[0]
	WORD $0x4f97124e // fmla v14.4s, v18.4s, v23.s[0]
	WORD $0x4f97126f // fmla v15.4s, v19.4s, v23.s[0]
	FLDPQ 576(R2), (F16, F17)
	FLDPQ 608(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	WORD $0x4fb61208 // fmla v8.4s, v16.4s, v22.s[1]
	WORD $0x4fb61229 // fmla v9.4s, v17.4s, v22.s[1]
	WORD $0x4fb6124a // fmla v10.4s, v18.4s, v22.s[1]
	WORD $0x4fb6126b // fmla v11.4s, v19.4s, v22.s[1]
	WORD $0x4fb7120c // fmla v12.4s, v16.4s, v23.s[1]
	WORD $0x4fb7122d // fmla v13.4s, v17.4s, v23.s[1]
	WORD $0x4fb7124e // fmla v14.4s, v18.4s, v23.s[1]
	WORD $0x4fb7126f // fmla v15.4s, v19.4s, v23.s[1]
	FLDPQ 640(R2), (F16, F17)
	FLDPQ 672(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	WORD $0x4f961a08 // fmla v8.4s, v16.4s, v22.s[2]
	WORD $0x4f961a29 // fmla v9.4s, v17.4s, v22.s[2]
	WORD $0x4f961a4a // fmla v10.4s, v18.4s, v22.s[2]
	WORD $0x4f961a6b // fmla v11.4s, v19.4s, v22.s[2]
	WORD $0x4f971a0c // fmla v12.4s, v16.4s, v23.s[2]
	WORD $0x4f971a2d // fmla v13.4s, v17.4s, v23.s[2]
	WORD $0x4f971a4e // fmla v14.4s, v18.4s, v23.s[2]
	WORD $0x4f971a6f // fmla v15.4s, v19.4s, v23.s[2]
	FLDPQ 704(R2), (F16, F17)
	FLDPQ 736(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	WORD $0x4fb61a08 // fmla v8.4s, v16.4s, v22.s[3]
	WORD $0x4fb61a29 // fmla v9.4s, v17.4s, v22.s[3]
	WORD $0x4fb61a4a // fmla v10.4s, v18.4s, v22.s[3]
	WORD $0x4fb61a6b // fmla v11.4s, v19.4s, v22.s[3]
	WORD $0x4fb71a0c // fmla v12.4s, v16.4s, v23.s[3]
	WORD $0x4fb71a2d // fmla v13.4s, v17.4s, v23.s[3]
	WORD $0x4fb71a4e // fmla v14.4s, v18.4s, v23.s[3]
	WORD $0x4fb71a6f // fmla v15.4s, v19.4s, v23.s[3]
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FMOVQ.P 16(R9), F22
	FMOVQ.P 16(R10), F23
	FLDPQ 768(R2), (F16, F17)
	FLDPQ 800(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	WORD $0x4f961208 // fmla v8.4s, v16.4s, v22.s[0]
	WORD $0x4f961229 // fmla v9.4s, v17.4s, v22.s[0]
	WORD $0x4f96124a // fmla v10.4s, v18.4s, v22.s[0]
	WORD $0x4f96126b // fmla v11.4s, v19.4s, v22.s[0]
	WORD $0x4f97120c // fmla v12.4s, v16.4s, v23.s[0]
	WORD $0x4f97122d // fmla v13.4s, v17.4s, v23.s[0]
	WORD $0x4f97124e // fmla v14.4s, v18.4s, v23.s[0]
	WORD $0x4f97126f // fmla v15.4s, v19.4s, v23.s[0]
	FLDPQ 832(R2), (F16, F17)
	FLDPQ 864(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	WORD $0x4fb61208 // fmla v8.4s, v16.4s, v22.s[1]
	WORD $0x4fb61229 // fmla v9.4s, v17.4s, v22.s[1]
	WORD $0x4fb6124a // fmla v10.4s, v18.4s, v22.s[1]
	WORD $0x4fb6126b // fmla v11.4s, v19.4s, v22.s[1]
	WORD $0x4fb7120c // fmla v12.4s, v16.4s, v23.s[1]
	WORD $0x4fb7122d // fmla v13.4s, v17.4s, v23.s[1]
	WORD $0x4fb7124e // fmla v14.4s, v18.4s, v23.s[1]
	WORD $0x4fb7126f // fmla v15.4s, v19.4s, v23.s[1]
	FLDPQ 896(R2), (F16, F17)
	FLDPQ 928(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	WORD $0x4f961a08 // fmla v8.4s, v16.4s, v22.s[2]
	WORD $0x4f961a29 // fmla v9.4s, v17.4s, v22.s[2]
	WORD $0x4f961a4a // fmla v10.4s, v18.4s, v22.s[2]
	WORD $0x4f961a6b // fmla v11.4s, v19.4s, v22.s[2]
	WORD $0x4f971a0c // fmla v12.4s, v16.4s, v23.s[2]
	WORD $0x4f971a2d // fmla v13.4s, v17.4s, v23.s[2]
	WORD $0x4f971a4e // fmla v14.4s, v18.4s, v23.s[2]
	WORD $0x4f971a6f // fmla v15.4s, v19.4s, v23.s[2]
	FLDPQ 960(R2), (F16, F17)
	FLDPQ 992(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	WORD $0x4fb61a08 // fmla v8.4s, v16.4s, v22.s[3]
	WORD $0x4fb61a29 // fmla v9.4s, v17.4s, v22.s[3]
	WORD $0x4fb61a4a // fmla v10.4s, v18.4s, v22.s[3]
	WORD $0x4fb61a6b // fmla v11.4s, v19.4s, v22.s[3]
	WORD $0x4fb71a0c // fmla v12.4s, v16.4s, v23.s[3]
	WORD $0x4fb71a2d // fmla v13.4s, v17.4s, v23.s[3]
	WORD $0x4fb71a4e // fmla v14.4s, v18.4s, v23.s[3]
	WORD $0x4fb71a6f // fmla v15.4s, v19.4s, v23.s[3]
	ADD $1024, R2, R2
	FLDPQ (R12), (F16, F17)
	FLDPQ 32(R12), (F18, F19)
	WORD $0x4e20d610 // fadd v16.4s, v16.4s, v0.4s
	WORD $0x4e21d631 // fadd v17.4s, v17.4s, v1.4s
	WORD $0x4e22d652 // fadd v18.4s, v18.4s, v2.4s
	WORD $0x4e23d673 // fadd v19.4s, v19.4s, v3.4s
	FSTPQ (F16, F17), (R12)
	FSTPQ (F18, F19), 32(R12)
	FLDPQ (R13), (F16, F17)
	FLDPQ 32(R13), (F18, F19)
	WORD $0x4e24d610 // fadd v16.4s, v16.4s, v4.4s
	WORD $0x4e25d631 // fadd v17.4s, v17.4s, v5.4s
	WORD $0x4e26d652 // fadd v18.4s, v18.4s, v6.4s
	WORD $0x4e27d673 // fadd v19.4s, v19.4s, v7.4s
	FSTPQ (F16, F17), (R13)
	FSTPQ (F18, F19), 32(R13)
	FLDPQ (R14), (F16, F17)
	FLDPQ 32(R14), (F18, F19)
	WORD $0x4e28d610 // fadd v16.4s, v16.4s, v8.4s
	WORD $0x4e29d631 // fadd v17.4s, v17.4s, v9.4s
	WORD $0x4e2ad652 // fadd v18.4s, v18.4s, v10.4s
	WORD $0x4e2bd673 // fadd v19.4s, v19.4s, v11.4s
	FSTPQ (F16, F17), (R14)
	FSTPQ (F18, F19), 32(R14)
	FLDPQ (R15), (F16, F17)
	FLDPQ 32(R15), (F18, F19)
	WORD $0x4e2cd610 // fadd v16.4s, v16.4s, v12.4s
	WORD $0x4e2dd631 // fadd v17.4s, v17.4s, v13.4s
	WORD $0x4e2ed652 // fadd v18.4s, v18.4s, v14.4s
	WORD $0x4e2fd673 // fadd v19.4s, v19.4s, v15.4s
	FSTPQ (F16, F17), (R15)
	FSTPQ (F18, F19), 32(R15)
	SUBS $16, R3, R3
	BNE chunk
	ADD $64, R0, R0
	SUBS $1, R4, R4
	BNE tile
	RET

// func scores2x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte)
//
// 2 queries with the keys of 16 · tiles positions.
TEXT ·scores2x16NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R5

tile:
	MOVD q+8(FP), R7
	MOVD width+24(FP), R3
	MOVD R0, R12
	LSL $2, R3, R11
	ADD R11, R7, R8
	ADD $512, R12, R13
	VEOR V16.B16, V16.B16, V16.B16
	FSTPQ (F16, F16), (R12)
	FSTPQ (F16, F16), 32(R12)
	FSTPQ (F16, F16), (R13)
	FSTPQ (F16, F16), 32(R13)

chunk:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	CBZ R5, fetched
	PRFM 0(R5), PLDL1KEEP
	PRFM 64(R5), PLDL1KEEP
	PRFM 128(R5), PLDL1KEEP
	PRFM 192(R5), PLDL1KEEP
	PRFM 256(R5), PLDL1KEEP
	PRFM 320(R5), PLDL1KEEP
	PRFM 384(R5), PLDL1KEEP
	PRFM 448(R5), PLDL1KEEP
	ADD $512, R5, R5

fetched:
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FLDPQ (R2), (F16, F17)
	FLDPQ 32(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 96(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 160(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 224(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FLDPQ 256(R2), (F16, F17)
	FLDPQ 288(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 320(R2), (F16, F17)
	FLDPQ 352(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 384(R2), (F16, F17)
	FLDPQ 416(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 448(R2), (F16, F17)
	FLDPQ 480(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FLDPQ 512(R2), (F16, F17)
	FLDPQ 544(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 576(R2), (F16, F17)
	FLDPQ 608(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 640(R2), (F16, F17)
	FLDPQ 672(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 704(R2), (F16, F17)
	FLDPQ 736(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FLDPQ 768(R2), (F16, F17)
	FLDPQ 800(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 832(R2), (F16, F17)
	FLDPQ 864(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 896(R2), (F16, F17)
	FLDPQ 928(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 960(R2), (F16, F17)
	FLDPQ 992(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	ADD $1024, R2, R2
	FLDPQ (R12), (F16, F17)
	FLDPQ 32(R12), (F18, F19)
	WORD $0x4e20d610 // fadd v16.4s, v16.4s, v0.4s
	WORD $0x4e21d631 // fadd v17.4s, v17.4s, v1.4s
	WORD $0x4e22d652 // fadd v18.4s, v18.4s, v2.4s
	WORD $0x4e23d673 // fadd v19.4s, v19.4s, v3.4s
	FSTPQ (F16, F17), (R12)
	FSTPQ (F18, F19), 32(R12)
	FLDPQ (R13), (F16, F17)
	FLDPQ 32(R13), (F18, F19)
	WORD $0x4e24d610 // fadd v16.4s, v16.4s, v4.4s
	WORD $0x4e25d631 // fadd v17.4s, v17.4s, v5.4s
	WORD $0x4e26d652 // fadd v18.4s, v18.4s, v6.4s
	WORD $0x4e27d673 // fadd v19.4s, v19.4s, v7.4s
	FSTPQ (F16, F17), (R13)
	FSTPQ (F18, F19), 32(R13)
	SUBS $16, R3, R3
	BNE chunk
	ADD $64, R0, R0
	SUBS $1, R4, R4
	BNE tile
	RET

// func scores1x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte)
//
// 1 query with the keys of 16 · tiles positions.
TEXT ·scores1x16NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R5

tile:
	MOVD q+8(FP), R7
	MOVD width+24(FP), R3
	MOVD R0, R12
	VEOR V16.B16, V16.B16, V16.B16
	FSTPQ (F16, F16), (R12)
	FSTPQ (F16, F16), 32(R12)

chunk:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	CBZ R5, fetched
	PRFM 0(R5), PLDL1KEEP
	PRFM 64(R5), PLDL1KEEP
	PRFM 128(R5), PLDL1KEEP
	PRFM 192(R5), PLDL1KEEP
	PRFM 256(R5), PLDL1KEEP
	PRFM 320(R5), PLDL1KEEP
	PRFM 384(R5), PLDL1KEEP
	PRFM 448(R5), PLDL1KEEP
	ADD $512, R5, R5

fetched:
	FMOVQ.P 16(R7), F20
	FLDPQ (R2), (F16, F17)
	FLDPQ 32(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 96(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 160(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 224(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	FMOVQ.P 16(R7), F20
	FLDPQ 256(R2), (F16, F17)
	FLDPQ 288(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 320(R2), (F16, F17)
	FLDPQ 352(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 384(R2), (F16, F17)
	FLDPQ 416(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 448(R2), (F16, F17)
	FLDPQ 480(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	FMOVQ.P 16(R7), F20
	FLDPQ 512(R2), (F16, F17)
	FLDPQ 544(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 576(R2), (F16, F17)
	FLDPQ 608(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 640(R2), (F16, F17)
	FLDPQ 672(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 704(R2), (F16, F17)
	FLDPQ 736(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	FMOVQ.P 16(R7), F20
	FLDPQ 768(R2), (F16, F17)
	FLDPQ 800(R2), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 832(R2), (F16, F17)
	FLDPQ 864(R2), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 896(R2), (F16, F17)
	FLDPQ 928(R2), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 960(R2), (F16, F17)
	FLDPQ 992(R2), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	ADD $1024, R2, R2
	FLDPQ (R12), (F16, F17)
	FLDPQ 32(R12), (F18, F19)
	WORD $0x4e20d610 // fadd v16.4s, v16.4s, v0.4s
	WORD $0x4e21d631 // fadd v17.4s, v17.4s, v1.4s
	WORD $0x4e22d652 // fadd v18.4s, v18.4s, v2.4s
	WORD $0x4e23d673 // fadd v19.4s, v19.4s, v3.4s
	FSTPQ (F16, F17), (R12)
	FSTPQ (F18, F19), 32(R12)
	SUBS $16, R3, R3
	BNE chunk
	ADD $64, R0, R0
	SUBS $1, R4, R4
	BNE tile
	RET

// func weighted4x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte)
//
// 16 · tiles columns of 4 rows.
TEXT ·weighted4x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD width+32(FP), R4
	LSL $2, R4, R4
	MOVD tiles+40(FP), R5
	MOVD ahead+48(FP), R6

tile:
	MOVD R0, R7
	ADD R4, R7, R8
	ADD R4, R8, R9
	ADD R4, R9, R10
	FLDPQ (R7), (F0, F1)
	FLDPQ 32(R7), (F2, F3)
	FLDPQ (R8), (F4, F5)
	FLDPQ 32(R8), (F6, F7)
	FLDPQ (R9), (F8, F9)
	FLDPQ 32(R9), (F10, F11)
	FLDPQ (R10), (F12, F13)
	FLDPQ 32(R10), (F14, F15)
	MOVD R1, R12
	MOVD R2, R13
	MOVD positions+24(FP), R14

position:
	CBZ R6, fetched
	PRFM (R6), PLDL1KEEP
	ADD $32, R6, R6

fetched:
	FLDPQ (R13), (F16, F17)
	FLDPQ 32(R13), (F18, F19)
	FMOVS (R12), F20
	FMOVS 512(R12), F21
	FMOVS 1024(R12), F22
	FMOVS 1536(R12), F23
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	WORD $0x4f961208 // fmla v8.4s, v16.4s, v22.s[0]
	WORD $0x4f961229 // fmla v9.4s, v17.4s, v22.s[0]
	WORD $0x4f96124a // fmla v10.4s, v18.4s, v22.s[0]
	WORD $0x4f96126b // fmla v11.4s, v19.4s, v22.s[0]
	WORD $0x4f97120c // fmla v12.4s, v16.4s, v23.s[0]
	WORD $0x4f97122d // fmla v13.4s, v17.4s, v23.s[0]
	WORD $0x4f97124e // fmla v14.4s, v18.4s, v23.s[0]
	WORD $0x4f97126f // fmla v15.4s, v19.4s, v23.s[0]
	ADD $4, R12, R12
	ADD R4, R13, R13
	SUBS $1, R14, R14
	BNE position
	FSTPQ (F0, F1), (R7)
	FSTPQ (F2, F3), 32(R7)
	FSTPQ (F4, F5), (R8)
	FSTPQ (F6, F7), 32(R8)
	FSTPQ (F8, F9), (R9)
	FSTPQ (F10, F11), 32(R9)
	FSTPQ (F12, F13), (R10)
	FSTPQ (F14, F15), 32(R10)
	ADD $64, R0, R0
	ADD $64, R2, R2
	SUBS $1, R5, R5
	BNE tile
	RET

// func weighted2x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte)
//
// 16 · tiles columns of 2 rows.
TEXT ·weighted2x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD width+32(FP), R4
	LSL $2, R4, R4
	MOVD tiles+40(FP), R5
	MOVD ahead+48(FP), R6

tile:
	MOVD R0, R7
	ADD R4, R7, R8
	FLDPQ (R7), (F0, F1)
	FLDPQ 32(R7), (F2, F3)
	FLDPQ (R8), (F4, F5)
	FLDPQ 32(R8), (F6, F7)
	MOVD R1, R12
	MOVD R2, R13
	MOVD positions+24(FP), R14

position:
	CBZ R6, fetched
	PRFM (R6), PLDL1KEEP
	ADD $32, R6, R6

fetched:
	FLDPQ (R13), (F16, F17)
	FLDPQ 32(R13), (F18, F19)
	FMOVS (R12), F20
	FMOVS 512(R12), F21
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	ADD $4, R12, R12
	ADD R4, R13, R13
	SUBS $1, R14, R14
	BNE position
	FSTPQ (F0, F1), (R7)
	FSTPQ (F2, F3), 32(R7)
	FSTPQ (F4, F5), (R8)
	FSTPQ (F6, F7), 32(R8)
	ADD $64, R0, R0
	ADD $64, R2, R2
	SUBS $1, R5, R5
	BNE tile
	RET

// func weighted1x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte)
//
// 16 · tiles columns of 1 row.
TEXT ·weighted1x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD width+32(FP), R4
	LSL $2, R4, R4
	MOVD tiles+40(FP), R5
	MOVD ahead+48(FP), R6

tile:
	MOVD R0, R7
	FLDPQ (R7), (F0, F1)
	FLDPQ 32(R7), (F2, F3)
	MOVD R1, R12
	MOVD R2, R13
	MOVD positions+24(FP), R14

position:
	CBZ R6, fetched
	PRFM (R6), PLDL1KEEP
	ADD $32, R6, R6

fetched:
	FLDPQ (R13), (F16, F17)
	FLDPQ 32(R13), (F18, F19)
	FMOVS (R12), F20
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	ADD $4, R12, R12
	ADD R4, R13, R13
	SUBS $1, R14, R14
	BNE position
	FSTPQ (F0, F1), (R7)
	FSTPQ (F2, F3), 32(R7)
	ADD $64, R0, R0
	ADD $64, R2, R2
	SUBS $1, R5, R5
	BNE tile
	RET

// func blendNEON(dst, x *float32, n int, by float32)
TEXT ·blendNEON(SB), NOSPLIT, $0-28
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R2
	FMOVS by+24(FP), F4

next:
	FLDPQ (R0), (F0, F1)
	FLDPQ (R1), (F2, F3)
	WORD $0x4f841002 // fmla v2.4s, v0.4s, v4.s[0]
	WORD $0x4f841023 // fmla v3.4s, v1.4s, v4.s[0]
	FSTPQ (F2, F3), (R0)
	ADD $32, R0, R0
	ADD $32, R1, R1
	SUBS $8, R2, R2
	BNE next
	RET

// func decodeKeysQ8NEON(dst *float32, src *byte, blocks int)
//
// Each byte of the codes goes to the top of its word, and back with its sign.
TEXT ·decodeKeysQ8NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD blocks+16(FP), R2

block:
	FLDPQ (R1), (F16, F17)
	ADD $32, R1, R1
	MOVD $8, R3
	WORD $0x0e217a14 // fcvtl v20.4s, v16.4h
	WORD $0x4e217a15 // fcvtl2 v21.4s, v16.8h
	WORD $0x0e217a36 // fcvtl v22.4s, v17.4h
	WORD $0x4e217a37 // fcvtl2 v23.4s, v17.8h

quad:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	WORD $0x4f385404 // shl v4.4s, v0.4s, #24
	WORD $0x4f385425 // shl v5.4s, v1.4s, #24
	WORD $0x4f385446 // shl v6.4s, v2.4s, #24
	WORD $0x4f385467 // shl v7.4s, v3.4s, #24
	WORD $0x4f280484 // sshr v4.4s, v4.4s, #24
	WORD $0x4f2804a5 // sshr v5.4s, v5.4s, #24
	WORD $0x4f2804c6 // sshr v6.4s, v6.4s, #24
	WORD $0x4f2804e7 // sshr v7.4s, v7.4s, #24
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e34dc84 // fmul v4.4s, v4.4s, v20.4s
	WORD $0x6e35dca5 // fmul v5.4s, v5.4s, v21.4s
	WORD $0x6e36dcc6 // fmul v6.4s, v6.4s, v22.4s
	WORD $0x6e37dce7 // fmul v7.4s, v7.4s, v23.4s
	FSTPQ (F4, F5), (R0)
	FSTPQ (F6, F7), 32(R0)
	WORD $0x4f305404 // shl v4.4s, v0.4s, #16
	WORD $0x4f305425 // shl v5.4s, v1.4s, #16
	WORD $0x4f305446 // shl v6.4s, v2.4s, #16
	WORD $0x4f305467 // shl v7.4s, v3.4s, #16
	WORD $0x4f280484 // sshr v4.4s, v4.4s, #24
	WORD $0x4f2804a5 // sshr v5.4s, v5.4s, #24
	WORD $0x4f2804c6 // sshr v6.4s, v6.4s, #24
	WORD $0x4f2804e7 // sshr v7.4s, v7.4s, #24
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e34dc84 // fmul v4.4s, v4.4s, v20.4s
	WORD $0x6e35dca5 // fmul v5.4s, v5.4s, v21.4s
	WORD $0x6e36dcc6 // fmul v6.4s, v6.4s, v22.4s
	WORD $0x6e37dce7 // fmul v7.4s, v7.4s, v23.4s
	FSTPQ (F4, F5), 64(R0)
	FSTPQ (F6, F7), 96(R0)
	WORD $0x4f285404 // shl v4.4s, v0.4s, #8
	WORD $0x4f285425 // shl v5.4s, v1.4s, #8
	WORD $0x4f285446 // shl v6.4s, v2.4s, #8
	WORD $0x4f285467 // shl v7.4s, v3.4s, #8
	WORD $0x4f280484 // sshr v4.4s, v4.4s, #24
	WORD $0x4f2804a5 // sshr v5.4s, v5.4s, #24
	WORD $0x4f2804c6 // sshr v6.4s, v6.4s, #24
	WORD $0x4f2804e7 // sshr v7.4s, v7.4s, #24
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e34dc84 // fmul v4.4s, v4.4s, v20.4s
	WORD $0x6e35dca5 // fmul v5.4s, v5.4s, v21.4s
	WORD $0x6e36dcc6 // fmul v6.4s, v6.4s, v22.4s
	WORD $0x6e37dce7 // fmul v7.4s, v7.4s, v23.4s
	FSTPQ (F4, F5), 128(R0)
	FSTPQ (F6, F7), 160(R0)
	WORD $0x4f205404 // shl v4.4s, v0.4s, #0
	WORD $0x4f205425 // shl v5.4s, v1.4s, #0
	WORD $0x4f205446 // shl v6.4s, v2.4s, #0
	WORD $0x4f205467 // shl v7.4s, v3.4s, #0
	WORD $0x4f280484 // sshr v4.4s, v4.4s, #24
	WORD $0x4f2804a5 // sshr v5.4s, v5.4s, #24
	WORD $0x4f2804c6 // sshr v6.4s, v6.4s, #24
	WORD $0x4f2804e7 // sshr v7.4s, v7.4s, #24
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e34dc84 // fmul v4.4s, v4.4s, v20.4s
	WORD $0x6e35dca5 // fmul v5.4s, v5.4s, v21.4s
	WORD $0x6e36dcc6 // fmul v6.4s, v6.4s, v22.4s
	WORD $0x6e37dce7 // fmul v7.4s, v7.4s, v23.4s
	FSTPQ (F4, F5), 192(R0)
	FSTPQ (F6, F7), 224(R0)
	ADD $64, R1, R1
	ADD $256, R0, R0
	SUBS $1, R3, R3
	BNE quad
	SUBS $1, R2, R2
	BNE block
	RET
