//go:build !purego

#include "textflag.h"

// The kernels of the 2-bit formats, 4 rows at a time, 16 bytes of codes (64
// columns) of each in a step. The last tile takes its last row again where
// there are fewer than 4.

// func ternaryRowsNEONDot(dst *float32, w *byte, stride, rows, rowBytes int, q *int8, sums *int32, runs int, scale float32)
//
// Codes stay where they are in their byte, in V0-V3 at shifts 0 and 6, V4-V7 at
// 2, V8-V11 at 4. At shift 6 a code of 2 would be a negative byte, so those are
// shifted down.
TEXT ·ternaryRowsNEONDot(SB), NOSPLIT, $0-68
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD rowBytes+32(FP), R4
	MOVD q+40(FP), R5
	MOVD sums+48(FP), R6
	MOVD runs+56(FP), R7
	VMOVI $0x03, V28.B16
	VMOVI $0x0c, V29.B16
	VMOVI $0x30, V30.B16

	// V27: Σq of the column.
	VEOR V27.B16, V27.B16, V27.B16

sum:
	FMOVQ.P 16(R6), F26
	VADD V26.S4, V27.S4, V27.S4
	SUBS $4, R7, R7
	BNE sum
	WORD $0x4eb1bb7b // addv s27, v27.4s
	VDUP V27.S[0], V27.S4

tile:
	// R8 to R11 are the tile's rows.
	MOVD R1, R8
	MOVD R8, R9
	MOVD R8, R10
	MOVD R8, R11
	CMP $2, R3
	BLT columns
	ADD R2, R8, R9
	MOVD R9, R10
	MOVD R9, R11
	BEQ columns
	ADD R2, R9, R10
	MOVD R10, R11
	CMP $3, R3
	BEQ columns
	ADD R2, R10, R11

columns:
	MOVD R5, R12
	MOVD R4, R13
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

next:
	SUBS $16, R13, R13
	BLT last
	FMOVQ.P 16(R8), F20
	FMOVQ.P 16(R9), F21
	FMOVQ.P 16(R10), F22
	FMOVQ.P 16(R11), F23
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4096(R9), PLDL1KEEP
	PRFM 4096(R10), PLDL1KEEP
	PRFM 4096(R11), PLDL1KEEP

step:
	FLDPQ.P 32(R12), (F16, F17)
	FLDPQ.P 32(R12), (F18, F19)
	VAND V28.B16, V20.B16, V12.B16
	VAND V28.B16, V21.B16, V13.B16
	VAND V28.B16, V22.B16, V14.B16
	VAND V28.B16, V23.B16, V15.B16
	WORD $0x4e909580 // sdot v0.4s, v12.16b, v16.16b
	WORD $0x4e9095a1 // sdot v1.4s, v13.16b, v16.16b
	WORD $0x4e9095c2 // sdot v2.4s, v14.16b, v16.16b
	WORD $0x4e9095e3 // sdot v3.4s, v15.16b, v16.16b
	VAND V29.B16, V20.B16, V12.B16
	VAND V29.B16, V21.B16, V13.B16
	VAND V29.B16, V22.B16, V14.B16
	VAND V29.B16, V23.B16, V15.B16
	WORD $0x4e919584 // sdot v4.4s, v12.16b, v17.16b
	WORD $0x4e9195a5 // sdot v5.4s, v13.16b, v17.16b
	WORD $0x4e9195c6 // sdot v6.4s, v14.16b, v17.16b
	WORD $0x4e9195e7 // sdot v7.4s, v15.16b, v17.16b
	VAND V30.B16, V20.B16, V12.B16
	VAND V30.B16, V21.B16, V13.B16
	VAND V30.B16, V22.B16, V14.B16
	VAND V30.B16, V23.B16, V15.B16
	WORD $0x4e929588 // sdot v8.4s, v12.16b, v18.16b
	WORD $0x4e9295a9 // sdot v9.4s, v13.16b, v18.16b
	WORD $0x4e9295ca // sdot v10.4s, v14.16b, v18.16b
	WORD $0x4e9295eb // sdot v11.4s, v15.16b, v18.16b
	VUSHR $6, V20.B16, V12.B16
	VUSHR $6, V21.B16, V13.B16
	VUSHR $6, V22.B16, V14.B16
	VUSHR $6, V23.B16, V15.B16
	WORD $0x4e939580 // sdot v0.4s, v12.16b, v19.16b
	WORD $0x4e9395a1 // sdot v1.4s, v13.16b, v19.16b
	WORD $0x4e9395c2 // sdot v2.4s, v14.16b, v19.16b
	WORD $0x4e9395e3 // sdot v3.4s, v15.16b, v19.16b
	B next

