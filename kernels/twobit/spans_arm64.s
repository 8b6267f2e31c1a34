//go:build !purego

#include "textflag.h"

// Products under q8_32 of the layouts codes64 and codes128: tiles of 64 rows, of which
// every dword is 16 registers of 4 rows.

// func spansNEONDot(dst *float32, codes, scales *byte, scale float32, q *int8, spans *int32, blocks, terms, groups, skip, step int)
//
// Codes are shifted down, so that one sum of each row has a group of 32 columns: V0-V3.
// MLA multiplies it with the group's share of the scale, and adds it to those of the
// term, V4-V7. Results are V8-V11, weights' scales V20-V23. R11 is 1 in the second half
// of a span whose halves are terms.
TEXT ·spansNEONDot(SB), NOSPLIT, $0-88
	MOVD codes+8(FP), R1
	MOVD scales+16(FP), R2
	MOVD q+32(FP), R5
	MOVD spans+40(FP), R6
	MOVD blocks+48(FP), R8
	MOVD terms+56(FP), R9
	MOVD groups+64(FP), R10
	MOVD skip+72(FP), R3
	MOVD step+80(FP), R4
	MOVD $0, R11
	VMOVI $0x03, V28.B16
	MOVW scale+24(FP), R12
	VDUP R12, V20.S4
	VDUP R12, V21.S4
	VDUP R12, V22.S4
	VDUP R12, V23.S4
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

block:
	CBZ R2, scaled
	FLDPQ 0(R2), (F20, F22)
	WORD $0x4e217a95 // fcvtl2 v21.4s, v20.8h
	WORD $0x0e217a94 // fcvtl v20.4s, v20.4h
	WORD $0x4e217ad7 // fcvtl2 v23.4s, v22.8h
	WORD $0x0e217ad6 // fcvtl v22.4s, v22.4h
	ADD R4, R2

scaled:
	MOVD R9, R13

term:
	// V4-V7: -Σ share·Σq of the term's groups.
	MOVW 24(R6), R12
	CMP $4, R10
	BEQ whole
	MOVW 28(R6), R14
	SUB R14, R12
	CBNZ R11, begun
	MOVD R14, R12

whole:
	MOVD R6, R7

begun:
	VDUP R12, V4.S4
	VDUP R12, V5.S4
	VDUP R12, V6.S4
	VDUP R12, V7.S4
	MOVD R10, R15

