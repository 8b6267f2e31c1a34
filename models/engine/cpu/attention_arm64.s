//go:build !purego

#include "textflag.h"

// The assembly of attention in NEON, as attention_amd64.s specifies it.

// func scores4x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte, step int)
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

// func scores2x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte, step int)
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

// func scores1x16NEON(dst, q, keys *float32, width, tiles int, ahead *byte, step int)
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

// func weighted4x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte, step int)
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

// func weighted2x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte, step int)
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

// func weighted1x16NEON(dst, weights, values *float32, positions, width, tiles int, ahead *byte, step int)
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

// func unpackQ4x1NEON(dst, src *byte, blocks int)
//
// Blocks of 1 position side by side.
TEXT ·unpackQ4x1NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD blocks+16(FP), R2
	VMOVI $15, V30.B16
	VMOVI $8, V31.B16

block:
	MOVHU.P 2(R1), R3
	MOVH.P R3, 2(R0)
	VLD1.P 16(R1), [V0.B16]
	VAND V30.B16, V0.B16, V4.B16
	VUSHR $4, V0.B16, V0.B16
	VSUB V31.B16, V4.B16, V4.B16
	VSUB V31.B16, V0.B16, V0.B16
	VST1.P [V4.B16], 16(R0)
	VST1.P [V0.B16], 16(R0)
	SUBS $1, R2, R2
	BNE block
	RET

// func unpackQ4x8NEON(dst, src *byte, blocks int)
//
// Blocks of 8 positions side by side.
TEXT ·unpackQ4x8NEON(SB), NOSPLIT, $0-24
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