last:
	// 0, 4, 8 or 12 bytes are left; zeros follow them.
	ADDS $16, R13, R13
	BEQ end
	CMP $8, R13
	BLT four
	FMOVD (R8), F20
	FMOVD (R9), F21
	FMOVD (R10), F22
	FMOVD (R11), F23
	BEQ half
	ADD $8, R8
	ADD $8, R9
	ADD $8, R10
	ADD $8, R11
	VLD1 (R8), V20.S[2]
	VLD1 (R9), V21.S[2]
	VLD1 (R10), V22.S[2]
	VLD1 (R11), V23.S[2]

half:
	MOVD $0, R13
	B step

four:
	FMOVS (R8), F20
	FMOVS (R9), F21
	FMOVS (R10), F22
	FMOVS (R11), F23
	MOVD $0, R13
	B step

end:
	WORD $0x4f3e1480 // ssra v0.4s, v4.4s, #2
	WORD $0x4f3e14a1 // ssra v1.4s, v5.4s, #2
	WORD $0x4f3e14c2 // ssra v2.4s, v6.4s, #2
	WORD $0x4f3e14e3 // ssra v3.4s, v7.4s, #2
	WORD $0x4f3c1500 // ssra v0.4s, v8.4s, #4
	WORD $0x4f3c1521 // ssra v1.4s, v9.4s, #4
	WORD $0x4f3c1542 // ssra v2.4s, v10.4s, #4
	WORD $0x4f3c1563 // ssra v3.4s, v11.4s, #4
	VADDP V1.S4, V0.S4, V0.S4
	VADDP V3.S4, V2.S4, V2.S4
	VADDP V2.S4, V0.S4, V0.S4
	VSUB V27.S4, V0.S4, V0.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	FMOVS scale+64(FP), F31
	WORD $0x4f9f9000 // fmul v0.4s, v0.4s, v31.s[0]
	// A sum begins at 0, and 0 + -0 is 0.
	VEOR V1.B16, V1.B16, V1.B16
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	CMP $4, R3
	BLT few
	FMOVQ.P F0, 16(R0)
	ADD R2<<2, R1
	SUBS $4, R3, R3
	BNE tile
	RET

few:
	FMOVS.P F0, 4(R0)
	VEXT $4, V0.B16, V0.B16, V0.B16
	SUBS $1, R3, R3
	BNE few
	RET

// func ternaryRowsNEON(dst *float32, w *byte, stride, rows, rowBytes int, q *int8, sums *int32, runs int, scale float32)
//
// Codes stay where they are in their byte: sums in 16 bits, in V0-V3 at shifts 0
// and 6, V4-V7 at 2, V8-V11 at 4. After 4 steps the last are at most
// 4·2·(2<<4)·127 = 32512, and go to 32 bits in V12-V15.
TEXT ·ternaryRowsNEON(SB), NOSPLIT, $0-68
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD rowBytes+32(FP), R4
	MOVD q+40(FP), R5
	MOVD sums+48(FP), R6
	MOVD runs+56(FP), R7
	VMOVI $0x03, V28.B16
	VMOVI $0x0c, V29.B16
	VMOVI $0x30, V30.B16

	// V27: Σq of the column.
	VEOR V27.B16, V27.B16, V27.B16

sum:
	FMOVQ.P 16(R6), F26
	VADD V26.S4, V27.S4, V27.S4
	SUBS $4, R7, R7
	BNE sum
	WORD $0x4eb1bb7b // addv s27, v27.4s
	VDUP V27.S[0], V27.S4

tile:
	// R8 to R11 are the tile's rows.
	MOVD R1, R8
	MOVD R8, R9
	MOVD R8, R10
	MOVD R8, R11
	CMP $2, R3
	BLT columns
	ADD R2, R8, R9
	MOVD R9, R10
	MOVD R9, R11
	BEQ columns
	ADD R2, R9, R10
	MOVD R10, R11
	CMP $3, R3
	BEQ columns
	ADD R2, R10, R11

columns:
	MOVD R5, R12
	MOVD R4, R13
	MOVD $4, R14
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