group:
	VLD1R.P 4(R7), [V17.S4]
	FLDPQ.P 32(R5), (F16, F19)
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	FLDPQ 0(R1), (F24, F25)
	FLDPQ 32(R1), (F26, F27)
	PRFM 2048(R1), PLDL1KEEP
	VAND V28.B16, V24.B16, V12.B16
	VAND V28.B16, V25.B16, V13.B16
	VAND V28.B16, V26.B16, V14.B16
	VAND V28.B16, V27.B16, V15.B16
	WORD $0x4f90e180 // sdot v0.4s, v12.16b, v16.4b[0]
	WORD $0x4f90e1a1 // sdot v1.4s, v13.16b, v16.4b[0]
	WORD $0x4f90e1c2 // sdot v2.4s, v14.16b, v16.4b[0]
	WORD $0x4f90e1e3 // sdot v3.4s, v15.16b, v16.4b[0]
	VUSHR $2, V24.B16, V12.B16
	VUSHR $2, V25.B16, V13.B16
	VUSHR $2, V26.B16, V14.B16
	VUSHR $2, V27.B16, V15.B16
	VAND V28.B16, V12.B16, V12.B16
	VAND V28.B16, V13.B16, V13.B16
	VAND V28.B16, V14.B16, V14.B16
	VAND V28.B16, V15.B16, V15.B16
	WORD $0x4fb0e180 // sdot v0.4s, v12.16b, v16.4b[1]
	WORD $0x4fb0e1a1 // sdot v1.4s, v13.16b, v16.4b[1]
	WORD $0x4fb0e1c2 // sdot v2.4s, v14.16b, v16.4b[1]
	WORD $0x4fb0e1e3 // sdot v3.4s, v15.16b, v16.4b[1]
	VUSHR $4, V24.B16, V12.B16
	VUSHR $4, V25.B16, V13.B16
	VUSHR $4, V26.B16, V14.B16
	VUSHR $4, V27.B16, V15.B16
	VAND V28.B16, V12.B16, V12.B16
	VAND V28.B16, V13.B16, V13.B16
	VAND V28.B16, V14.B16, V14.B16
	VAND V28.B16, V15.B16, V15.B16
	WORD $0x4f90e980 // sdot v0.4s, v12.16b, v16.4b[2]
	WORD $0x4f90e9a1 // sdot v1.4s, v13.16b, v16.4b[2]
	WORD $0x4f90e9c2 // sdot v2.4s, v14.16b, v16.4b[2]
	WORD $0x4f90e9e3 // sdot v3.4s, v15.16b, v16.4b[2]
	VUSHR $6, V24.B16, V12.B16
	VUSHR $6, V25.B16, V13.B16
	VUSHR $6, V26.B16, V14.B16
	VUSHR $6, V27.B16, V15.B16
	WORD $0x4fb0e980 // sdot v0.4s, v12.16b, v16.4b[3]
	WORD $0x4fb0e9a1 // sdot v1.4s, v13.16b, v16.4b[3]
	WORD $0x4fb0e9c2 // sdot v2.4s, v14.16b, v16.4b[3]
	WORD $0x4fb0e9e3 // sdot v3.4s, v15.16b, v16.4b[3]
	FLDPQ 256(R1), (F24, F25)
	FLDPQ 288(R1), (F26, F27)
	PRFM 2304(R1), PLDL1KEEP
	VAND V28.B16, V24.B16, V12.B16
	VAND V28.B16, V25.B16, V13.B16
	VAND V28.B16, V26.B16, V14.B16
	VAND V28.B16, V27.B16, V15.B16
	WORD $0x4f93e180 // sdot v0.4s, v12.16b, v19.4b[0]
	WORD $0x4f93e1a1 // sdot v1.4s, v13.16b, v19.4b[0]
	WORD $0x4f93e1c2 // sdot v2.4s, v14.16b, v19.4b[0]
	WORD $0x4f93e1e3 // sdot v3.4s, v15.16b, v19.4b[0]
	VUSHR $2, V24.B16, V12.B16
	VUSHR $2, V25.B16, V13.B16
	VUSHR $2, V26.B16, V14.B16
	VUSHR $2, V27.B16, V15.B16
	VAND V28.B16, V12.B16, V12.B16
	VAND V28.B16, V13.B16, V13.B16
	VAND V28.B16, V14.B16, V14.B16
	VAND V28.B16, V15.B16, V15.B16
	WORD $0x4fb3e180 // sdot v0.4s, v12.16b, v19.4b[1]
	WORD $0x4fb3e1a1 // sdot v1.4s, v13.16b, v19.4b[1]
	WORD $0x4fb3e1c2 // sdot v2.4s, v14.16b, v19.4b[1]
	WORD $0x4fb3e1e3 // sdot v3.4s, v15.16b, v19.4b[1]
	VUSHR $4, V24.B16, V12.B16
	VUSHR $4, V25.B16, V13.B16
	VUSHR $4, V26.B16, V14.B16
	VUSHR $4, V27.B16, V15.B16
	VAND V28.B16, V12.B16, V12.B16
	VAND V28.B16, V13.B16, V13.B16
	VAND V28.B16, V14.B16, V14.B16
	VAND V28.B16, V15.B16, V15.B16
	WORD $0x4f93e980 // sdot v0.4s, v12.16b, v19.4b[2]
	WORD $0x4f93e9a1 // sdot v1.4s, v13.16b, v19.4b[2]
	WORD $0x4f93e9c2 // sdot v2.4s, v14.16b, v19.4b[2]
	WORD $0x4f93e9e3 // sdot v3.4s, v15.16b, v19.4b[2]
	VUSHR $6, V24.B16, V12.B16
	VUSHR $6, V25.B16, V13.B16
	VUSHR $6, V26.B16, V14.B16
	VUSHR $6, V27.B16, V15.B16
	WORD $0x4fb3e980 // sdot v0.4s, v12.16b, v19.4b[3]
	WORD $0x4fb3e9a1 // sdot v1.4s, v13.16b, v19.4b[3]
	WORD $0x4fb3e9c2 // sdot v2.4s, v14.16b, v19.4b[3]
	WORD $0x4fb3e9e3 // sdot v3.4s, v15.16b, v19.4b[3]
	WORD $0x4eb19404 // mla v4.4s, v0.4s, v17.4s
	WORD $0x4eb19425 // mla v5.4s, v1.4s, v17.4s
	WORD $0x4eb19446 // mla v6.4s, v2.4s, v17.4s
	WORD $0x4eb19467 // mla v7.4s, v3.4s, v17.4s
	ADD $512, R1
	SUBS $1, R15, R15
	BNE group

	ADD $16, R6, R14
	VLD1R (R14), [V18.S4]
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e32dc84 // fmul v4.4s, v4.4s, v18.4s
	WORD $0x6e32dca5 // fmul v5.4s, v5.4s, v18.4s
	WORD $0x6e32dcc6 // fmul v6.4s, v6.4s, v18.4s
	WORD $0x6e32dce7 // fmul v7.4s, v7.4s, v18.4s
	WORD $0x6e24de84 // fmul v4.4s, v20.4s, v4.4s
	WORD $0x6e25dea5 // fmul v5.4s, v21.4s, v5.4s
	WORD $0x6e26dec6 // fmul v6.4s, v22.4s, v6.4s
	WORD $0x6e27dee7 // fmul v7.4s, v23.4s, v7.4s
	WORD $0x4e24d508 // fadd v8.4s, v8.4s, v4.4s
	WORD $0x4e25d529 // fadd v9.4s, v9.4s, v5.4s
	WORD $0x4e26d54a // fadd v10.4s, v10.4s, v6.4s
	WORD $0x4e27d56b // fadd v11.4s, v11.4s, v7.4s
	// The next span, or the second half of this one.
	CMP $4, R10
	BEQ next
	EOR $1, R11
	CBNZ R11, done

