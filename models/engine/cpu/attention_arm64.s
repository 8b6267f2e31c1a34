//go:build !purego

#include "textflag.h"

// The assembly of attention in NEON, as attention_amd64.s specifies it.

// func scores4x16NEON(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)
//
// 4 queries with the keys of 16 · tiles positions.
TEXT ·scores4x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R5
	MOVD step+48(FP), R25

tile:
	MOVD q+8(FP), R7
	MOVD width+24(FP), R3
	LSL $5, R3, R20
	ADD R20, R2, R20
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
	ADD R25, R5, R5

fetched:
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FMOVQ.P 16(R9), F22
	FMOVQ.P 16(R10), F23
	FLDPQ (R2), (F16, F17)
	FLDPQ (R20), (F18, F19)
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
	FLDPQ 32(R2), (F16, F17)
	FLDPQ 32(R20), (F18, F19)
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
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 64(R20), (F18, F19)
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
	FLDPQ 96(R2), (F16, F17)
	FLDPQ 96(R20), (F18, F19)
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
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 128(R20), (F18, F19)
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
	FLDPQ 160(R2), (F16, F17)
	FLDPQ 160(R20), (F18, F19)
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
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 192(R20), (F18, F19)
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
	FLDPQ 224(R2), (F16, F17)
	FLDPQ 224(R20), (F18, F19)
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
	FLDPQ 256(R20), (F18, F19)
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
	FLDPQ 288(R2), (F16, F17)
	FLDPQ 288(R20), (F18, F19)
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
	FLDPQ 320(R2), (F16, F17)
	FLDPQ 320(R20), (F18, F19)
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
	FLDPQ 352(R2), (F16, F17)
	FLDPQ 352(R20), (F18, F19)
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
	FLDPQ 384(R2), (F16, F17)
	FLDPQ 384(R20), (F18, F19)
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
	FLDPQ 416(R2), (F16, F17)
	FLDPQ 416(R20), (F18, F19)
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
	FLDPQ 448(R2), (F16, F17)
	FLDPQ 448(R20), (F18, F19)
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
	FLDPQ 480(R2), (F16, F17)
	FLDPQ 480(R20), (F18, F19)
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
	ADD $512, R2, R2
	ADD $512, R20, R20
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
	MOVD R20, R2
	SUBS $1, R4, R4
	BNE tile
	RET

// func scores2x16NEON(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)
//
// 2 queries with the keys of 16 · tiles positions.
TEXT ·scores2x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R5
	MOVD step+48(FP), R25

tile:
	MOVD q+8(FP), R7
	MOVD width+24(FP), R3
	LSL $5, R3, R20
	ADD R20, R2, R20
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
	ADD R25, R5, R5