next:
	SUBS $16, R13, R13
	BLT last
	FMOVQ.P 16(R8), F20
	FMOVQ.P 16(R9), F21
	FMOVQ.P 16(R10), F22
	FMOVQ.P 16(R11), F23
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4096(R9), PLDL1KEEP
	PRFM 4096(R10), PLDL1KEEP
	PRFM 4096(R11), PLDL1KEEP

step:
	FLDPQ.P 32(R12), (F16, F17)
	FLDPQ.P 32(R12), (F18, F19)
	VAND V28.B16, V20.B16, V24.B16
	VAND V28.B16, V21.B16, V25.B16
	VAND V28.B16, V22.B16, V26.B16
	VAND V28.B16, V23.B16, V31.B16
	WORD $0x0e308300 // smlal v0.8h, v24.8b, v16.8b
	WORD $0x0e308321 // smlal v1.8h, v25.8b, v16.8b
	WORD $0x0e308342 // smlal v2.8h, v26.8b, v16.8b
	WORD $0x0e3083e3 // smlal v3.8h, v31.8b, v16.8b
	WORD $0x4e308300 // smlal2 v0.8h, v24.16b, v16.16b
	WORD $0x4e308321 // smlal2 v1.8h, v25.16b, v16.16b
	WORD $0x4e308342 // smlal2 v2.8h, v26.16b, v16.16b
	WORD $0x4e3083e3 // smlal2 v3.8h, v31.16b, v16.16b
	VAND V29.B16, V20.B16, V24.B16
	VAND V29.B16, V21.B16, V25.B16
	VAND V29.B16, V22.B16, V26.B16
	VAND V29.B16, V23.B16, V31.B16
	WORD $0x0e318304 // smlal v4.8h, v24.8b, v17.8b
	WORD $0x0e318325 // smlal v5.8h, v25.8b, v17.8b
	WORD $0x0e318346 // smlal v6.8h, v26.8b, v17.8b
	WORD $0x0e3183e7 // smlal v7.8h, v31.8b, v17.8b
	WORD $0x4e318304 // smlal2 v4.8h, v24.16b, v17.16b
	WORD $0x4e318325 // smlal2 v5.8h, v25.16b, v17.16b
	WORD $0x4e318346 // smlal2 v6.8h, v26.16b, v17.16b
	WORD $0x4e3183e7 // smlal2 v7.8h, v31.16b, v17.16b
	VAND V30.B16, V20.B16, V24.B16
	VAND V30.B16, V21.B16, V25.B16
	VAND V30.B16, V22.B16, V26.B16
	VAND V30.B16, V23.B16, V31.B16
	WORD $0x0e328308 // smlal v8.8h, v24.8b, v18.8b
	WORD $0x0e328329 // smlal v9.8h, v25.8b, v18.8b
	WORD $0x0e32834a // smlal v10.8h, v26.8b, v18.8b
	WORD $0x0e3283eb // smlal v11.8h, v31.8b, v18.8b
	WORD $0x4e328308 // smlal2 v8.8h, v24.16b, v18.16b
	WORD $0x4e328329 // smlal2 v9.8h, v25.16b, v18.16b
	WORD $0x4e32834a // smlal2 v10.8h, v26.16b, v18.16b
	WORD $0x4e3283eb // smlal2 v11.8h, v31.16b, v18.16b
	VUSHR $6, V20.B16, V24.B16
	VUSHR $6, V21.B16, V25.B16
	VUSHR $6, V22.B16, V26.B16
	VUSHR $6, V23.B16, V31.B16
	WORD $0x0e338300 // smlal v0.8h, v24.8b, v19.8b
	WORD $0x0e338321 // smlal v1.8h, v25.8b, v19.8b
	WORD $0x0e338342 // smlal v2.8h, v26.8b, v19.8b
	WORD $0x0e3383e3 // smlal v3.8h, v31.8b, v19.8b
	WORD $0x4e338300 // smlal2 v0.8h, v24.16b, v19.16b
	WORD $0x4e338321 // smlal2 v1.8h, v25.16b, v19.16b
	WORD $0x4e338342 // smlal2 v2.8h, v26.16b, v19.16b
	WORD $0x4e3383e3 // smlal2 v3.8h, v31.16b, v19.16b
	SUBS $1, R14, R14
	BNE next