next:
	ADD $32, R6

done:
	SUBS $1, R13, R13
	BNE term
	ADD R3, R1
	SUBS $1, R8, R8
	BNE block

	MOVD dst+0(FP), R0
	FSTPQ (F8, F9), 0(R0)
	FSTPQ (F10, F11), 32(R0)
	RET

// func spansNEON(dst *float32, codes, scales *byte, scale float32, q *int8, spans *int32, blocks, terms, groups, skip, step int)
//
// spansNEONDot without dot products: sums of a group in 16 bits are of rows 0 and 1 of 4 in
// V0, of 2 and 3 in V1, and so on, at most 8·3·127 = 3048 a lane. Those of the term are
// V12-V15.
TEXT ·spansNEON(SB), NOSPLIT, $0-88
	MOVD codes+8(FP), R1
	MOVD scales+16(FP), R2
	MOVD q+32(FP), R5
	MOVD spans+40(FP), R6
	MOVD blocks+48(FP), R8
	MOVD terms+56(FP), R9
	MOVD groups+64(FP), R10
	MOVD skip+72(FP), R3
	MOVD step+80(FP), R4
	MOVD $0, R11
	VMOVI $0x03, V28.B16
	MOVW scale+24(FP), R12
	VDUP R12, V20.S4
	VDUP R12, V21.S4
	VDUP R12, V22.S4
	VDUP R12, V23.S4
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

block:
	CBZ R2, scaled
	FLDPQ 0(R2), (F20, F22)
	WORD $0x4e217a95 // fcvtl2 v21.4s, v20.8h
	WORD $0x0e217a94 // fcvtl v20.4s, v20.4h
	WORD $0x4e217ad7 // fcvtl2 v23.4s, v22.8h
	WORD $0x0e217ad6 // fcvtl v22.4s, v22.4h
	ADD R4, R2