fetched:
	FMOVQ.P 16(R7), F20
	FMOVQ.P 16(R8), F21
	FLDPQ (R2), (F16, F17)
	FLDPQ (R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 32(R2), (F16, F17)
	FLDPQ 32(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 64(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 96(R2), (F16, F17)
	FLDPQ 96(R20), (F18, F19)
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
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 128(R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 160(R2), (F16, F17)
	FLDPQ 160(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 192(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 224(R2), (F16, F17)
	FLDPQ 224(R20), (F18, F19)
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
	FLDPQ 256(R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 288(R2), (F16, F17)
	FLDPQ 288(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 320(R2), (F16, F17)
	FLDPQ 320(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 352(R2), (F16, F17)
	FLDPQ 352(R20), (F18, F19)
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
	FLDPQ 384(R2), (F16, F17)
	FLDPQ 384(R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	WORD $0x4f951204 // fmla v4.4s, v16.4s, v21.s[0]
	WORD $0x4f951225 // fmla v5.4s, v17.4s, v21.s[0]
	WORD $0x4f951246 // fmla v6.4s, v18.4s, v21.s[0]
	WORD $0x4f951267 // fmla v7.4s, v19.4s, v21.s[0]
	FLDPQ 416(R2), (F16, F17)
	FLDPQ 416(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	WORD $0x4fb51204 // fmla v4.4s, v16.4s, v21.s[1]
	WORD $0x4fb51225 // fmla v5.4s, v17.4s, v21.s[1]
	WORD $0x4fb51246 // fmla v6.4s, v18.4s, v21.s[1]
	WORD $0x4fb51267 // fmla v7.4s, v19.4s, v21.s[1]
	FLDPQ 448(R2), (F16, F17)
	FLDPQ 448(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	WORD $0x4f951a04 // fmla v4.4s, v16.4s, v21.s[2]
	WORD $0x4f951a25 // fmla v5.4s, v17.4s, v21.s[2]
	WORD $0x4f951a46 // fmla v6.4s, v18.4s, v21.s[2]
	WORD $0x4f951a67 // fmla v7.4s, v19.4s, v21.s[2]
	FLDPQ 480(R2), (F16, F17)
	FLDPQ 480(R20), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	WORD $0x4fb51a04 // fmla v4.4s, v16.4s, v21.s[3]
	WORD $0x4fb51a25 // fmla v5.4s, v17.4s, v21.s[3]
	WORD $0x4fb51a46 // fmla v6.4s, v18.4s, v21.s[3]
	WORD $0x4fb51a67 // fmla v7.4s, v19.4s, v21.s[3]
	ADD $512, R2, R2
	ADD $512, R20, R20
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
	MOVD R20, R2
	SUBS $1, R4, R4
	BNE tile
	RET

// func scores1x16NEON(dst, q *float32, keys *byte, width, tiles int, ahead *byte, step int)
//
// 1 query with the keys of 16 · tiles positions.
TEXT ·scores1x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R5
	MOVD step+48(FP), R25

tile:
	MOVD q+8(FP), R7
	MOVD width+24(FP), R3
	LSL $5, R3, R20
	ADD R20, R2, R20
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
	ADD R25, R5, R5

fetched:
	FMOVQ.P 16(R7), F20
	FLDPQ (R2), (F16, F17)
	FLDPQ (R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 32(R2), (F16, F17)
	FLDPQ 32(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 64(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 96(R2), (F16, F17)
	FLDPQ 96(R20), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	FMOVQ.P 16(R7), F20
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 128(R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 160(R2), (F16, F17)
	FLDPQ 160(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 192(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 224(R2), (F16, F17)
	FLDPQ 224(R20), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	FMOVQ.P 16(R7), F20
	FLDPQ 256(R2), (F16, F17)
	FLDPQ 256(R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 288(R2), (F16, F17)
	FLDPQ 288(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 320(R2), (F16, F17)
	FLDPQ 320(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 352(R2), (F16, F17)
	FLDPQ 352(R20), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	FMOVQ.P 16(R7), F20
	FLDPQ 384(R2), (F16, F17)
	FLDPQ 384(R20), (F18, F19)
	WORD $0x4f941200 // fmla v0.4s, v16.4s, v20.s[0]
	WORD $0x4f941221 // fmla v1.4s, v17.4s, v20.s[0]
	WORD $0x4f941242 // fmla v2.4s, v18.4s, v20.s[0]
	WORD $0x4f941263 // fmla v3.4s, v19.4s, v20.s[0]
	FLDPQ 416(R2), (F16, F17)
	FLDPQ 416(R20), (F18, F19)
	WORD $0x4fb41200 // fmla v0.4s, v16.4s, v20.s[1]
	WORD $0x4fb41221 // fmla v1.4s, v17.4s, v20.s[1]
	WORD $0x4fb41242 // fmla v2.4s, v18.4s, v20.s[1]
	WORD $0x4fb41263 // fmla v3.4s, v19.4s, v20.s[1]
	FLDPQ 448(R2), (F16, F17)
	FLDPQ 448(R20), (F18, F19)
	WORD $0x4f941a00 // fmla v0.4s, v16.4s, v20.s[2]
	WORD $0x4f941a21 // fmla v1.4s, v17.4s, v20.s[2]
	WORD $0x4f941a42 // fmla v2.4s, v18.4s, v20.s[2]
	WORD $0x4f941a63 // fmla v3.4s, v19.4s, v20.s[2]
	FLDPQ 480(R2), (F16, F17)
	FLDPQ 480(R20), (F18, F19)
	WORD $0x4fb41a00 // fmla v0.4s, v16.4s, v20.s[3]
	WORD $0x4fb41a21 // fmla v1.4s, v17.4s, v20.s[3]
	WORD $0x4fb41a42 // fmla v2.4s, v18.4s, v20.s[3]
	WORD $0x4fb41a63 // fmla v3.4s, v19.4s, v20.s[3]
	ADD $512, R2, R2
	ADD $512, R20, R20
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
	MOVD R20, R2
	SUBS $1, R4, R4
	BNE tile
	RET

// func weighted4x16NEON(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)
//
// 16 · tiles columns of 4 rows.
TEXT ·weighted4x16NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD width+32(FP), R4
	LSL $2, R4, R4
	MOVD tiles+40(FP), R5
	MOVD ahead+48(FP), R6
	MOVD step+56(FP), R25

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
	ADD R25, R6, R6

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

// func weighted2x16NEON(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)
//
// 16 · tiles columns of 2 rows.
TEXT ·weighted2x16NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD width+32(FP), R4
	LSL $2, R4, R4
	MOVD tiles+40(FP), R5
	MOVD ahead+48(FP), R6
	MOVD step+56(FP), R25

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
	ADD R25, R6, R6

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

// func weighted1x16NEON(dst, weights *float32, values *byte, positions, width, tiles int, ahead *byte, step int)
//
// 16 · tiles columns of 1 row.
TEXT ·weighted1x16NEON(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD values+16(FP), R2
	MOVD width+32(FP), R4
	LSL $2, R4, R4
	MOVD tiles+40(FP), R5
	MOVD ahead+48(FP), R6
	MOVD step+56(FP), R25

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
	ADD R25, R6, R6

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

// func scoresQ8x1x16NEON(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)
//
// 1 query with the keys of 16 · tiles positions. Sums of pairs add up by SADALP.
TEXT ·scoresQ8x1x16NEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R21
	MOVD step+48(FP), R25
	MOVD $272, R19
	MUL R3, R19, R19

tile:
	ADD R19, R2, R20
	MOVD q+8(FP), R7
	MOVD R3, R6
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

block:
	PRFM 0(R21), PLDL2KEEP
	PRFM 64(R21), PLDL2KEEP
	PRFM 128(R21), PLDL2KEEP
	PRFM 192(R21), PLDL2KEEP
	PRFM 256(R21), PLDL2KEEP
	PRFM 320(R21), PLDL2KEEP
	PRFM 384(R21), PLDL2KEEP
	PRFM 448(R21), PLDL2KEEP
	PRFM 512(R21), PLDL2KEEP
	ADD R25, R21, R21
	FMOVQ.P 16(R2), F28
	FMOVQ.P 16(R20), F29
	WORD $0x0e217b98 // fcvtl v24.4s, v28.4h
	WORD $0x4e217b99 // fcvtl2 v25.4s, v28.8h
	WORD $0x0e217bba // fcvtl v26.4s, v29.4h
	WORD $0x4e217bbb // fcvtl2 v27.4s, v29.8h
	FLDPQ (R7), (F20, F21)
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	FLDPQ (R2), (F16, F17)
	FLDPQ (R20), (F18, F19)
	WORD $0x4e04069c // dup v28.4s, v20.s[0]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 32(R2), (F16, F17)
	FLDPQ 32(R20), (F18, F19)
	WORD $0x4e0c069c // dup v28.4s, v20.s[1]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 64(R20), (F18, F19)
	WORD $0x4e14069c // dup v28.4s, v20.s[2]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 96(R2), (F16, F17)
	FLDPQ 96(R20), (F18, F19)
	WORD $0x4e1c069c // dup v28.4s, v20.s[3]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 128(R20), (F18, F19)
	WORD $0x4e0406bc // dup v28.4s, v21.s[0]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 160(R2), (F16, F17)
	FLDPQ 160(R20), (F18, F19)
	WORD $0x4e0c06bc // dup v28.4s, v21.s[1]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 192(R20), (F18, F19)
	WORD $0x4e1406bc // dup v28.4s, v21.s[2]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FLDPQ 224(R2), (F16, F17)
	FLDPQ 224(R20), (F18, F19)
	WORD $0x4e1c06bc // dup v28.4s, v21.s[3]
	WORD $0x0e3cc21d // smull v29.8h, v16.8b, v28.8b
	WORD $0x4e3cc21e // smull2 v30.8h, v16.16b, v28.16b
	WORD $0x4e606ba8 // sadalp v8.4s, v29.8h
	WORD $0x4e606bc9 // sadalp v9.4s, v30.8h
	WORD $0x0e3cc23d // smull v29.8h, v17.8b, v28.8b
	WORD $0x4e3cc23e // smull2 v30.8h, v17.16b, v28.16b
	WORD $0x4e606baa // sadalp v10.4s, v29.8h
	WORD $0x4e606bcb // sadalp v11.4s, v30.8h
	WORD $0x0e3cc25d // smull v29.8h, v18.8b, v28.8b
	WORD $0x4e3cc25e // smull2 v30.8h, v18.16b, v28.16b
	WORD $0x4e606bac // sadalp v12.4s, v29.8h
	WORD $0x4e606bcd // sadalp v13.4s, v30.8h
	WORD $0x0e3cc27d // smull v29.8h, v19.8b, v28.8b
	WORD $0x4e3cc27e // smull2 v30.8h, v19.16b, v28.16b
	WORD $0x4e606bae // sadalp v14.4s, v29.8h
	WORD $0x4e606bcf // sadalp v15.4s, v30.8h
	FMOVS 32(R7), F30
	WORD $0x4ea9bd08 // addp v8.4s, v8.4s, v9.4s
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4f9e931f // fmul v31.4s, v24.4s, v30.s[0]
	WORD $0x4e3fcd00 // fmla v0.4s, v8.4s, v31.4s
	WORD $0x4eabbd4a // addp v10.4s, v10.4s, v11.4s
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4f9e933f // fmul v31.4s, v25.4s, v30.s[0]
	WORD $0x4e3fcd41 // fmla v1.4s, v10.4s, v31.4s
	WORD $0x4eadbd8c // addp v12.4s, v12.4s, v13.4s
	WORD $0x4e21d98c // scvtf v12.4s, v12.4s
	WORD $0x4f9e935f // fmul v31.4s, v26.4s, v30.s[0]
	WORD $0x4e3fcd82 // fmla v2.4s, v12.4s, v31.4s
	WORD $0x4eafbdce // addp v14.4s, v14.4s, v15.4s
	WORD $0x4e21d9ce // scvtf v14.4s, v14.4s
	WORD $0x4f9e937f // fmul v31.4s, v27.4s, v30.s[0]
	WORD $0x4e3fcdc3 // fmla v3.4s, v14.4s, v31.4s
	ADD $40, R7, R7
	ADD $256, R2, R2
	ADD $256, R20, R20
	SUBS $1, R6, R6
	BNE block
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	ADD $64, R0, R0
	MOVD R20, R2
	SUBS $1, R4, R4
	BNE tile
	RET

// func scoresQ8x2x16NEONDot(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)
//
// 2 queries with the keys of 16 · tiles positions.
TEXT ·scoresQ8x2x16NEONDot(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R21
	MOVD step+48(FP), R25
	MOVD $40, R5
	MUL R3, R5, R5
	MOVD $272, R19
	MUL R3, R19, R19

tile:
	ADD R19, R2, R20
	MOVD q+8(FP), R7
	MOVD R3, R6
	ADD R5, R7, R8
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

block:
	PRFM 0(R21), PLDL2KEEP
	PRFM 64(R21), PLDL2KEEP
	PRFM 128(R21), PLDL2KEEP
	PRFM 192(R21), PLDL2KEEP
	PRFM 256(R21), PLDL2KEEP
	PRFM 320(R21), PLDL2KEEP
	PRFM 384(R21), PLDL2KEEP
	PRFM 448(R21), PLDL2KEEP
	PRFM 512(R21), PLDL2KEEP
	ADD R25, R21, R21
	FMOVQ.P 16(R2), F28
	FMOVQ.P 16(R20), F29
	WORD $0x0e217b98 // fcvtl v24.4s, v28.4h
	WORD $0x4e217b99 // fcvtl2 v25.4s, v28.8h
	WORD $0x0e217bba // fcvtl v26.4s, v29.4h
	WORD $0x4e217bbb // fcvtl2 v27.4s, v29.8h
	FLDPQ (R7), (F20, F21)
	FLDPQ (R8), (F22, F23)
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	FLDPQ (R2), (F16, F17)
	FLDPQ (R20), (F18, F19)
	WORD $0x4f94e208 // sdot v8.4s, v16.16b, v20.4b[0]
	WORD $0x4f94e229 // sdot v9.4s, v17.16b, v20.4b[0]
	WORD $0x4f94e24a // sdot v10.4s, v18.16b, v20.4b[0]
	WORD $0x4f94e26b // sdot v11.4s, v19.16b, v20.4b[0]
	WORD $0x4f96e20c // sdot v12.4s, v16.16b, v22.4b[0]
	WORD $0x4f96e22d // sdot v13.4s, v17.16b, v22.4b[0]
	WORD $0x4f96e24e // sdot v14.4s, v18.16b, v22.4b[0]
	WORD $0x4f96e26f // sdot v15.4s, v19.16b, v22.4b[0]
	FLDPQ 32(R2), (F16, F17)
	FLDPQ 32(R20), (F18, F19)
	WORD $0x4fb4e208 // sdot v8.4s, v16.16b, v20.4b[1]
	WORD $0x4fb4e229 // sdot v9.4s, v17.16b, v20.4b[1]
	WORD $0x4fb4e24a // sdot v10.4s, v18.16b, v20.4b[1]
	WORD $0x4fb4e26b // sdot v11.4s, v19.16b, v20.4b[1]
	WORD $0x4fb6e20c // sdot v12.4s, v16.16b, v22.4b[1]
	WORD $0x4fb6e22d // sdot v13.4s, v17.16b, v22.4b[1]
	WORD $0x4fb6e24e // sdot v14.4s, v18.16b, v22.4b[1]
	WORD $0x4fb6e26f // sdot v15.4s, v19.16b, v22.4b[1]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 64(R20), (F18, F19)
	WORD $0x4f94ea08 // sdot v8.4s, v16.16b, v20.4b[2]
	WORD $0x4f94ea29 // sdot v9.4s, v17.16b, v20.4b[2]
	WORD $0x4f94ea4a // sdot v10.4s, v18.16b, v20.4b[2]
	WORD $0x4f94ea6b // sdot v11.4s, v19.16b, v20.4b[2]
	WORD $0x4f96ea0c // sdot v12.4s, v16.16b, v22.4b[2]
	WORD $0x4f96ea2d // sdot v13.4s, v17.16b, v22.4b[2]
	WORD $0x4f96ea4e // sdot v14.4s, v18.16b, v22.4b[2]
	WORD $0x4f96ea6f // sdot v15.4s, v19.16b, v22.4b[2]
	FLDPQ 96(R2), (F16, F17)
	FLDPQ 96(R20), (F18, F19)
	WORD $0x4fb4ea08 // sdot v8.4s, v16.16b, v20.4b[3]
	WORD $0x4fb4ea29 // sdot v9.4s, v17.16b, v20.4b[3]
	WORD $0x4fb4ea4a // sdot v10.4s, v18.16b, v20.4b[3]
	WORD $0x4fb4ea6b // sdot v11.4s, v19.16b, v20.4b[3]
	WORD $0x4fb6ea0c // sdot v12.4s, v16.16b, v22.4b[3]
	WORD $0x4fb6ea2d // sdot v13.4s, v17.16b, v22.4b[3]
	WORD $0x4fb6ea4e // sdot v14.4s, v18.16b, v22.4b[3]
	WORD $0x4fb6ea6f // sdot v15.4s, v19.16b, v22.4b[3]
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 128(R20), (F18, F19)
	WORD $0x4f95e208 // sdot v8.4s, v16.16b, v21.4b[0]
	WORD $0x4f95e229 // sdot v9.4s, v17.16b, v21.4b[0]
	WORD $0x4f95e24a // sdot v10.4s, v18.16b, v21.4b[0]
	WORD $0x4f95e26b // sdot v11.4s, v19.16b, v21.4b[0]
	WORD $0x4f97e20c // sdot v12.4s, v16.16b, v23.4b[0]
	WORD $0x4f97e22d // sdot v13.4s, v17.16b, v23.4b[0]
	WORD $0x4f97e24e // sdot v14.4s, v18.16b, v23.4b[0]
	WORD $0x4f97e26f // sdot v15.4s, v19.16b, v23.4b[0]
	FLDPQ 160(R2), (F16, F17)
	FLDPQ 160(R20), (F18, F19)
	WORD $0x4fb5e208 // sdot v8.4s, v16.16b, v21.4b[1]
	WORD $0x4fb5e229 // sdot v9.4s, v17.16b, v21.4b[1]
	WORD $0x4fb5e24a // sdot v10.4s, v18.16b, v21.4b[1]
	WORD $0x4fb5e26b // sdot v11.4s, v19.16b, v21.4b[1]
	WORD $0x4fb7e20c // sdot v12.4s, v16.16b, v23.4b[1]
	WORD $0x4fb7e22d // sdot v13.4s, v17.16b, v23.4b[1]
	WORD $0x4fb7e24e // sdot v14.4s, v18.16b, v23.4b[1]
	WORD $0x4fb7e26f // sdot v15.4s, v19.16b, v23.4b[1]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 192(R20), (F18, F19)
	WORD $0x4f95ea08 // sdot v8.4s, v16.16b, v21.4b[2]
	WORD $0x4f95ea29 // sdot v9.4s, v17.16b, v21.4b[2]
	WORD $0x4f95ea4a // sdot v10.4s, v18.16b, v21.4b[2]
	WORD $0x4f95ea6b // sdot v11.4s, v19.16b, v21.4b[2]
	WORD $0x4f97ea0c // sdot v12.4s, v16.16b, v23.4b[2]
	WORD $0x4f97ea2d // sdot v13.4s, v17.16b, v23.4b[2]
	WORD $0x4f97ea4e // sdot v14.4s, v18.16b, v23.4b[2]
	WORD $0x4f97ea6f // sdot v15.4s, v19.16b, v23.4b[2]
	FLDPQ 224(R2), (F16, F17)
	FLDPQ 224(R20), (F18, F19)
	WORD $0x4fb5ea08 // sdot v8.4s, v16.16b, v21.4b[3]
	WORD $0x4fb5ea29 // sdot v9.4s, v17.16b, v21.4b[3]
	WORD $0x4fb5ea4a // sdot v10.4s, v18.16b, v21.4b[3]
	WORD $0x4fb5ea6b // sdot v11.4s, v19.16b, v21.4b[3]
	WORD $0x4fb7ea0c // sdot v12.4s, v16.16b, v23.4b[3]
	WORD $0x4fb7ea2d // sdot v13.4s, v17.16b, v23.4b[3]
	WORD $0x4fb7ea4e // sdot v14.4s, v18.16b, v23.4b[3]
	WORD $0x4fb7ea6f // sdot v15.4s, v19.16b, v23.4b[3]
	FMOVS 32(R7), F30
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4f9e931f // fmul v31.4s, v24.4s, v30.s[0]
	WORD $0x4e3fcd00 // fmla v0.4s, v8.4s, v31.4s
	WORD $0x4e21d929 // scvtf v9.4s, v9.4s
	WORD $0x4f9e933f // fmul v31.4s, v25.4s, v30.s[0]
	WORD $0x4e3fcd21 // fmla v1.4s, v9.4s, v31.4s
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4f9e935f // fmul v31.4s, v26.4s, v30.s[0]
	WORD $0x4e3fcd42 // fmla v2.4s, v10.4s, v31.4s
	WORD $0x4e21d96b // scvtf v11.4s, v11.4s
	WORD $0x4f9e937f // fmul v31.4s, v27.4s, v30.s[0]
	WORD $0x4e3fcd63 // fmla v3.4s, v11.4s, v31.4s
	ADD $40, R7, R7
	FMOVS 32(R8), F30
	WORD $0x4e21d98c // scvtf v12.4s, v12.4s
	WORD $0x4f9e931f // fmul v31.4s, v24.4s, v30.s[0]
	WORD $0x4e3fcd84 // fmla v4.4s, v12.4s, v31.4s
	WORD $0x4e21d9ad // scvtf v13.4s, v13.4s
	WORD $0x4f9e933f // fmul v31.4s, v25.4s, v30.s[0]
	WORD $0x4e3fcda5 // fmla v5.4s, v13.4s, v31.4s
	WORD $0x4e21d9ce // scvtf v14.4s, v14.4s
	WORD $0x4f9e935f // fmul v31.4s, v26.4s, v30.s[0]
	WORD $0x4e3fcdc6 // fmla v6.4s, v14.4s, v31.4s
	WORD $0x4e21d9ef // scvtf v15.4s, v15.4s
	WORD $0x4f9e937f // fmul v31.4s, v27.4s, v30.s[0]
	WORD $0x4e3fcde7 // fmla v7.4s, v15.4s, v31.4s
	ADD $40, R8, R8
	ADD $256, R2, R2
	ADD $256, R20, R20
	SUBS $1, R6, R6
	BNE block
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	FSTPQ (F4, F5), 512(R0)
	FSTPQ (F6, F7), 544(R0)
	ADD $64, R0, R0
	MOVD R20, R2
	SUBS $1, R4, R4
	BNE tile
	RET

// func scoresQ8x1x16NEONDot(dst *float32, q, keys *byte, blocks, tiles int, ahead *byte, step int)
//
// 1 query with the keys of 16 · tiles positions.
TEXT ·scoresQ8x1x16NEONDot(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD keys+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD tiles+32(FP), R4
	MOVD ahead+40(FP), R21
	MOVD step+48(FP), R25
	MOVD $272, R19
	MUL R3, R19, R19

tile:
	ADD R19, R2, R20
	MOVD q+8(FP), R7
	MOVD R3, R6
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

block:
	PRFM 0(R21), PLDL2KEEP
	PRFM 64(R21), PLDL2KEEP
	PRFM 128(R21), PLDL2KEEP
	PRFM 192(R21), PLDL2KEEP
	PRFM 256(R21), PLDL2KEEP
	PRFM 320(R21), PLDL2KEEP
	PRFM 384(R21), PLDL2KEEP
	PRFM 448(R21), PLDL2KEEP
	PRFM 512(R21), PLDL2KEEP
	ADD R25, R21, R21
	FMOVQ.P 16(R2), F28
	FMOVQ.P 16(R20), F29
	WORD $0x0e217b98 // fcvtl v24.4s, v28.4h
	WORD $0x4e217b99 // fcvtl2 v25.4s, v28.8h
	WORD $0x0e217bba // fcvtl v26.4s, v29.4h
	WORD $0x4e217bbb // fcvtl2 v27.4s, v29.8h
	FLDPQ (R7), (F20, F21)
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	FLDPQ (R2), (F16, F17)
	FLDPQ (R20), (F18, F19)
	WORD $0x4f94e208 // sdot v8.4s, v16.16b, v20.4b[0]
	WORD $0x4f94e229 // sdot v9.4s, v17.16b, v20.4b[0]
	WORD $0x4f94e24a // sdot v10.4s, v18.16b, v20.4b[0]
	WORD $0x4f94e26b // sdot v11.4s, v19.16b, v20.4b[0]
	FLDPQ 32(R2), (F16, F17)
	FLDPQ 32(R20), (F18, F19)
	WORD $0x4fb4e208 // sdot v8.4s, v16.16b, v20.4b[1]
	WORD $0x4fb4e229 // sdot v9.4s, v17.16b, v20.4b[1]
	WORD $0x4fb4e24a // sdot v10.4s, v18.16b, v20.4b[1]
	WORD $0x4fb4e26b // sdot v11.4s, v19.16b, v20.4b[1]
	FLDPQ 64(R2), (F16, F17)
	FLDPQ 64(R20), (F18, F19)
	WORD $0x4f94ea08 // sdot v8.4s, v16.16b, v20.4b[2]
	WORD $0x4f94ea29 // sdot v9.4s, v17.16b, v20.4b[2]
	WORD $0x4f94ea4a // sdot v10.4s, v18.16b, v20.4b[2]
	WORD $0x4f94ea6b // sdot v11.4s, v19.16b, v20.4b[2]
	FLDPQ 96(R2), (F16, F17)
	FLDPQ 96(R20), (F18, F19)
	WORD $0x4fb4ea08 // sdot v8.4s, v16.16b, v20.4b[3]
	WORD $0x4fb4ea29 // sdot v9.4s, v17.16b, v20.4b[3]
	WORD $0x4fb4ea4a // sdot v10.4s, v18.16b, v20.4b[3]
	WORD $0x4fb4ea6b // sdot v11.4s, v19.16b, v20.4b[3]
	FLDPQ 128(R2), (F16, F17)
	FLDPQ 128(R20), (F18, F19)
	WORD $0x4f95e208 // sdot v8.4s, v16.16b, v21.4b[0]
	WORD $0x4f95e229 // sdot v9.4s, v17.16b, v21.4b[0]
	WORD $0x4f95e24a // sdot v10.4s, v18.16b, v21.4b[0]
	WORD $0x4f95e26b // sdot v11.4s, v19.16b, v21.4b[0]
	FLDPQ 160(R2), (F16, F17)
	FLDPQ 160(R20), (F18, F19)
	WORD $0x4fb5e208 // sdot v8.4s, v16.16b, v21.4b[1]
	WORD $0x4fb5e229 // sdot v9.4s, v17.16b, v21.4b[1]
	WORD $0x4fb5e24a // sdot v10.4s, v18.16b, v21.4b[1]
	WORD $0x4fb5e26b // sdot v11.4s, v19.16b, v21.4b[1]
	FLDPQ 192(R2), (F16, F17)
	FLDPQ 192(R20), (F18, F19)
	WORD $0x4f95ea08 // sdot v8.4s, v16.16b, v21.4b[2]
	WORD $0x4f95ea29 // sdot v9.4s, v17.16b, v21.4b[2]
	WORD $0x4f95ea4a // sdot v10.4s, v18.16b, v21.4b[2]
	WORD $0x4f95ea6b // sdot v11.4s, v19.16b, v21.4b[2]
	FLDPQ 224(R2), (F16, F17)
	FLDPQ 224(R20), (F18, F19)
	WORD $0x4fb5ea08 // sdot v8.4s, v16.16b, v21.4b[3]
	WORD $0x4fb5ea29 // sdot v9.4s, v17.16b, v21.4b[3]
	WORD $0x4fb5ea4a // sdot v10.4s, v18.16b, v21.4b[3]
	WORD $0x4fb5ea6b // sdot v11.4s, v19.16b, v21.4b[3]
	FMOVS 32(R7), F30
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4f9e931f // fmul v31.4s, v24.4s, v30.s[0]
	WORD $0x4e3fcd00 // fmla v0.4s, v8.4s, v31.4s
	WORD $0x4e21d929 // scvtf v9.4s, v9.4s
	WORD $0x4f9e933f // fmul v31.4s, v25.4s, v30.s[0]
	WORD $0x4e3fcd21 // fmla v1.4s, v9.4s, v31.4s
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4f9e935f // fmul v31.4s, v26.4s, v30.s[0]
	WORD $0x4e3fcd42 // fmla v2.4s, v10.4s, v31.4s
	WORD $0x4e21d96b // scvtf v11.4s, v11.4s
	WORD $0x4f9e937f // fmul v31.4s, v27.4s, v30.s[0]
	WORD $0x4e3fcd63 // fmla v3.4s, v11.4s, v31.4s
	ADD $40, R7, R7
	ADD $256, R2, R2
	ADD $256, R20, R20
	SUBS $1, R6, R6
	BNE block
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	ADD $64, R0, R0
	MOVD R20, R2
	SUBS $1, R4, R4
	BNE tile
	RET

// func unpackQ4NEON(dst, src *byte, blocks int)
//
// Blocks of 8 positions side by side.
TEXT ·unpackQ4NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD blocks+16(FP), R2
	VMOVI $15, V30.B16
	VMOVI $8, V31.B16

block:
	FMOVQ.P 16(R1), F0
	FMOVQ.P F0, 16(R0)
	ADD $128, R0, R3
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VAND V30.B16, V0.B16, V4.B16
	VUSHR $4, V0.B16, V0.B16
	VAND V30.B16, V1.B16, V5.B16
	VUSHR $4, V1.B16, V1.B16
	VAND V30.B16, V2.B16, V6.B16
	VUSHR $4, V2.B16, V2.B16
	VAND V30.B16, V3.B16, V7.B16
	VUSHR $4, V3.B16, V3.B16
	VSUB V31.B16, V4.B16, V4.B16
	VSUB V31.B16, V0.B16, V0.B16
	VSUB V31.B16, V5.B16, V5.B16
	VSUB V31.B16, V1.B16, V1.B16
	VSUB V31.B16, V6.B16, V6.B16
	VSUB V31.B16, V2.B16, V2.B16
	VSUB V31.B16, V7.B16, V7.B16
	VSUB V31.B16, V3.B16, V3.B16
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R0)
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R3)
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VAND V30.B16, V0.B16, V4.B16
	VUSHR $4, V0.B16, V0.B16
	VAND V30.B16, V1.B16, V5.B16
	VUSHR $4, V1.B16, V1.B16
	VAND V30.B16, V2.B16, V6.B16
	VUSHR $4, V2.B16, V2.B16
	VAND V30.B16, V3.B16, V7.B16
	VUSHR $4, V3.B16, V3.B16
	VSUB V31.B16, V4.B16, V4.B16
	VSUB V31.B16, V0.B16, V0.B16
	VSUB V31.B16, V5.B16, V5.B16
	VSUB V31.B16, V1.B16, V1.B16
	VSUB V31.B16, V6.B16, V6.B16
	VSUB V31.B16, V2.B16, V2.B16
	VSUB V31.B16, V7.B16, V7.B16
	VSUB V31.B16, V3.B16, V3.B16
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R0)
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R3)
	MOVD R3, R0
	SUBS $1, R2, R2
	BNE block
	RET

// func softenNEON(scores, tops, sums *float32, rows int, scale float32)
//
// Scores of whole tiles: see softenAVX2.
TEXT ·softenNEON(SB), NOSPLIT, $0-36
	MOVD scores+0(FP), R0
	MOVD tops+8(FP), R1
	MOVD sums+16(FP), R2
	MOVD rows+24(FP), R3
	FMOVS scale+32(FP), F31
	MOVW $0xc2fa0000, R9 // -125
	VDUP R9, V16.S4
	MOVW $0x4b400000, R9 // magic
	VDUP R9, V17.S4
	MOVW $0x3c1d0178, R9 // term4
	VDUP R9, V18.S4
	MOVW $0x3d64fe2e, R9 // term3
	VDUP R9, V19.S4
	MOVW $0x3e7601bc, R9 // term2
	VDUP R9, V20.S4
	MOVW $0x3f317096, R9 // term1
	VDUP R9, V21.S4
	MOVW $0x3f800000, R9 // 1
	VDUP R9, V22.S4
	MOVW $0xff800000, R9 // -Inf
	VDUP R9, V23.S4

row:
	MOVD R0, R4
	MOVD $8, R5
	VMOV V23.B16, V24.B16

most:
	FLDPQ (R4), (F0, F1)
	FLDPQ 32(R4), (F2, F3)
	WORD $0x4e21c400 // fmaxnm v0.4s, v0.4s, v1.4s
	WORD $0x4e23c442 // fmaxnm v2.4s, v2.4s, v3.4s
	WORD $0x4e22c400 // fmaxnm v0.4s, v0.4s, v2.4s
	WORD $0x4e20c718 // fmaxnm v24.4s, v24.4s, v0.4s
	ADD $64, R4, R4
	SUBS $1, R5, R5
	BNE most
	WORD $0x6e30cb1e // fmaxnmv s30, v24.4s
	FMOVS.P F30, 4(R1)
	VDUP V30.S[0], V30.S4
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16
	VEOR V28.B16, V28.B16, V28.B16
	VEOR V29.B16, V29.B16, V29.B16
	MOVD $8, R5

weights:
	FLDPQ (R0), (F0, F1)
	FLDPQ 32(R0), (F2, F3)
	WORD $0x4ebed400 // fsub v0.4s, v0.4s, v30.4s
	WORD $0x4ebed421 // fsub v1.4s, v1.4s, v30.4s
	WORD $0x4ebed442 // fsub v2.4s, v2.4s, v30.4s
	WORD $0x4ebed463 // fsub v3.4s, v3.4s, v30.4s
	WORD $0x4f9f9000 // fmul v0.4s, v0.4s, v31.s[0]
	WORD $0x4f9f9021 // fmul v1.4s, v1.4s, v31.s[0]
	WORD $0x4f9f9042 // fmul v2.4s, v2.4s, v31.s[0]
	WORD $0x4f9f9063 // fmul v3.4s, v3.4s, v31.s[0]
	WORD $0x6ea0e604 // fcmgt v4.4s, v16.4s, v0.4s
	WORD $0x6ea1e605 // fcmgt v5.4s, v16.4s, v1.4s
	WORD $0x4e31d406 // fadd v6.4s, v0.4s, v17.4s
	WORD $0x4e31d427 // fadd v7.4s, v1.4s, v17.4s
	WORD $0x4eb1d4c8 // fsub v8.4s, v6.4s, v17.4s
	WORD $0x4eb1d4e9 // fsub v9.4s, v7.4s, v17.4s
	WORD $0x4ea8d400 // fsub v0.4s, v0.4s, v8.4s
	WORD $0x4ea9d421 // fsub v1.4s, v1.4s, v9.4s
	WORD $0x4eb31e6a // mov v10.16b, v19.16b
	WORD $0x4eb31e6b // mov v11.16b, v19.16b
	WORD $0x4e20ce4a // fmla v10.4s, v18.4s, v0.4s
	WORD $0x4e21ce4b // fmla v11.4s, v18.4s, v1.4s
	WORD $0x4eb41e8c // mov v12.16b, v20.16b
	WORD $0x4eb41e8d // mov v13.16b, v20.16b
	WORD $0x4e20cd4c // fmla v12.4s, v10.4s, v0.4s
	WORD $0x4e21cd6d // fmla v13.4s, v11.4s, v1.4s
	WORD $0x4eb51eaa // mov v10.16b, v21.16b
	WORD $0x4eb51eab // mov v11.16b, v21.16b
	WORD $0x4e20cd8a // fmla v10.4s, v12.4s, v0.4s
	WORD $0x4e21cdab // fmla v11.4s, v13.4s, v1.4s
	WORD $0x4eb61ecc // mov v12.16b, v22.16b
	WORD $0x4eb61ecd // mov v13.16b, v22.16b
	WORD $0x4e20cd4c // fmla v12.4s, v10.4s, v0.4s
	WORD $0x4e21cd6d // fmla v13.4s, v11.4s, v1.4s
	WORD $0x4f3754c6 // shl v6.4s, v6.4s, #23
	WORD $0x4f3754e7 // shl v7.4s, v7.4s, #23
	WORD $0x4eb684c6 // add v6.4s, v6.4s, v22.4s
	WORD $0x4eb684e7 // add v7.4s, v7.4s, v22.4s
	WORD $0x6e26dd80 // fmul v0.4s, v12.4s, v6.4s
	WORD $0x6e27dda1 // fmul v1.4s, v13.4s, v7.4s
	WORD $0x4e641c00 // bic v0.16b, v0.16b, v4.16b
	WORD $0x4e651c21 // bic v1.16b, v1.16b, v5.16b
	WORD $0x6ea2e604 // fcmgt v4.4s, v16.4s, v2.4s
	WORD $0x6ea3e605 // fcmgt v5.4s, v16.4s, v3.4s
	WORD $0x4e31d446 // fadd v6.4s, v2.4s, v17.4s
	WORD $0x4e31d467 // fadd v7.4s, v3.4s, v17.4s
	WORD $0x4eb1d4c8 // fsub v8.4s, v6.4s, v17.4s
	WORD $0x4eb1d4e9 // fsub v9.4s, v7.4s, v17.4s
	WORD $0x4ea8d442 // fsub v2.4s, v2.4s, v8.4s
	WORD $0x4ea9d463 // fsub v3.4s, v3.4s, v9.4s
	WORD $0x4eb31e6a // mov v10.16b, v19.16b
	WORD $0x4eb31e6b // mov v11.16b, v19.16b
	WORD $0x4e22ce4a // fmla v10.4s, v18.4s, v2.4s
	WORD $0x4e23ce4b // fmla v11.4s, v18.4s, v3.4s
	WORD $0x4eb41e8c // mov v12.16b, v20.16b
	WORD $0x4eb41e8d // mov v13.16b, v20.16b
	WORD $0x4e22cd4c // fmla v12.4s, v10.4s, v2.4s
	WORD $0x4e23cd6d // fmla v13.4s, v11.4s, v3.4s
	WORD $0x4eb51eaa // mov v10.16b, v21.16b
	WORD $0x4eb51eab // mov v11.16b, v21.16b
	WORD $0x4e22cd8a // fmla v10.4s, v12.4s, v2.4s
	WORD $0x4e23cdab // fmla v11.4s, v13.4s, v3.4s
	WORD $0x4eb61ecc // mov v12.16b, v22.16b
	WORD $0x4eb61ecd // mov v13.16b, v22.16b
	WORD $0x4e22cd4c // fmla v12.4s, v10.4s, v2.4s
	WORD $0x4e23cd6d // fmla v13.4s, v11.4s, v3.4s
	WORD $0x4f3754c6 // shl v6.4s, v6.4s, #23
	WORD $0x4f3754e7 // shl v7.4s, v7.4s, #23
	WORD $0x4eb684c6 // add v6.4s, v6.4s, v22.4s
	WORD $0x4eb684e7 // add v7.4s, v7.4s, v22.4s
	WORD $0x6e26dd82 // fmul v2.4s, v12.4s, v6.4s
	WORD $0x6e27dda3 // fmul v3.4s, v13.4s, v7.4s
	WORD $0x4e641c42 // bic v2.16b, v2.16b, v4.16b
	WORD $0x4e651c63 // bic v3.16b, v3.16b, v5.16b
	WORD $0x4e20d75a // fadd v26.4s, v26.4s, v0.4s
	WORD $0x4e21d77b // fadd v27.4s, v27.4s, v1.4s
	WORD $0x4e22d79c // fadd v28.4s, v28.4s, v2.4s
	WORD $0x4e23d7bd // fadd v29.4s, v29.4s, v3.4s
	FSTPQ (F0, F1), (R0)
	FSTPQ (F2, F3), 32(R0)
	ADD $64, R0, R0
	SUBS $1, R5, R5
	BNE weights
	WORD $0x4e3cd75a // fadd v26.4s, v26.4s, v28.4s
	WORD $0x4e3dd77b // fadd v27.4s, v27.4s, v29.4s
	WORD $0x4e3bd75a // fadd v26.4s, v26.4s, v27.4s
	WORD $0x6e1a435b // ext v27.16b, v26.16b, v26.16b, #8
	WORD $0x4e3bd75a // fadd v26.4s, v26.4s, v27.4s
	WORD $0x7e30db5a // faddp s26, v26.2s
	FMOVS.P F26, 4(R2)
	SUBS $1, R3, R3
	BNE row
	RET

// func roundCodesNEON(dst *int16, weights, scales, factors *float32, rows, blocks, stride int)
//
// Weights of a tile times scales: see roundCodesAVX2.
TEXT ·roundCodesNEON(SB), NOSPLIT, $0-56
	MOVD dst+0(FP), R0
	MOVD scales+16(FP), R2
	MOVD factors+24(FP), R3
	MOVD blocks+40(FP), R5
	MOVD stride+48(FP), R6
	LSL $2, R6, R6

block:
	MOVD weights+8(FP), R1
	MOVD rows+32(FP), R4
	MOVD R3, R7

row:
	FMOVS (R7), F20
	ADD R6, R7, R7
	MOVD R2, R8
	MOVD $8, R9

sixteen:
	FLDPQ (R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	FLDPQ (R8), (F4, F5)
	FLDPQ 32(R8), (F6, F7)
	WORD $0x6e24dc00 // fmul v0.4s, v0.4s, v4.4s
	WORD $0x6e25dc21 // fmul v1.4s, v1.4s, v5.4s
	WORD $0x6e26dc42 // fmul v2.4s, v2.4s, v6.4s
	WORD $0x6e27dc63 // fmul v3.4s, v3.4s, v7.4s
	WORD $0x4f949000 // fmul v0.4s, v0.4s, v20.s[0]
	WORD $0x4f949021 // fmul v1.4s, v1.4s, v20.s[0]
	WORD $0x4f949042 // fmul v2.4s, v2.4s, v20.s[0]
	WORD $0x4f949063 // fmul v3.4s, v3.4s, v20.s[0]
	WORD $0x4e21a800 // fcvtns v0.4s, v0.4s
	WORD $0x4e21a821 // fcvtns v1.4s, v1.4s
	WORD $0x4e21a842 // fcvtns v2.4s, v2.4s
	WORD $0x4e21a863 // fcvtns v3.4s, v3.4s
	WORD $0x0e614804 // sqxtn v4.4h, v0.4s
	WORD $0x0e614845 // sqxtn v5.4h, v2.4s
	WORD $0x4e614824 // sqxtn2 v4.8h, v1.4s
	WORD $0x4e614865 // sqxtn2 v5.8h, v3.4s
	FSTPQ (F4, F5), (R0)
	ADD $64, R1, R1
	ADD $64, R8, R8
	ADD $32, R0, R0
	SUBS $1, R9, R9
	BNE sixteen
	SUBS $1, R4, R4
	BNE row
	ADD $512, R2, R2
	ADD $4, R3, R3
	SUBS $1, R5, R5
	BNE block
	RET

// func addValues4x16NEON(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)
//
// 4 rows and 16 columns at a time, two parts of a block: see addValues6x16AVX2.
TEXT ·addValues4x16NEON(SB), NOSPLIT, $0-88
	MOVD dst+0(FP), R0
	MOVD codes+8(FP), R1
	MOVD values+16(FP), R2
	MOVD units+40(FP), R15
	MOVD blocks+56(FP), R3
	LSL $7, R3, R4
	LSL $6, R3, R5
	MOVD stride+64(FP), R10
	LSL $2, R10, R10
	MOVD ahead+72(FP), R6
	MOVD step+80(FP), R25

block:
	MOVD $2, R14

part:
	MOVD R1, R12
	MOVD R2, R13
	MOVD eights+48(FP), R11
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

eight:
	PRFM 0(R6), PLDL2KEEP
	PRFM 64(R6), PLDL2KEEP
	PRFM 128(R6), PLDL2KEEP
	ADD R25, R6, R6
	FMOVQ (R12), F0
	FMOVQ 256(R12), F1
	FMOVQ 512(R12), F2
	FMOVQ 768(R12), F3
	ADD $16, R12, R12
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f402348 // smlal v8.4s, v26.4h, v0.h[0]
	WORD $0x4f402349 // smlal2 v9.4s, v26.8h, v0.h[0]
	WORD $0x0f40236a // smlal v10.4s, v27.4h, v0.h[0]
	WORD $0x4f40236b // smlal2 v11.4s, v27.8h, v0.h[0]
	WORD $0x0f41234c // smlal v12.4s, v26.4h, v1.h[0]
	WORD $0x4f41234d // smlal2 v13.4s, v26.8h, v1.h[0]
	WORD $0x0f41236e // smlal v14.4s, v27.4h, v1.h[0]
	WORD $0x4f41236f // smlal2 v15.4s, v27.8h, v1.h[0]
	WORD $0x0f422350 // smlal v16.4s, v26.4h, v2.h[0]
	WORD $0x4f422351 // smlal2 v17.4s, v26.8h, v2.h[0]
	WORD $0x0f422372 // smlal v18.4s, v27.4h, v2.h[0]
	WORD $0x4f422373 // smlal2 v19.4s, v27.8h, v2.h[0]
	WORD $0x0f432354 // smlal v20.4s, v26.4h, v3.h[0]
	WORD $0x4f432355 // smlal2 v21.4s, v26.8h, v3.h[0]
	WORD $0x0f432376 // smlal v22.4s, v27.4h, v3.h[0]
	WORD $0x4f432377 // smlal2 v23.4s, v27.8h, v3.h[0]
	WORD $0x0f502388 // smlal v8.4s, v28.4h, v0.h[1]
	WORD $0x4f502389 // smlal2 v9.4s, v28.8h, v0.h[1]
	WORD $0x0f5023aa // smlal v10.4s, v29.4h, v0.h[1]
	WORD $0x4f5023ab // smlal2 v11.4s, v29.8h, v0.h[1]
	WORD $0x0f51238c // smlal v12.4s, v28.4h, v1.h[1]
	WORD $0x4f51238d // smlal2 v13.4s, v28.8h, v1.h[1]
	WORD $0x0f5123ae // smlal v14.4s, v29.4h, v1.h[1]
	WORD $0x4f5123af // smlal2 v15.4s, v29.8h, v1.h[1]
	WORD $0x0f522390 // smlal v16.4s, v28.4h, v2.h[1]
	WORD $0x4f522391 // smlal2 v17.4s, v28.8h, v2.h[1]
	WORD $0x0f5223b2 // smlal v18.4s, v29.4h, v2.h[1]
	WORD $0x4f5223b3 // smlal2 v19.4s, v29.8h, v2.h[1]
	WORD $0x0f532394 // smlal v20.4s, v28.4h, v3.h[1]
	WORD $0x4f532395 // smlal2 v21.4s, v28.8h, v3.h[1]
	WORD $0x0f5323b6 // smlal v22.4s, v29.4h, v3.h[1]
	WORD $0x4f5323b7 // smlal2 v23.4s, v29.8h, v3.h[1]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f602348 // smlal v8.4s, v26.4h, v0.h[2]
	WORD $0x4f602349 // smlal2 v9.4s, v26.8h, v0.h[2]
	WORD $0x0f60236a // smlal v10.4s, v27.4h, v0.h[2]
	WORD $0x4f60236b // smlal2 v11.4s, v27.8h, v0.h[2]
	WORD $0x0f61234c // smlal v12.4s, v26.4h, v1.h[2]
	WORD $0x4f61234d // smlal2 v13.4s, v26.8h, v1.h[2]
	WORD $0x0f61236e // smlal v14.4s, v27.4h, v1.h[2]
	WORD $0x4f61236f // smlal2 v15.4s, v27.8h, v1.h[2]
	WORD $0x0f622350 // smlal v16.4s, v26.4h, v2.h[2]
	WORD $0x4f622351 // smlal2 v17.4s, v26.8h, v2.h[2]
	WORD $0x0f622372 // smlal v18.4s, v27.4h, v2.h[2]
	WORD $0x4f622373 // smlal2 v19.4s, v27.8h, v2.h[2]
	WORD $0x0f632354 // smlal v20.4s, v26.4h, v3.h[2]
	WORD $0x4f632355 // smlal2 v21.4s, v26.8h, v3.h[2]
	WORD $0x0f632376 // smlal v22.4s, v27.4h, v3.h[2]
	WORD $0x4f632377 // smlal2 v23.4s, v27.8h, v3.h[2]
	WORD $0x0f702388 // smlal v8.4s, v28.4h, v0.h[3]
	WORD $0x4f702389 // smlal2 v9.4s, v28.8h, v0.h[3]
	WORD $0x0f7023aa // smlal v10.4s, v29.4h, v0.h[3]
	WORD $0x4f7023ab // smlal2 v11.4s, v29.8h, v0.h[3]
	WORD $0x0f71238c // smlal v12.4s, v28.4h, v1.h[3]
	WORD $0x4f71238d // smlal2 v13.4s, v28.8h, v1.h[3]
	WORD $0x0f7123ae // smlal v14.4s, v29.4h, v1.h[3]
	WORD $0x4f7123af // smlal2 v15.4s, v29.8h, v1.h[3]
	WORD $0x0f722390 // smlal v16.4s, v28.4h, v2.h[3]
	WORD $0x4f722391 // smlal2 v17.4s, v28.8h, v2.h[3]
	WORD $0x0f7223b2 // smlal v18.4s, v29.4h, v2.h[3]
	WORD $0x4f7223b3 // smlal2 v19.4s, v29.8h, v2.h[3]
	WORD $0x0f732394 // smlal v20.4s, v28.4h, v3.h[3]
	WORD $0x4f732395 // smlal2 v21.4s, v28.8h, v3.h[3]
	WORD $0x0f7323b6 // smlal v22.4s, v29.4h, v3.h[3]
	WORD $0x4f7323b7 // smlal2 v23.4s, v29.8h, v3.h[3]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f402b48 // smlal v8.4s, v26.4h, v0.h[4]
	WORD $0x4f402b49 // smlal2 v9.4s, v26.8h, v0.h[4]
	WORD $0x0f402b6a // smlal v10.4s, v27.4h, v0.h[4]
	WORD $0x4f402b6b // smlal2 v11.4s, v27.8h, v0.h[4]
	WORD $0x0f412b4c // smlal v12.4s, v26.4h, v1.h[4]
	WORD $0x4f412b4d // smlal2 v13.4s, v26.8h, v1.h[4]
	WORD $0x0f412b6e // smlal v14.4s, v27.4h, v1.h[4]
	WORD $0x4f412b6f // smlal2 v15.4s, v27.8h, v1.h[4]
	WORD $0x0f422b50 // smlal v16.4s, v26.4h, v2.h[4]
	WORD $0x4f422b51 // smlal2 v17.4s, v26.8h, v2.h[4]
	WORD $0x0f422b72 // smlal v18.4s, v27.4h, v2.h[4]
	WORD $0x4f422b73 // smlal2 v19.4s, v27.8h, v2.h[4]
	WORD $0x0f432b54 // smlal v20.4s, v26.4h, v3.h[4]
	WORD $0x4f432b55 // smlal2 v21.4s, v26.8h, v3.h[4]
	WORD $0x0f432b76 // smlal v22.4s, v27.4h, v3.h[4]
	WORD $0x4f432b77 // smlal2 v23.4s, v27.8h, v3.h[4]
	WORD $0x0f502b88 // smlal v8.4s, v28.4h, v0.h[5]
	WORD $0x4f502b89 // smlal2 v9.4s, v28.8h, v0.h[5]
	WORD $0x0f502baa // smlal v10.4s, v29.4h, v0.h[5]
	WORD $0x4f502bab // smlal2 v11.4s, v29.8h, v0.h[5]
	WORD $0x0f512b8c // smlal v12.4s, v28.4h, v1.h[5]
	WORD $0x4f512b8d // smlal2 v13.4s, v28.8h, v1.h[5]
	WORD $0x0f512bae // smlal v14.4s, v29.4h, v1.h[5]
	WORD $0x4f512baf // smlal2 v15.4s, v29.8h, v1.h[5]
	WORD $0x0f522b90 // smlal v16.4s, v28.4h, v2.h[5]
	WORD $0x4f522b91 // smlal2 v17.4s, v28.8h, v2.h[5]
	WORD $0x0f522bb2 // smlal v18.4s, v29.4h, v2.h[5]
	WORD $0x4f522bb3 // smlal2 v19.4s, v29.8h, v2.h[5]
	WORD $0x0f532b94 // smlal v20.4s, v28.4h, v3.h[5]
	WORD $0x4f532b95 // smlal2 v21.4s, v28.8h, v3.h[5]
	WORD $0x0f532bb6 // smlal v22.4s, v29.4h, v3.h[5]
	WORD $0x4f532bb7 // smlal2 v23.4s, v29.8h, v3.h[5]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f602b48 // smlal v8.4s, v26.4h, v0.h[6]
	WORD $0x4f602b49 // smlal2 v9.4s, v26.8h, v0.h[6]
	WORD $0x0f602b6a // smlal v10.4s, v27.4h, v0.h[6]
	WORD $0x4f602b6b // smlal2 v11.4s, v27.8h, v0.h[6]
	WORD $0x0f612b4c // smlal v12.4s, v26.4h, v1.h[6]
	WORD $0x4f612b4d // smlal2 v13.4s, v26.8h, v1.h[6]
	WORD $0x0f612b6e // smlal v14.4s, v27.4h, v1.h[6]
	WORD $0x4f612b6f // smlal2 v15.4s, v27.8h, v1.h[6]
	WORD $0x0f622b50 // smlal v16.4s, v26.4h, v2.h[6]
	WORD $0x4f622b51 // smlal2 v17.4s, v26.8h, v2.h[6]
	WORD $0x0f622b72 // smlal v18.4s, v27.4h, v2.h[6]
	WORD $0x4f622b73 // smlal2 v19.4s, v27.8h, v2.h[6]
	WORD $0x0f632b54 // smlal v20.4s, v26.4h, v3.h[6]
	WORD $0x4f632b55 // smlal2 v21.4s, v26.8h, v3.h[6]
	WORD $0x0f632b76 // smlal v22.4s, v27.4h, v3.h[6]
	WORD $0x4f632b77 // smlal2 v23.4s, v27.8h, v3.h[6]
	WORD $0x0f702b88 // smlal v8.4s, v28.4h, v0.h[7]
	WORD $0x4f702b89 // smlal2 v9.4s, v28.8h, v0.h[7]
	WORD $0x0f702baa // smlal v10.4s, v29.4h, v0.h[7]
	WORD $0x4f702bab // smlal2 v11.4s, v29.8h, v0.h[7]
	WORD $0x0f712b8c // smlal v12.4s, v28.4h, v1.h[7]
	WORD $0x4f712b8d // smlal2 v13.4s, v28.8h, v1.h[7]
	WORD $0x0f712bae // smlal v14.4s, v29.4h, v1.h[7]
	WORD $0x4f712baf // smlal2 v15.4s, v29.8h, v1.h[7]
	WORD $0x0f722b90 // smlal v16.4s, v28.4h, v2.h[7]
	WORD $0x4f722b91 // smlal2 v17.4s, v28.8h, v2.h[7]
	WORD $0x0f722bb2 // smlal v18.4s, v29.4h, v2.h[7]
	WORD $0x4f722bb3 // smlal2 v19.4s, v29.8h, v2.h[7]
	WORD $0x0f732b94 // smlal v20.4s, v28.4h, v3.h[7]
	WORD $0x4f732b95 // smlal2 v21.4s, v28.8h, v3.h[7]
	WORD $0x0f732bb6 // smlal v22.4s, v29.4h, v3.h[7]
	WORD $0x4f732bb7 // smlal2 v23.4s, v29.8h, v3.h[7]
	SUBS $1, R11, R11
	BNE eight
	MOVD by+24(FP), R7
	MOVD parts+32(FP), R8
	MOVD R15, R9
	MOVD R0, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4e21d929 // scvtf v9.4s, v9.4s
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4e21d96b // scvtf v11.4s, v11.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801118 // fmla v24.4s, v8.4s, v0.s[0]
	WORD $0x4f801139 // fmla v25.4s, v9.4s, v0.s[0]
	WORD $0x4f80115a // fmla v26.4s, v10.4s, v0.s[0]
	WORD $0x4f80117b // fmla v27.4s, v11.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD R4, R11, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21d98c // scvtf v12.4s, v12.4s
	WORD $0x4e21d9ad // scvtf v13.4s, v13.4s
	WORD $0x4e21d9ce // scvtf v14.4s, v14.4s
	WORD $0x4e21d9ef // scvtf v15.4s, v15.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801198 // fmla v24.4s, v12.4s, v0.s[0]
	WORD $0x4f8011b9 // fmla v25.4s, v13.4s, v0.s[0]
	WORD $0x4f8011da // fmla v26.4s, v14.4s, v0.s[0]
	WORD $0x4f8011fb // fmla v27.4s, v15.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD R4, R11, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21da10 // scvtf v16.4s, v16.4s
	WORD $0x4e21da31 // scvtf v17.4s, v17.4s
	WORD $0x4e21da52 // scvtf v18.4s, v18.4s
	WORD $0x4e21da73 // scvtf v19.4s, v19.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801218 // fmla v24.4s, v16.4s, v0.s[0]
	WORD $0x4f801239 // fmla v25.4s, v17.4s, v0.s[0]
	WORD $0x4f80125a // fmla v26.4s, v18.4s, v0.s[0]
	WORD $0x4f80127b // fmla v27.4s, v19.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD R4, R11, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21da94 // scvtf v20.4s, v20.4s
	WORD $0x4e21dab5 // scvtf v21.4s, v21.4s
	WORD $0x4e21dad6 // scvtf v22.4s, v22.4s
	WORD $0x4e21daf7 // scvtf v23.4s, v23.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801298 // fmla v24.4s, v20.4s, v0.s[0]
	WORD $0x4f8012b9 // fmla v25.4s, v21.4s, v0.s[0]
	WORD $0x4f8012da // fmla v26.4s, v22.4s, v0.s[0]
	WORD $0x4f8012fb // fmla v27.4s, v23.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD $64, R0, R0
	ADD $32, R2, R2
	SUBS $1, R14, R14
	BNE part
	ADD $1024, R1, R1
	ADD $4, R15, R15
	SUBS $1, R3, R3
	BNE block
	RET

// func addValues2x16NEON(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)
//
// 2 rows and 16 columns at a time, two parts of a block: see addValues2x16AVX2.
TEXT ·addValues2x16NEON(SB), NOSPLIT, $0-88
	MOVD dst+0(FP), R0
	MOVD codes+8(FP), R1
	MOVD values+16(FP), R2
	MOVD units+40(FP), R15
	MOVD blocks+56(FP), R3
	LSL $7, R3, R4
	LSL $6, R3, R5
	MOVD stride+64(FP), R10
	LSL $2, R10, R10
	MOVD ahead+72(FP), R6
	MOVD step+80(FP), R25

block:
	MOVD $2, R14

part:
	MOVD R1, R12
	MOVD R2, R13
	MOVD eights+48(FP), R11
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16

eight:
	PRFM 0(R6), PLDL2KEEP
	PRFM 64(R6), PLDL2KEEP
	PRFM 128(R6), PLDL2KEEP
	ADD R25, R6, R6
	FMOVQ (R12), F0
	FMOVQ 256(R12), F1
	ADD $16, R12, R12
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f402348 // smlal v8.4s, v26.4h, v0.h[0]
	WORD $0x4f402349 // smlal2 v9.4s, v26.8h, v0.h[0]
	WORD $0x0f40236a // smlal v10.4s, v27.4h, v0.h[0]
	WORD $0x4f40236b // smlal2 v11.4s, v27.8h, v0.h[0]
	WORD $0x0f41234c // smlal v12.4s, v26.4h, v1.h[0]
	WORD $0x4f41234d // smlal2 v13.4s, v26.8h, v1.h[0]
	WORD $0x0f41236e // smlal v14.4s, v27.4h, v1.h[0]
	WORD $0x4f41236f // smlal2 v15.4s, v27.8h, v1.h[0]
	WORD $0x0f502388 // smlal v8.4s, v28.4h, v0.h[1]
	WORD $0x4f502389 // smlal2 v9.4s, v28.8h, v0.h[1]
	WORD $0x0f5023aa // smlal v10.4s, v29.4h, v0.h[1]
	WORD $0x4f5023ab // smlal2 v11.4s, v29.8h, v0.h[1]
	WORD $0x0f51238c // smlal v12.4s, v28.4h, v1.h[1]
	WORD $0x4f51238d // smlal2 v13.4s, v28.8h, v1.h[1]
	WORD $0x0f5123ae // smlal v14.4s, v29.4h, v1.h[1]
	WORD $0x4f5123af // smlal2 v15.4s, v29.8h, v1.h[1]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f602348 // smlal v8.4s, v26.4h, v0.h[2]
	WORD $0x4f602349 // smlal2 v9.4s, v26.8h, v0.h[2]
	WORD $0x0f60236a // smlal v10.4s, v27.4h, v0.h[2]
	WORD $0x4f60236b // smlal2 v11.4s, v27.8h, v0.h[2]
	WORD $0x0f61234c // smlal v12.4s, v26.4h, v1.h[2]
	WORD $0x4f61234d // smlal2 v13.4s, v26.8h, v1.h[2]
	WORD $0x0f61236e // smlal v14.4s, v27.4h, v1.h[2]
	WORD $0x4f61236f // smlal2 v15.4s, v27.8h, v1.h[2]
	WORD $0x0f702388 // smlal v8.4s, v28.4h, v0.h[3]
	WORD $0x4f702389 // smlal2 v9.4s, v28.8h, v0.h[3]
	WORD $0x0f7023aa // smlal v10.4s, v29.4h, v0.h[3]
	WORD $0x4f7023ab // smlal2 v11.4s, v29.8h, v0.h[3]
	WORD $0x0f71238c // smlal v12.4s, v28.4h, v1.h[3]
	WORD $0x4f71238d // smlal2 v13.4s, v28.8h, v1.h[3]
	WORD $0x0f7123ae // smlal v14.4s, v29.4h, v1.h[3]
	WORD $0x4f7123af // smlal2 v15.4s, v29.8h, v1.h[3]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f402b48 // smlal v8.4s, v26.4h, v0.h[4]
	WORD $0x4f402b49 // smlal2 v9.4s, v26.8h, v0.h[4]
	WORD $0x0f402b6a // smlal v10.4s, v27.4h, v0.h[4]
	WORD $0x4f402b6b // smlal2 v11.4s, v27.8h, v0.h[4]
	WORD $0x0f412b4c // smlal v12.4s, v26.4h, v1.h[4]
	WORD $0x4f412b4d // smlal2 v13.4s, v26.8h, v1.h[4]
	WORD $0x0f412b6e // smlal v14.4s, v27.4h, v1.h[4]
	WORD $0x4f412b6f // smlal2 v15.4s, v27.8h, v1.h[4]
	WORD $0x0f502b88 // smlal v8.4s, v28.4h, v0.h[5]
	WORD $0x4f502b89 // smlal2 v9.4s, v28.8h, v0.h[5]
	WORD $0x0f502baa // smlal v10.4s, v29.4h, v0.h[5]
	WORD $0x4f502bab // smlal2 v11.4s, v29.8h, v0.h[5]
	WORD $0x0f512b8c // smlal v12.4s, v28.4h, v1.h[5]
	WORD $0x4f512b8d // smlal2 v13.4s, v28.8h, v1.h[5]
	WORD $0x0f512bae // smlal v14.4s, v29.4h, v1.h[5]
	WORD $0x4f512baf // smlal2 v15.4s, v29.8h, v1.h[5]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f602b48 // smlal v8.4s, v26.4h, v0.h[6]
	WORD $0x4f602b49 // smlal2 v9.4s, v26.8h, v0.h[6]
	WORD $0x0f602b6a // smlal v10.4s, v27.4h, v0.h[6]
	WORD $0x4f602b6b // smlal2 v11.4s, v27.8h, v0.h[6]
	WORD $0x0f612b4c // smlal v12.4s, v26.4h, v1.h[6]
	WORD $0x4f612b4d // smlal2 v13.4s, v26.8h, v1.h[6]
	WORD $0x0f612b6e // smlal v14.4s, v27.4h, v1.h[6]
	WORD $0x4f612b6f // smlal2 v15.4s, v27.8h, v1.h[6]
	WORD $0x0f702b88 // smlal v8.4s, v28.4h, v0.h[7]
	WORD $0x4f702b89 // smlal2 v9.4s, v28.8h, v0.h[7]
	WORD $0x0f702baa // smlal v10.4s, v29.4h, v0.h[7]
	WORD $0x4f702bab // smlal2 v11.4s, v29.8h, v0.h[7]
	WORD $0x0f712b8c // smlal v12.4s, v28.4h, v1.h[7]
	WORD $0x4f712b8d // smlal2 v13.4s, v28.8h, v1.h[7]
	WORD $0x0f712bae // smlal v14.4s, v29.4h, v1.h[7]
	WORD $0x4f712baf // smlal2 v15.4s, v29.8h, v1.h[7]
	SUBS $1, R11, R11
	BNE eight
	MOVD by+24(FP), R7
	MOVD parts+32(FP), R8
	MOVD R15, R9
	MOVD R0, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4e21d929 // scvtf v9.4s, v9.4s
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4e21d96b // scvtf v11.4s, v11.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801118 // fmla v24.4s, v8.4s, v0.s[0]
	WORD $0x4f801139 // fmla v25.4s, v9.4s, v0.s[0]
	WORD $0x4f80115a // fmla v26.4s, v10.4s, v0.s[0]
	WORD $0x4f80117b // fmla v27.4s, v11.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD R4, R11, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21d98c // scvtf v12.4s, v12.4s
	WORD $0x4e21d9ad // scvtf v13.4s, v13.4s
	WORD $0x4e21d9ce // scvtf v14.4s, v14.4s
	WORD $0x4e21d9ef // scvtf v15.4s, v15.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801198 // fmla v24.4s, v12.4s, v0.s[0]
	WORD $0x4f8011b9 // fmla v25.4s, v13.4s, v0.s[0]
	WORD $0x4f8011da // fmla v26.4s, v14.4s, v0.s[0]
	WORD $0x4f8011fb // fmla v27.4s, v15.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD $64, R0, R0
	ADD $32, R2, R2
	SUBS $1, R14, R14
	BNE part
	ADD $512, R1, R1
	ADD $4, R15, R15
	SUBS $1, R3, R3
	BNE block
	RET

// func addValues1x16NEON(dst *float32, codes *int16, values *byte, by, parts, units *float32, eights, blocks, stride int, ahead *byte, step int)
//
// 1 row and 16 columns at a time, two parts of a block: see addValues1x16AVX2.
TEXT ·addValues1x16NEON(SB), NOSPLIT, $0-88
	MOVD dst+0(FP), R0
	MOVD codes+8(FP), R1
	MOVD values+16(FP), R2
	MOVD units+40(FP), R15
	MOVD blocks+56(FP), R3
	LSL $7, R3, R4
	LSL $6, R3, R5
	MOVD stride+64(FP), R10
	LSL $2, R10, R10
	MOVD ahead+72(FP), R6
	MOVD step+80(FP), R25

block:
	MOVD $2, R14

part:
	MOVD R1, R12
	MOVD R2, R13
	MOVD eights+48(FP), R11
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

eight:
	PRFM 0(R6), PLDL2KEEP
	PRFM 64(R6), PLDL2KEEP
	PRFM 128(R6), PLDL2KEEP
	ADD R25, R6, R6
	FMOVQ (R12), F0
	ADD $16, R12, R12
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f402348 // smlal v8.4s, v26.4h, v0.h[0]
	WORD $0x4f402349 // smlal2 v9.4s, v26.8h, v0.h[0]
	WORD $0x0f40236a // smlal v10.4s, v27.4h, v0.h[0]
	WORD $0x4f40236b // smlal2 v11.4s, v27.8h, v0.h[0]
	WORD $0x0f502388 // smlal v8.4s, v28.4h, v0.h[1]
	WORD $0x4f502389 // smlal2 v9.4s, v28.8h, v0.h[1]
	WORD $0x0f5023aa // smlal v10.4s, v29.4h, v0.h[1]
	WORD $0x4f5023ab // smlal2 v11.4s, v29.8h, v0.h[1]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f602348 // smlal v8.4s, v26.4h, v0.h[2]
	WORD $0x4f602349 // smlal2 v9.4s, v26.8h, v0.h[2]
	WORD $0x0f60236a // smlal v10.4s, v27.4h, v0.h[2]
	WORD $0x4f60236b // smlal2 v11.4s, v27.8h, v0.h[2]
	WORD $0x0f702388 // smlal v8.4s, v28.4h, v0.h[3]
	WORD $0x4f702389 // smlal2 v9.4s, v28.8h, v0.h[3]
	WORD $0x0f7023aa // smlal v10.4s, v29.4h, v0.h[3]
	WORD $0x4f7023ab // smlal2 v11.4s, v29.8h, v0.h[3]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f402b48 // smlal v8.4s, v26.4h, v0.h[4]
	WORD $0x4f402b49 // smlal2 v9.4s, v26.8h, v0.h[4]
	WORD $0x0f402b6a // smlal v10.4s, v27.4h, v0.h[4]
	WORD $0x4f402b6b // smlal2 v11.4s, v27.8h, v0.h[4]
	WORD $0x0f502b88 // smlal v8.4s, v28.4h, v0.h[5]
	WORD $0x4f502b89 // smlal2 v9.4s, v28.8h, v0.h[5]
	WORD $0x0f502baa // smlal v10.4s, v29.4h, v0.h[5]
	WORD $0x4f502bab // smlal2 v11.4s, v29.8h, v0.h[5]
	WORD $0x4cc581b8 // ld2 { v24.16b, v25.16b }, [x13], x5
	WORD $0x0f08a71a // sshll v26.8h, v24.8b, #0
	WORD $0x4f08a71b // sshll2 v27.8h, v24.16b, #0
	WORD $0x0f08a73c // sshll v28.8h, v25.8b, #0
	WORD $0x4f08a73d // sshll2 v29.8h, v25.16b, #0
	WORD $0x0f602b48 // smlal v8.4s, v26.4h, v0.h[6]
	WORD $0x4f602b49 // smlal2 v9.4s, v26.8h, v0.h[6]
	WORD $0x0f602b6a // smlal v10.4s, v27.4h, v0.h[6]
	WORD $0x4f602b6b // smlal2 v11.4s, v27.8h, v0.h[6]
	WORD $0x0f702b88 // smlal v8.4s, v28.4h, v0.h[7]
	WORD $0x4f702b89 // smlal2 v9.4s, v28.8h, v0.h[7]
	WORD $0x0f702baa // smlal v10.4s, v29.4h, v0.h[7]
	WORD $0x4f702bab // smlal2 v11.4s, v29.8h, v0.h[7]
	SUBS $1, R11, R11
	BNE eight
	MOVD by+24(FP), R7
	MOVD parts+32(FP), R8
	MOVD R15, R9
	MOVD R0, R11
	FMOVS (R9), F0
	ADD R10, R9, R9
	FMOVS.P 4(R8), F1
	FMULS F1, F0, F0
	FMOVS.P 4(R7), F1
	FLDPQ (R11), (F24, F25)
	FLDPQ 32(R11), (F26, F27)
	WORD $0x4e21d908 // scvtf v8.4s, v8.4s
	WORD $0x4e21d929 // scvtf v9.4s, v9.4s
	WORD $0x4e21d94a // scvtf v10.4s, v10.4s
	WORD $0x4e21d96b // scvtf v11.4s, v11.4s
	WORD $0x4f819318 // fmul v24.4s, v24.4s, v1.s[0]
	WORD $0x4f819339 // fmul v25.4s, v25.4s, v1.s[0]
	WORD $0x4f81935a // fmul v26.4s, v26.4s, v1.s[0]
	WORD $0x4f81937b // fmul v27.4s, v27.4s, v1.s[0]
	WORD $0x4f801118 // fmla v24.4s, v8.4s, v0.s[0]
	WORD $0x4f801139 // fmla v25.4s, v9.4s, v0.s[0]
	WORD $0x4f80115a // fmla v26.4s, v10.4s, v0.s[0]
	WORD $0x4f80117b // fmla v27.4s, v11.4s, v0.s[0]
	FSTPQ (F24, F25), (R11)
	FSTPQ (F26, F27), 32(R11)
	ADD $64, R0, R0
	ADD $32, R2, R2
	SUBS $1, R14, R14
	BNE part
	ADD $256, R1, R1
	ADD $4, R15, R15
	SUBS $1, R3, R3
	BNE block
	RET

// func greatestNEON(halves *byte) uint64
//
// The largest of 128 uint16 without their highest bits.
TEXT ·greatestNEON(SB), NOSPLIT, $0-16
	MOVD halves+0(FP), R0
	VLD1.P 64(R0), [V0.B16, V1.B16, V2.B16, V3.B16]
	WORD $0x6f04b400 // bic v0.8h, #128, lsl #8
	WORD $0x6f04b401 // bic v1.8h, #128, lsl #8
	WORD $0x6f04b402 // bic v2.8h, #128, lsl #8
	WORD $0x6f04b403 // bic v3.8h, #128, lsl #8
	MOVD $3, R1

next:
	VLD1.P 64(R0), [V4.B16, V5.B16, V6.B16, V7.B16]
	WORD $0x6f04b404 // bic v4.8h, #128, lsl #8
	WORD $0x6f04b405 // bic v5.8h, #128, lsl #8
	WORD $0x6f04b406 // bic v6.8h, #128, lsl #8
	WORD $0x6f04b407 // bic v7.8h, #128, lsl #8
	WORD $0x6e646400 // umax v0.8h, v0.8h, v4.8h
	WORD $0x6e656421 // umax v1.8h, v1.8h, v5.8h
	WORD $0x6e666442 // umax v2.8h, v2.8h, v6.8h
	WORD $0x6e676463 // umax v3.8h, v3.8h, v7.8h
	SUBS $1, R1, R1
	BNE next
	WORD $0x6e616400 // umax v0.8h, v0.8h, v1.8h
	WORD $0x6e636442 // umax v2.8h, v2.8h, v3.8h
	WORD $0x6e626400 // umax v0.8h, v0.8h, v2.8h
	WORD $0x6e70a800 // umaxv h0, v0.8h
	VMOV V0.H[0], R0
	MOVD R0, ret+8(FP)
	RET

// func unpackPairsNEON(dst, src *byte, width, quads int)
//
// The codes of 4 · quads positions: see unpackPairsAVX2.
TEXT ·unpackPairsNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD width+16(FP), R2
	MOVD quads+24(FP), R3
	LSL $1, R2, R2
	VMOVI $15, V30.B16
	VMOVI $8, V31.B16

quad:
	MOVD R2, R4
	ADD R2, R0, R5

next:
	VLD1.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VAND V30.B16, V0.B16, V4.B16
	VUSHR $4, V0.B16, V0.B16
	VAND V30.B16, V1.B16, V5.B16
	VUSHR $4, V1.B16, V1.B16
	VAND V30.B16, V2.B16, V6.B16
	VUSHR $4, V2.B16, V2.B16
	VAND V30.B16, V3.B16, V7.B16
	VUSHR $4, V3.B16, V3.B16
	VSUB V31.B16, V4.B16, V4.B16
	VSUB V31.B16, V0.B16, V0.B16
	VSUB V31.B16, V5.B16, V5.B16
	VSUB V31.B16, V1.B16, V1.B16
	VSUB V31.B16, V6.B16, V6.B16
	VSUB V31.B16, V2.B16, V2.B16
	VSUB V31.B16, V7.B16, V7.B16
	VSUB V31.B16, V3.B16, V3.B16
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R0)
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R5)
	SUBS $64, R4, R4
	BNE next
	MOVD R5, R0
	SUBS $1, R3, R3
	BNE quad
	RET