flush:
	WORD $0x4f1e1480 // ssra v0.8h, v4.8h, #2
	WORD $0x4f1e14a1 // ssra v1.8h, v5.8h, #2
	WORD $0x4f1e14c2 // ssra v2.8h, v6.8h, #2
	WORD $0x4f1e14e3 // ssra v3.8h, v7.8h, #2
	WORD $0x4f1c1500 // ssra v0.8h, v8.8h, #4
	WORD $0x4f1c1521 // ssra v1.8h, v9.8h, #4
	WORD $0x4f1c1542 // ssra v2.8h, v10.8h, #4
	WORD $0x4f1c1563 // ssra v3.8h, v11.8h, #4
	WORD $0x4e60680c // sadalp v12.4s, v0.8h
	WORD $0x4e60682d // sadalp v13.4s, v1.8h
	WORD $0x4e60684e // sadalp v14.4s, v2.8h
	WORD $0x4e60686f // sadalp v15.4s, v3.8h
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
	MOVD $4, R14
	CMP $-16, R13
	BNE next
	B finish

last:
	// 0, 4, 8 or 12 bytes are left; zeros follow them.
	ADDS $16, R13, R13
	BEQ end
	CMP $8, R13
	BLT four
	FMOVD (R8), F20
	FMOVD (R9), F21
	FMOVD (R10), F22
	FMOVD (R11), F23
	BEQ half
	ADD $8, R8
	ADD $8, R9
	ADD $8, R10
	ADD $8, R11
	VLD1 (R8), V20.S[2]
	VLD1 (R9), V21.S[2]
	VLD1 (R10), V22.S[2]
	VLD1 (R11), V23.S[2]

half:
	MOVD $0, R13
	B step

four:
	FMOVS (R8), F20
	FMOVS (R9), F21
	FMOVS (R10), F22
	FMOVS (R11), F23
	MOVD $0, R13
	B step

end:
	MOVD $-16, R13
	B flush

finish:
	VADDP V13.S4, V12.S4, V0.S4
	VADDP V15.S4, V14.S4, V2.S4
	VADDP V2.S4, V0.S4, V0.S4
	VSUB V27.S4, V0.S4, V0.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	FMOVS scale+64(FP), F31
	WORD $0x4f9f9000 // fmul v0.4s, v0.4s, v31.s[0]
	// A sum begins at 0, and 0 + -0 is 0.
	VEOR V1.B16, V1.B16, V1.B16
	WORD $0x4e21d400 // fadd v0.4s, v0.4s, v1.4s
	CMP $4, R3
	BLT few
	FMOVQ.P F0, 16(R0)
	ADD R2<<2, R1
	SUBS $4, R3, R3
	BNE tile
	RET

few:
	FMOVS.P F0, 4(R0)
	VEXT $4, V0.B16, V0.B16, V0.B16
	SUBS $1, R3, R3
	BNE few
	RET

// func twoBitBlocksNEONDot(dst *float32, w *byte, stride, rows, blocks, steps, scaleAt int, q *int8, sums *int32, scales *float32, scaleShift int)
//
// Blocks are too short for codes left in place: they are shifted down, so that
// one sum per row, V0-V3, takes all four shifts.
TEXT ·twoBitBlocksNEONDot(SB), NOSPLIT, $0-88
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD steps+40(FP), R5
	MOVD scaleAt+48(FP), R6
	MOVD q+56(FP), R7
	MOVD sums+64(FP), R12
	MOVD scales+72(FP), R13
	MOVD scaleShift+80(FP), R14
	VMOVI $0x03, V28.B16

tile:
	// R8 to R11 are the tile's rows.
	MOVD R1, R8
	MOVD R8, R9
	MOVD R8, R10
	MOVD R8, R11
	CMP $2, R3
	BLT columns
	ADD R2, R8, R9
	MOVD R9, R10
	MOVD R9, R11
	BEQ columns
	ADD R2, R9, R10
	MOVD R10, R11
	CMP $3, R3
	BEQ columns
	ADD R2, R10, R11

columns:
	MOVD R7, R15
	MOVD R12, R19
	MOVD $0, R20
	VEOR V31.B16, V31.B16, V31.B16