scaled:
	MOVD R9, R13

term:
	// V4-V7: -Σ share·Σq of the term's groups.
	MOVW 24(R6), R12
	CMP $4, R10
	BEQ whole
	MOVW 28(R6), R14
	SUB R14, R12
	CBNZ R11, begun
	MOVD R14, R12

whole:
	MOVD R6, R7

begun:
	VDUP R12, V12.S4
	VDUP R12, V13.S4
	VDUP R12, V14.S4
	VDUP R12, V15.S4
	MOVD R10, R15
group:
	VLD1R.P 4(R7), [V30.S4]
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD $2, R16

dword:
	FLDPQ 0(R1), (F24, F25)
	FLDPQ 32(R1), (F26, F27)
	PRFM 2048(R1), PLDL1KEEP
	ADD $256, R1
	VLD1R.P 4(R5), [V29.S4]
	VAND V28.B16, V24.B16, V16.B16
	VAND V28.B16, V25.B16, V17.B16
	VAND V28.B16, V26.B16, V18.B16
	VAND V28.B16, V27.B16, V19.B16
	WORD $0x0e3d8200 // smlal v0.8h, v16.8b, v29.8b
	WORD $0x0e3d8222 // smlal v2.8h, v17.8b, v29.8b
	WORD $0x0e3d8244 // smlal v4.8h, v18.8b, v29.8b
	WORD $0x0e3d8266 // smlal v6.8h, v19.8b, v29.8b
	WORD $0x4e3d8201 // smlal2 v1.8h, v16.16b, v29.16b
	WORD $0x4e3d8223 // smlal2 v3.8h, v17.16b, v29.16b
	WORD $0x4e3d8245 // smlal2 v5.8h, v18.16b, v29.16b
	WORD $0x4e3d8267 // smlal2 v7.8h, v19.16b, v29.16b
	VLD1R.P 4(R5), [V29.S4]
	VUSHR $2, V24.B16, V16.B16
	VUSHR $2, V25.B16, V17.B16
	VUSHR $2, V26.B16, V18.B16
	VUSHR $2, V27.B16, V19.B16
	VAND V28.B16, V16.B16, V16.B16
	VAND V28.B16, V17.B16, V17.B16
	VAND V28.B16, V18.B16, V18.B16
	VAND V28.B16, V19.B16, V19.B16
	WORD $0x0e3d8200 // smlal v0.8h, v16.8b, v29.8b
	WORD $0x0e3d8222 // smlal v2.8h, v17.8b, v29.8b
	WORD $0x0e3d8244 // smlal v4.8h, v18.8b, v29.8b
	WORD $0x0e3d8266 // smlal v6.8h, v19.8b, v29.8b
	WORD $0x4e3d8201 // smlal2 v1.8h, v16.16b, v29.16b
	WORD $0x4e3d8223 // smlal2 v3.8h, v17.16b, v29.16b
	WORD $0x4e3d8245 // smlal2 v5.8h, v18.16b, v29.16b
	WORD $0x4e3d8267 // smlal2 v7.8h, v19.16b, v29.16b
	VLD1R.P 4(R5), [V29.S4]
	VUSHR $4, V24.B16, V16.B16
	VUSHR $4, V25.B16, V17.B16
	VUSHR $4, V26.B16, V18.B16
	VUSHR $4, V27.B16, V19.B16
	VAND V28.B16, V16.B16, V16.B16
	VAND V28.B16, V17.B16, V17.B16
	VAND V28.B16, V18.B16, V18.B16
	VAND V28.B16, V19.B16, V19.B16
	WORD $0x0e3d8200 // smlal v0.8h, v16.8b, v29.8b
	WORD $0x0e3d8222 // smlal v2.8h, v17.8b, v29.8b
	WORD $0x0e3d8244 // smlal v4.8h, v18.8b, v29.8b
	WORD $0x0e3d8266 // smlal v6.8h, v19.8b, v29.8b
	WORD $0x4e3d8201 // smlal2 v1.8h, v16.16b, v29.16b
	WORD $0x4e3d8223 // smlal2 v3.8h, v17.16b, v29.16b
	WORD $0x4e3d8245 // smlal2 v5.8h, v18.16b, v29.16b
	WORD $0x4e3d8267 // smlal2 v7.8h, v19.16b, v29.16b
	VLD1R.P 4(R5), [V29.S4]
	VUSHR $6, V24.B16, V16.B16
	VUSHR $6, V25.B16, V17.B16
	VUSHR $6, V26.B16, V18.B16
	VUSHR $6, V27.B16, V19.B16
	WORD $0x0e3d8200 // smlal v0.8h, v16.8b, v29.8b
	WORD $0x0e3d8222 // smlal v2.8h, v17.8b, v29.8b
	WORD $0x0e3d8244 // smlal v4.8h, v18.8b, v29.8b
	WORD $0x0e3d8266 // smlal v6.8h, v19.8b, v29.8b
	WORD $0x4e3d8201 // smlal2 v1.8h, v16.16b, v29.16b
	WORD $0x4e3d8223 // smlal2 v3.8h, v17.16b, v29.16b
	WORD $0x4e3d8245 // smlal2 v5.8h, v18.16b, v29.16b
	WORD $0x4e3d8267 // smlal2 v7.8h, v19.16b, v29.16b
	SUBS $1, R16, R16
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
	VADDP V3.S4, V2.S4, V2.S4
	VADDP V5.S4, V4.S4, V4.S4
	VADDP V7.S4, V6.S4, V6.S4
	WORD $0x4ebe940c // mla v12.4s, v0.4s, v30.4s
	WORD $0x4ebe944d // mla v13.4s, v2.4s, v30.4s
	WORD $0x4ebe948e // mla v14.4s, v4.4s, v30.4s
	WORD $0x4ebe94cf // mla v15.4s, v6.4s, v30.4s
	SUBS $1, R15, R15
	BNE group

	ADD $16, R6, R14
	VLD1R (R14), [V31.S4]
	WORD $0x4e21d98c // scvtf v12.4s, v12.4s
	WORD $0x4e21d9ad // scvtf v13.4s, v13.4s
	WORD $0x4e21d9ce // scvtf v14.4s, v14.4s
	WORD $0x4e21d9ef // scvtf v15.4s, v15.4s
	WORD $0x6e3fdd8c // fmul v12.4s, v12.4s, v31.4s
	WORD $0x6e3fddad // fmul v13.4s, v13.4s, v31.4s
	WORD $0x6e3fddce // fmul v14.4s, v14.4s, v31.4s
	WORD $0x6e3fddef // fmul v15.4s, v15.4s, v31.4s
	WORD $0x6e2cde8c // fmul v12.4s, v20.4s, v12.4s
	WORD $0x6e2ddead // fmul v13.4s, v21.4s, v13.4s
	WORD $0x6e2edece // fmul v14.4s, v22.4s, v14.4s
	WORD $0x6e2fdeef // fmul v15.4s, v23.4s, v15.4s
	WORD $0x4e2cd508 // fadd v8.4s, v8.4s, v12.4s
	WORD $0x4e2dd529 // fadd v9.4s, v9.4s, v13.4s
	WORD $0x4e2ed54a // fadd v10.4s, v10.4s, v14.4s
	WORD $0x4e2fd56b // fadd v11.4s, v11.4s, v15.4s
	// The next span, or the second half of this one.
	CMP $4, R10
	BEQ next
	EOR $1, R11
	CBNZ R11, done

next:
	ADD $32, R6

done:
	SUBS $1, R13, R13
	BNE term
	ADD R3, R1
	SUBS $1, R8, R8
	BNE block

	MOVD dst+0(FP), R0
	FSTPQ (F8, F9), 0(R0)
	FSTPQ (F10, F11), 32(R0)
	RET
