//go:build !purego

#include "textflag.h"

// Products of 4 rows with 2, 4 or 8 columns. SMMLA multiplies 2 rows × 8 with 8
// × 2 columns; lane 2i+c of its result is row i, column c. A tile's sums are
// pairs of registers, rows 0 and 1, rows 2 and 3, for each pair of columns.

// func q1Batch2NEONI8MM(dst *float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)
//
// V0 to V1 are the sums of a block, less than 0 where a bit is set, V8 to V9
// the results. V24 to V31 are the bytes 1<<0 to 1<<7.
TEXT ·q1Batch2NEONI8MM(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R8
	MOVD weightScales+16(FP), R9
	MOVD blocks+24(FP), R3
	MOVD q+32(FP), R4
	MOVD scales+40(FP), R5
	MOVD columnStep+48(FP), R6
	MOVD blockStep+56(FP), R7
	VMOVI $1, V24.B16
	VMOVI $2, V25.B16
	VMOVI $4, V26.B16
	VMOVI $8, V27.B16
	VMOVI $16, V28.B16
	VMOVI $32, V29.B16
	VMOVI $64, V30.B16
	VMOVI $128, V31.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	MOVD $2, R12

half:
	// 4 bytes of one vector and of the next: V16 of two rows, V17 of two more.
	FMOVQ (R8), F18
	FMOVQ 64(R8), F19
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4160(R8), PLDL1KEEP
	ADD $128, R8
	VZIP1 V19.S4, V18.S4, V16.S4
	VZIP2 V19.S4, V18.S4, V17.S4
	FMOVQ.P 16(R4), F20
	VCMTST V24.B16, V16.B16, V18.B16
	VCMTST V24.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V25.B16, V16.B16, V18.B16
	VCMTST V25.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V26.B16, V16.B16, V18.B16
	VCMTST V26.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V27.B16, V16.B16, V18.B16
	VCMTST V27.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V28.B16, V16.B16, V18.B16
	VCMTST V28.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V29.B16, V16.B16, V18.B16
	VCMTST V29.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V30.B16, V16.B16, V18.B16
	VCMTST V30.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	FMOVQ.P 16(R4), F20
	VCMTST V31.B16, V16.B16, V18.B16
	VCMTST V31.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	SUBS $1, R12, R12
	BNE half

	// V18, V19: the rows' weight scales, twice each.
	FMOVD (R9), F16
	ADD $32, R8
	ADD $288, R9
	WORD $0x0e217a10 // fcvtl v16.4s, v16.4h
	VZIP1 V16.S4, V16.S4, V18.S4
	VZIP2 V16.S4, V16.S4, V19.S4
	MOVD R5, R12
	// V20: -Σq of columns 0 and 1, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V0.S4, V0.S4, V0.S4
	VADD V1.S4, V1.S4, V1.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V0.S4, V20.S4, V0.S4
	VSUB V1.S4, V20.S4, V1.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x6e20dec0 // fmul v0.4s, v22.4s, v0.4s
	WORD $0x6e21dee1 // fmul v1.4s, v23.4s, v1.4s
	WORD $0x4e20d508 // fadd v8.4s, v8.4s, v0.4s
	WORD $0x4e21d529 // fadd v9.4s, v9.4s, v1.4s
	ADD R7, R5
	SUBS $1, R3, R3
	BNE block

	// Rows of a column become neighbours.
	VUZP1 V9.S4, V8.S4, V16.S4
	VUZP2 V9.S4, V8.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	RET

// func q1Batch4NEONI8MM(dst *float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)
//
// V0 to V3 are the sums of a block, less than 0 where a bit is set, V8 to V11
// the results. V24 to V31 are the bytes 1<<0 to 1<<7.
TEXT ·q1Batch4NEONI8MM(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R8
	MOVD weightScales+16(FP), R9
	MOVD blocks+24(FP), R3
	MOVD q+32(FP), R4
	MOVD scales+40(FP), R5
	MOVD columnStep+48(FP), R6
	MOVD blockStep+56(FP), R7
	VMOVI $1, V24.B16
	VMOVI $2, V25.B16
	VMOVI $4, V26.B16
	VMOVI $8, V27.B16
	VMOVI $16, V28.B16
	VMOVI $32, V29.B16
	VMOVI $64, V30.B16
	VMOVI $128, V31.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD $2, R12

half:
	// 4 bytes of one vector and of the next: V16 of two rows, V17 of two more.
	FMOVQ (R8), F18
	FMOVQ 64(R8), F19
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4160(R8), PLDL1KEEP
	ADD $128, R8
	VZIP1 V19.S4, V18.S4, V16.S4
	VZIP2 V19.S4, V18.S4, V17.S4
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V24.B16, V16.B16, V18.B16
	VCMTST V24.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V25.B16, V16.B16, V18.B16
	VCMTST V25.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V26.B16, V16.B16, V18.B16
	VCMTST V26.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V27.B16, V16.B16, V18.B16
	VCMTST V27.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V28.B16, V16.B16, V18.B16
	VCMTST V28.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V29.B16, V16.B16, V18.B16
	VCMTST V29.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V30.B16, V16.B16, V18.B16
	VCMTST V30.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	FLDPQ.P 32(R4), (F20, F21)
	VCMTST V31.B16, V16.B16, V18.B16
	VCMTST V31.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	SUBS $1, R12, R12
	BNE half

	// V18, V19: the rows' weight scales, twice each.
	FMOVD (R9), F16
	ADD $32, R8
	ADD $288, R9
	WORD $0x0e217a10 // fcvtl v16.4s, v16.4h
	VZIP1 V16.S4, V16.S4, V18.S4
	VZIP2 V16.S4, V16.S4, V19.S4
	MOVD R5, R12
	// V20: -Σq of columns 0 and 1, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V0.S4, V0.S4, V0.S4
	VADD V1.S4, V1.S4, V1.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V0.S4, V20.S4, V0.S4
	VSUB V1.S4, V20.S4, V1.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x6e20dec0 // fmul v0.4s, v22.4s, v0.4s
	WORD $0x6e21dee1 // fmul v1.4s, v23.4s, v1.4s
	WORD $0x4e20d508 // fadd v8.4s, v8.4s, v0.4s
	WORD $0x4e21d529 // fadd v9.4s, v9.4s, v1.4s
	// V20: -Σq of columns 2 and 3, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V2.S4, V2.S4, V2.S4
	VADD V3.S4, V3.S4, V3.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V2.S4, V20.S4, V2.S4
	VSUB V3.S4, V20.S4, V3.S4
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e22dec2 // fmul v2.4s, v22.4s, v2.4s
	WORD $0x6e23dee3 // fmul v3.4s, v23.4s, v3.4s
	WORD $0x4e22d54a // fadd v10.4s, v10.4s, v2.4s
	WORD $0x4e23d56b // fadd v11.4s, v11.4s, v3.4s
	ADD R7, R5
	SUBS $1, R3, R3
	BNE block

	// Rows of a column become neighbours.
	VUZP1 V9.S4, V8.S4, V16.S4
	VUZP2 V9.S4, V8.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V11.S4, V10.S4, V16.S4
	VUZP2 V11.S4, V10.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	RET

// func q1Batch8NEONI8MM(dst *float32, data, weightScales *byte, blocks int, q *int8, scales *float32, columnStep, blockStep int)
//
// V0 to V7 are the sums of a block, less than 0 where a bit is set, V8 to V15
// the results. V24 to V31 are the bytes 1<<0 to 1<<7.
TEXT ·q1Batch8NEONI8MM(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD data+8(FP), R8
	MOVD weightScales+16(FP), R9
	MOVD blocks+24(FP), R3
	MOVD q+32(FP), R4
	MOVD scales+40(FP), R5
	MOVD columnStep+48(FP), R6
	MOVD blockStep+56(FP), R7
	VMOVI $1, V24.B16
	VMOVI $2, V25.B16
	VMOVI $4, V26.B16
	VMOVI $8, V27.B16
	VMOVI $16, V28.B16
	VMOVI $32, V29.B16
	VMOVI $64, V30.B16
	VMOVI $128, V31.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	MOVD $2, R12

half:
	// 4 bytes of one vector and of the next: V16 of two rows, V17 of two more.
	FMOVQ (R8), F18
	FMOVQ 64(R8), F19
	PRFM 4096(R8), PLDL1KEEP
	PRFM 4160(R8), PLDL1KEEP
	ADD $128, R8
	VZIP1 V19.S4, V18.S4, V16.S4
	VZIP2 V19.S4, V18.S4, V17.S4
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V24.B16, V16.B16, V18.B16
	VCMTST V24.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V25.B16, V16.B16, V18.B16
	VCMTST V25.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V26.B16, V16.B16, V18.B16
	VCMTST V26.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V27.B16, V16.B16, V18.B16
	VCMTST V27.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V28.B16, V16.B16, V18.B16
	VCMTST V28.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V29.B16, V16.B16, V18.B16
	VCMTST V29.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V30.B16, V16.B16, V18.B16
	VCMTST V30.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	FLDPQ.P 32(R4), (F20, F21)
	FLDPQ.P 32(R4), (F22, F23)
	VCMTST V31.B16, V16.B16, V18.B16
	VCMTST V31.B16, V17.B16, V19.B16
	WORD $0x4e94a640 // smmla v0.4s, v18.16b, v20.16b
	WORD $0x4e94a661 // smmla v1.4s, v19.16b, v20.16b
	WORD $0x4e95a642 // smmla v2.4s, v18.16b, v21.16b
	WORD $0x4e95a663 // smmla v3.4s, v19.16b, v21.16b
	WORD $0x4e96a644 // smmla v4.4s, v18.16b, v22.16b
	WORD $0x4e96a665 // smmla v5.4s, v19.16b, v22.16b
	WORD $0x4e97a646 // smmla v6.4s, v18.16b, v23.16b
	WORD $0x4e97a667 // smmla v7.4s, v19.16b, v23.16b
	SUBS $1, R12, R12
	BNE half

	// V18, V19: the rows' weight scales, twice each.
	FMOVD (R9), F16
	ADD $32, R8
	ADD $288, R9
	WORD $0x0e217a10 // fcvtl v16.4s, v16.4h
	VZIP1 V16.S4, V16.S4, V18.S4
	VZIP2 V16.S4, V16.S4, V19.S4
	MOVD R5, R12
	// V20: -Σq of columns 0 and 1, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V0.S4, V0.S4, V0.S4
	VADD V1.S4, V1.S4, V1.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V0.S4, V20.S4, V0.S4
	VSUB V1.S4, V20.S4, V1.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x6e20dec0 // fmul v0.4s, v22.4s, v0.4s
	WORD $0x6e21dee1 // fmul v1.4s, v23.4s, v1.4s
	WORD $0x4e20d508 // fadd v8.4s, v8.4s, v0.4s
	WORD $0x4e21d529 // fadd v9.4s, v9.4s, v1.4s
	// V20: -Σq of columns 2 and 3, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V2.S4, V2.S4, V2.S4
	VADD V3.S4, V3.S4, V3.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V2.S4, V20.S4, V2.S4
	VSUB V3.S4, V20.S4, V3.S4
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e22dec2 // fmul v2.4s, v22.4s, v2.4s
	WORD $0x6e23dee3 // fmul v3.4s, v23.4s, v3.4s
	WORD $0x4e22d54a // fadd v10.4s, v10.4s, v2.4s
	WORD $0x4e23d56b // fadd v11.4s, v11.4s, v3.4s
	// V20: -Σq of columns 4 and 5, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V4.S4, V4.S4, V4.S4
	VADD V5.S4, V5.S4, V5.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V4.S4, V20.S4, V4.S4
	VSUB V5.S4, V20.S4, V5.S4
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x6e24dec4 // fmul v4.4s, v22.4s, v4.4s
	WORD $0x6e25dee5 // fmul v5.4s, v23.4s, v5.4s
	WORD $0x4e24d58c // fadd v12.4s, v12.4s, v4.4s
	WORD $0x4e25d5ad // fadd v13.4s, v13.4s, v5.4s
	// V20: -Σq of columns 6 and 7, twice; V21: their scales.
	FMOVQ.P 16(R4), F20
	FMOVS (R12), F21
	ADD R6, R12
	VLD1 (R12), V21.S[1]
	ADD R6, R12
	VDUP V21.D[0], V21.D2
	VADD V6.S4, V6.S4, V6.S4
	VADD V7.S4, V7.S4, V7.S4
	WORD $0x6e35de56 // fmul v22.4s, v18.4s, v21.4s
	WORD $0x6e35de77 // fmul v23.4s, v19.4s, v21.4s
	VSUB V6.S4, V20.S4, V6.S4
	VSUB V7.S4, V20.S4, V7.S4
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e26dec6 // fmul v6.4s, v22.4s, v6.4s
	WORD $0x6e27dee7 // fmul v7.4s, v23.4s, v7.4s
	WORD $0x4e26d5ce // fadd v14.4s, v14.4s, v6.4s
	WORD $0x4e27d5ef // fadd v15.4s, v15.4s, v7.4s
	ADD R7, R5
	SUBS $1, R3, R3
	BNE block

	// Rows of a column become neighbours.
	VUZP1 V9.S4, V8.S4, V16.S4
	VUZP2 V9.S4, V8.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V11.S4, V10.S4, V16.S4
	VUZP2 V11.S4, V10.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V13.S4, V12.S4, V16.S4
	VUZP2 V13.S4, V12.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V15.S4, V14.S4, V16.S4
	VUZP2 V15.S4, V14.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	RET

// func arrangeDwordsNEON(dst, q *int8, blocks int)
TEXT ·arrangeDwordsNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD q+8(FP), R1
	MOVD blocks+16(FP), R2

block:
	FLDPQ.P 32(R1), (F0, F4)
	FLDPQ.P 32(R1), (F1, F5)
	FLDPQ.P 32(R1), (F2, F6)
	FLDPQ.P 32(R1), (F3, F7)
	VTRN1 V1.S4, V0.S4, V16.S4
	VTRN2 V1.S4, V0.S4, V17.S4
	VTRN1 V3.S4, V2.S4, V18.S4
	VTRN2 V3.S4, V2.S4, V19.S4
	VTRN1 V18.D2, V16.D2, V20.D2
	VTRN1 V19.D2, V17.D2, V21.D2
	VTRN2 V18.D2, V16.D2, V22.D2
	VTRN2 V19.D2, V17.D2, V23.D2
	FSTPQ.P (F20, F21), 32(R0)
	FSTPQ.P (F22, F23), 32(R0)
	VTRN1 V5.S4, V4.S4, V16.S4
	VTRN2 V5.S4, V4.S4, V17.S4
	VTRN1 V7.S4, V6.S4, V18.S4
	VTRN2 V7.S4, V6.S4, V19.S4
	VTRN1 V18.D2, V16.D2, V20.D2
	VTRN1 V19.D2, V17.D2, V21.D2
	VTRN2 V18.D2, V16.D2, V22.D2
	VTRN2 V19.D2, V17.D2, V23.D2
	FSTPQ.P (F20, F21), 32(R0)
	FSTPQ.P (F22, F23), 32(R0)
	SUBS $1, R2, R2
	BNE block
	RET