block:
	// V30: the rows' fp16 scales.
	ADD R8, R6, R22
	VLD1 (R22), V30.H[0]
	ADD R9, R6, R22
	VLD1 (R22), V30.H[1]
	ADD R10, R6, R22
	VLD1 (R22), V30.H[2]
	ADD R11, R6, R22
	VLD1 (R22), V30.H[3]
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R5, R21
	MOVD $0, R22

step:
	FMOVQ.P 16(R8), F20
	FMOVQ.P 16(R9), F21
	FMOVQ.P 16(R10), F22
	FMOVQ.P 16(R11), F23
	FLDPQ.P 32(R15), (F16, F17)
	FLDPQ.P 32(R15), (F18, F19)
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4096(R9), PLDL1KEEP
	PRFM 4096(R10), PLDL1KEEP
	PRFM 4096(R11), PLDL1KEEP
	LDPSW.P 8(R19), (R23, R24)
	ADD R23, R22
	ADD R24, R22
	VAND V28.B16, V20.B16, V24.B16
	VAND V28.B16, V21.B16, V25.B16
	VAND V28.B16, V22.B16, V26.B16
	VAND V28.B16, V23.B16, V27.B16
	WORD $0x4e909700 // sdot v0.4s, v24.16b, v16.16b
	WORD $0x4e909721 // sdot v1.4s, v25.16b, v16.16b
	WORD $0x4e909742 // sdot v2.4s, v26.16b, v16.16b
	WORD $0x4e909763 // sdot v3.4s, v27.16b, v16.16b
	VUSHR $2, V20.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VUSHR $2, V22.B16, V26.B16
	VUSHR $2, V23.B16, V27.B16
	VAND V28.B16, V24.B16, V24.B16
	VAND V28.B16, V25.B16, V25.B16
	VAND V28.B16, V26.B16, V26.B16
	VAND V28.B16, V27.B16, V27.B16
	WORD $0x4e919700 // sdot v0.4s, v24.16b, v17.16b
	WORD $0x4e919721 // sdot v1.4s, v25.16b, v17.16b
	WORD $0x4e919742 // sdot v2.4s, v26.16b, v17.16b
	WORD $0x4e919763 // sdot v3.4s, v27.16b, v17.16b
	VUSHR $4, V20.B16, V24.B16
	VUSHR $4, V21.B16, V25.B16
	VUSHR $4, V22.B16, V26.B16
	VUSHR $4, V23.B16, V27.B16
	VAND V28.B16, V24.B16, V24.B16
	VAND V28.B16, V25.B16, V25.B16
	VAND V28.B16, V26.B16, V26.B16
	VAND V28.B16, V27.B16, V27.B16
	WORD $0x4e929700 // sdot v0.4s, v24.16b, v18.16b
	WORD $0x4e929721 // sdot v1.4s, v25.16b, v18.16b
	WORD $0x4e929742 // sdot v2.4s, v26.16b, v18.16b
	WORD $0x4e929763 // sdot v3.4s, v27.16b, v18.16b
	VUSHR $6, V20.B16, V24.B16
	VUSHR $6, V21.B16, V25.B16
	VUSHR $6, V22.B16, V26.B16
	VUSHR $6, V23.B16, V27.B16
	WORD $0x4e939700 // sdot v0.4s, v24.16b, v19.16b
	WORD $0x4e939721 // sdot v1.4s, v25.16b, v19.16b
	WORD $0x4e939742 // sdot v2.4s, v26.16b, v19.16b
	WORD $0x4e939763 // sdot v3.4s, v27.16b, v19.16b
	SUBS $1, R21, R21
	BNE step

	// Two bytes of the block are left: its scale, or the next one's.
	ADD $2, R8
	ADD $2, R9
	ADD $2, R10
	ADD $2, R11
	LSR R14, R20, R21
	ADD R21<<2, R13, R21
	FMOVS (R21), F29
	VADDP V1.S4, V0.S4, V0.S4
	VADDP V3.S4, V2.S4, V2.S4
	VADDP V2.S4, V0.S4, V0.S4
	VDUP R22, V1.S4
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	VSUB V1.S4, V0.S4, V0.S4
	WORD $0x4f9d93de // fmul v30.4s, v30.4s, v29.s[0]
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x6e20dfc0 // fmul v0.4s, v30.4s, v0.4s
	WORD $0x4e20d7ff // fadd v31.4s, v31.4s, v0.4s
	ADD $1, R20
	CMP R4, R20
	BNE block

	CMP $4, R3
	BLT few
	FMOVQ.P F31, 16(R0)
	ADD R2<<2, R1
	SUBS $4, R3, R3
	BNE tile
	RET

few:
	FMOVS.P F31, 4(R0)
	VEXT $4, V31.B16, V31.B16, V31.B16
	SUBS $1, R3, R3
	BNE few
	RET

// func twoBitBlocksNEON(dst *float32, w *byte, stride, rows, blocks, steps, scaleAt int, q *int8, sums *int32, scales *float32, scaleShift int)
//
// Codes are shifted down, so that one sum per row, V0-V3, takes all four shifts.
// 16 bits hold 10 steps of 8·3·127 = 3048; a block has at most 4.
TEXT ·twoBitBlocksNEON(SB), NOSPLIT, $0-88
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD rows+24(FP), R3
	MOVD blocks+32(FP), R4
	MOVD steps+40(FP), R5
	MOVD scaleAt+48(FP), R6
	MOVD q+56(FP), R7
	MOVD sums+64(FP), R12
	MOVD scales+72(FP), R13
	MOVD scaleShift+80(FP), R14
	VMOVI $0x03, V28.B16

tile:
	// R8 to R11 are the tile's rows.
	MOVD R1, R8
	MOVD R8, R9
	MOVD R8, R10
	MOVD R8, R11
	CMP $2, R3
	BLT columns
	ADD R2, R8, R9
	MOVD R9, R10
	MOVD R9, R11
	BEQ columns
	ADD R2, R9, R10
	MOVD R10, R11
	CMP $3, R3
	BEQ columns
	ADD R2, R10, R11

columns:
	MOVD R7, R15
	MOVD R12, R19
	MOVD $0, R20
	VEOR V31.B16, V31.B16, V31.B16

block:
	// V30: the rows' fp16 scales.
	ADD R8, R6, R22
	VLD1 (R22), V30.H[0]
	ADD R9, R6, R22
	VLD1 (R22), V30.H[1]
	ADD R10, R6, R22
	VLD1 (R22), V30.H[2]
	ADD R11, R6, R22
	VLD1 (R22), V30.H[3]
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R5, R21
	MOVD $0, R22

step:
	FMOVQ.P 16(R8), F20
	FMOVQ.P 16(R9), F21
	FMOVQ.P 16(R10), F22
	FMOVQ.P 16(R11), F23
	FLDPQ.P 32(R15), (F16, F17)
	FLDPQ.P 32(R15), (F18, F19)
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4096(R9), PLDL1KEEP
	PRFM 4096(R10), PLDL1KEEP
	PRFM 4096(R11), PLDL1KEEP
	LDPSW.P 8(R19), (R23, R24)
	ADD R23, R22
	ADD R24, R22
	VAND V28.B16, V20.B16, V24.B16
	VAND V28.B16, V21.B16, V25.B16
	VAND V28.B16, V22.B16, V26.B16
	VAND V28.B16, V23.B16, V27.B16
	WORD $0x0e308300 // smlal v0.8h, v24.8b, v16.8b
	WORD $0x0e308321 // smlal v1.8h, v25.8b, v16.8b
	WORD $0x0e308342 // smlal v2.8h, v26.8b, v16.8b
	WORD $0x0e308363 // smlal v3.8h, v27.8b, v16.8b
	WORD $0x4e308300 // smlal2 v0.8h, v24.16b, v16.16b
	WORD $0x4e308321 // smlal2 v1.8h, v25.16b, v16.16b
	WORD $0x4e308342 // smlal2 v2.8h, v26.16b, v16.16b
	WORD $0x4e308363 // smlal2 v3.8h, v27.16b, v16.16b
	VUSHR $2, V20.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VUSHR $2, V22.B16, V26.B16
	VUSHR $2, V23.B16, V27.B16
	VAND V28.B16, V24.B16, V24.B16
	VAND V28.B16, V25.B16, V25.B16
	VAND V28.B16, V26.B16, V26.B16
	VAND V28.B16, V27.B16, V27.B16
	WORD $0x0e318300 // smlal v0.8h, v24.8b, v17.8b
	WORD $0x0e318321 // smlal v1.8h, v25.8b, v17.8b
	WORD $0x0e318342 // smlal v2.8h, v26.8b, v17.8b
	WORD $0x0e318363 // smlal v3.8h, v27.8b, v17.8b
	WORD $0x4e318300 // smlal2 v0.8h, v24.16b, v17.16b
	WORD $0x4e318321 // smlal2 v1.8h, v25.16b, v17.16b
	WORD $0x4e318342 // smlal2 v2.8h, v26.16b, v17.16b
	WORD $0x4e318363 // smlal2 v3.8h, v27.16b, v17.16b
	VUSHR $4, V20.B16, V24.B16
	VUSHR $4, V21.B16, V25.B16
	VUSHR $4, V22.B16, V26.B16
	VUSHR $4, V23.B16, V27.B16
	VAND V28.B16, V24.B16, V24.B16
	VAND V28.B16, V25.B16, V25.B16
	VAND V28.B16, V26.B16, V26.B16
	VAND V28.B16, V27.B16, V27.B16
	WORD $0x0e328300 // smlal v0.8h, v24.8b, v18.8b
	WORD $0x0e328321 // smlal v1.8h, v25.8b, v18.8b
	WORD $0x0e328342 // smlal v2.8h, v26.8b, v18.8b
	WORD $0x0e328363 // smlal v3.8h, v27.8b, v18.8b
	WORD $0x4e328300 // smlal2 v0.8h, v24.16b, v18.16b
	WORD $0x4e328321 // smlal2 v1.8h, v25.16b, v18.16b
	WORD $0x4e328342 // smlal2 v2.8h, v26.16b, v18.16b
	WORD $0x4e328363 // smlal2 v3.8h, v27.16b, v18.16b
	VUSHR $6, V20.B16, V24.B16
	VUSHR $6, V21.B16, V25.B16
	VUSHR $6, V22.B16, V26.B16
	VUSHR $6, V23.B16, V27.B16
	WORD $0x0e338300 // smlal v0.8h, v24.8b, v19.8b
	WORD $0x0e338321 // smlal v1.8h, v25.8b, v19.8b
	WORD $0x0e338342 // smlal v2.8h, v26.8b, v19.8b
	WORD $0x0e338363 // smlal v3.8h, v27.8b, v19.8b
	WORD $0x4e338300 // smlal2 v0.8h, v24.16b, v19.16b
	WORD $0x4e338321 // smlal2 v1.8h, v25.16b, v19.16b
	WORD $0x4e338342 // smlal2 v2.8h, v26.16b, v19.16b
	WORD $0x4e338363 // smlal2 v3.8h, v27.16b, v19.16b
	SUBS $1, R21, R21
	BNE step

	// Two bytes of the block are left: its scale, or the next one's.
	ADD $2, R8
	ADD $2, R9
	ADD $2, R10
	ADD $2, R11
	LSR R14, R20, R21
	ADD R21<<2, R13, R21
	FMOVS (R21), F29
	WORD $0x4e602800 // saddlp v0.4s, v0.8h
	WORD $0x4e602821 // saddlp v1.4s, v1.8h
	WORD $0x4e602842 // saddlp v2.4s, v2.8h
	WORD $0x4e602863 // saddlp v3.4s, v3.8h
	VADDP V1.S4, V0.S4, V0.S4
	VADDP V3.S4, V2.S4, V2.S4
	VADDP V2.S4, V0.S4, V0.S4
	VDUP R22, V1.S4
	WORD $0x0e217bde // fcvtl v30.4s, v30.4h
	VSUB V1.S4, V0.S4, V0.S4
	WORD $0x4f9d93de // fmul v30.4s, v30.4s, v29.s[0]
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x6e20dfc0 // fmul v0.4s, v30.4s, v0.4s
	WORD $0x4e20d7ff // fadd v31.4s, v31.4s, v0.4s
	ADD $1, R20
	CMP R4, R20
	BNE block

	CMP $4, R3
	BLT few
	FMOVQ.P F31, 16(R0)
	ADD R2<<2, R1
	SUBS $4, R3, R3
	BNE tile
	RET

few:
	FMOVS.P F31, 4(R0)
	VEXT $4, V31.B16, V31.B16, V31.B16
	SUBS $1, R3, R3
	BNE few
	RET

// func arrangeBytesNEON(dst, q *int8, steps int)
TEXT ·arrangeBytesNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD q+8(FP), R1
	MOVD steps+16(FP), R2

step:
	VLD4.P 64(R1), [V0.B16, V1.B16, V2.B16, V3.B16]
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R0)
	SUBS $1, R2, R2
	BNE step
	RET
