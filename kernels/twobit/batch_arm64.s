//go:build !purego

#include "textflag.h"

// Products of 4 rows with 2, 4 or 8 columns. SMMLA multiplies 2 rows × 8 with 8
// × 2 columns; lane 2i+c of its result is row i, column c. A tile's sums are
// pairs of registers, rows 0 and 1, rows 2 and 3, for each pair of columns.

// func ternaryBatch2NEONI8MM(dst *float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)
//
// V0 to V1 are the sums.
TEXT ·ternaryBatch2NEONI8MM(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R8
	MOVD stride+16(FP), R2
	MOVD steps+24(FP), R3
	MOVD tail+32(FP), R5
	MOVD q+40(FP), R4
	MOVD scales+48(FP), R6
	VMOVI $3, V30.B16
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16

next:
	SUBS $1, R3, R3
	BLT last

step:
	FMOVQ.P 16(R8), F16
	FMOVQ.P 16(R9), F17
	FMOVQ.P 16(R10), F18
	FMOVQ.P 16(R11), F19
	PRFM 2048(R8), PLDL1KEEP
	PRFM 2048(R9), PLDL1KEEP
	PRFM 2048(R10), PLDL1KEEP
	PRFM 2048(R11), PLDL1KEEP
	// 8 bytes of two rows each: V20, V21 the first, V22, V23 the second.
	VZIP1 V17.D2, V16.D2, V20.D2
	VZIP1 V19.D2, V18.D2, V21.D2
	VZIP2 V17.D2, V16.D2, V22.D2
	VZIP2 V19.D2, V18.D2, V23.D2
	FMOVQ.P 16(R4), F26
	VAND V30.B16, V20.B16, V24.B16
	VAND V30.B16, V21.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VUSHR $2, V20.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VUSHR $4, V20.B16, V24.B16
	VUSHR $4, V21.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VUSHR $6, V20.B16, V24.B16
	VUSHR $6, V21.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VAND V30.B16, V22.B16, V24.B16
	VAND V30.B16, V23.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VUSHR $2, V22.B16, V24.B16
	VUSHR $2, V23.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VUSHR $4, V22.B16, V24.B16
	VUSHR $4, V23.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	FMOVQ.P 16(R4), F26
	VUSHR $6, V22.B16, V24.B16
	VUSHR $6, V23.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	B next

last:
	// The rows' last bytes, padded, are 16 apart.
	CBZ R5, end
	MOVD R5, R8
	ADD $16, R8, R9
	ADD $32, R8, R10
	ADD $48, R8, R11
	MOVD $0, R5
	MOVD $0, R3
	B step

end:
	// V28: a sum begins at 0, and 0 + -0 is 0.
	VEOR V28.B16, V28.B16, V28.B16
	MOVD sums+56(FP), R7
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V0.S4, V0.S4
	VADD V26.S4, V1.S4, V1.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x6e20df60 // fmul v0.4s, v27.4s, v0.4s
	WORD $0x6e21df61 // fmul v1.4s, v27.4s, v1.4s
	WORD $0x4e3cd400 // fadd v0.4s, v0.4s, v28.4s
	WORD $0x4e3cd421 // fadd v1.4s, v1.4s, v28.4s
	// Rows of a column become neighbours.
	VUZP1 V1.S4, V0.S4, V16.S4
	VUZP2 V1.S4, V0.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	RET

// func ternaryBatch4NEONI8MM(dst *float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)
//
// V0 to V3 are the sums.
TEXT ·ternaryBatch4NEONI8MM(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R8
	MOVD stride+16(FP), R2
	MOVD steps+24(FP), R3
	MOVD tail+32(FP), R5
	MOVD q+40(FP), R4
	MOVD scales+48(FP), R6
	VMOVI $3, V30.B16
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

next:
	SUBS $1, R3, R3
	BLT last

step:
	FMOVQ.P 16(R8), F16
	FMOVQ.P 16(R9), F17
	FMOVQ.P 16(R10), F18
	FMOVQ.P 16(R11), F19
	PRFM 2048(R8), PLDL1KEEP
	PRFM 2048(R9), PLDL1KEEP
	PRFM 2048(R10), PLDL1KEEP
	PRFM 2048(R11), PLDL1KEEP
	// 8 bytes of two rows each: V20, V21 the first, V22, V23 the second.
	VZIP1 V17.D2, V16.D2, V20.D2
	VZIP1 V19.D2, V18.D2, V21.D2
	VZIP2 V17.D2, V16.D2, V22.D2
	VZIP2 V19.D2, V18.D2, V23.D2
	FLDPQ.P 32(R4), (F26, F27)
	VAND V30.B16, V20.B16, V24.B16
	VAND V30.B16, V21.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $2, V20.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $4, V20.B16, V24.B16
	VUSHR $4, V21.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $6, V20.B16, V24.B16
	VUSHR $6, V21.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VAND V30.B16, V22.B16, V24.B16
	VAND V30.B16, V23.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $2, V22.B16, V24.B16
	VUSHR $2, V23.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $4, V22.B16, V24.B16
	VUSHR $4, V23.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	FLDPQ.P 32(R4), (F26, F27)
	VUSHR $6, V22.B16, V24.B16
	VUSHR $6, V23.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	B next

last:
	// The rows' last bytes, padded, are 16 apart.
	CBZ R5, end
	MOVD R5, R8
	ADD $16, R8, R9
	ADD $32, R8, R10
	ADD $48, R8, R11
	MOVD $0, R5
	MOVD $0, R3
	B step

end:
	// V28: a sum begins at 0, and 0 + -0 is 0.
	VEOR V28.B16, V28.B16, V28.B16
	MOVD sums+56(FP), R7
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V0.S4, V0.S4
	VADD V26.S4, V1.S4, V1.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x6e20df60 // fmul v0.4s, v27.4s, v0.4s
	WORD $0x6e21df61 // fmul v1.4s, v27.4s, v1.4s
	WORD $0x4e3cd400 // fadd v0.4s, v0.4s, v28.4s
	WORD $0x4e3cd421 // fadd v1.4s, v1.4s, v28.4s
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V2.S4, V2.S4
	VADD V26.S4, V3.S4, V3.S4
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e22df62 // fmul v2.4s, v27.4s, v2.4s
	WORD $0x6e23df63 // fmul v3.4s, v27.4s, v3.4s
	WORD $0x4e3cd442 // fadd v2.4s, v2.4s, v28.4s
	WORD $0x4e3cd463 // fadd v3.4s, v3.4s, v28.4s
	// Rows of a column become neighbours.
	VUZP1 V1.S4, V0.S4, V16.S4
	VUZP2 V1.S4, V0.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V3.S4, V2.S4, V16.S4
	VUZP2 V3.S4, V2.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	RET

// func ternaryBatch8NEONI8MM(dst *float32, w *byte, stride, steps int, tail *byte, q *int8, scales *float32, sums *int8)
//
// V0 to V7 are the sums.
TEXT ·ternaryBatch8NEONI8MM(SB), NOSPLIT, $0-64
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R8
	MOVD stride+16(FP), R2
	MOVD steps+24(FP), R3
	MOVD tail+32(FP), R5
	MOVD q+40(FP), R4
	MOVD scales+48(FP), R6
	VMOVI $3, V30.B16
	ADD R2, R8, R9
	ADD R2, R9, R10
	ADD R2, R10, R11
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

next:
	SUBS $1, R3, R3
	BLT last

step:
	FMOVQ.P 16(R8), F16
	FMOVQ.P 16(R9), F17
	FMOVQ.P 16(R10), F18
	FMOVQ.P 16(R11), F19
	PRFM 2048(R8), PLDL1KEEP
	PRFM 2048(R9), PLDL1KEEP
	PRFM 2048(R10), PLDL1KEEP
	PRFM 2048(R11), PLDL1KEEP
	// 8 bytes of two rows each: V20, V21 the first, V22, V23 the second.
	VZIP1 V17.D2, V16.D2, V20.D2
	VZIP1 V19.D2, V18.D2, V21.D2
	VZIP2 V17.D2, V16.D2, V22.D2
	VZIP2 V19.D2, V18.D2, V23.D2
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VAND V30.B16, V20.B16, V24.B16
	VAND V30.B16, V21.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VUSHR $2, V20.B16, V24.B16
	VUSHR $2, V21.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VUSHR $4, V20.B16, V24.B16
	VUSHR $4, V21.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VUSHR $6, V20.B16, V24.B16
	VUSHR $6, V21.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VAND V30.B16, V22.B16, V24.B16
	VAND V30.B16, V23.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VUSHR $2, V22.B16, V24.B16
	VUSHR $2, V23.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VUSHR $4, V22.B16, V24.B16
	VUSHR $4, V23.B16, V25.B16
	VAND V30.B16, V24.B16, V24.B16
	VAND V30.B16, V25.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	FLDPQ.P 32(R4), (F26, F27)
	FLDPQ.P 32(R4), (F28, F29)
	VUSHR $6, V22.B16, V24.B16
	VUSHR $6, V23.B16, V25.B16
	WORD $0x4e9aa700 // smmla v0.4s, v24.16b, v26.16b
	WORD $0x4e9aa721 // smmla v1.4s, v25.16b, v26.16b
	WORD $0x4e9ba702 // smmla v2.4s, v24.16b, v27.16b
	WORD $0x4e9ba723 // smmla v3.4s, v25.16b, v27.16b
	WORD $0x4e9ca704 // smmla v4.4s, v24.16b, v28.16b
	WORD $0x4e9ca725 // smmla v5.4s, v25.16b, v28.16b
	WORD $0x4e9da706 // smmla v6.4s, v24.16b, v29.16b
	WORD $0x4e9da727 // smmla v7.4s, v25.16b, v29.16b
	B next

last:
	// The rows' last bytes, padded, are 16 apart.
	CBZ R5, end
	MOVD R5, R8
	ADD $16, R8, R9
	ADD $32, R8, R10
	ADD $48, R8, R11
	MOVD $0, R5
	MOVD $0, R3
	B step

end:
	// V28: a sum begins at 0, and 0 + -0 is 0.
	VEOR V28.B16, V28.B16, V28.B16
	MOVD sums+56(FP), R7
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V0.S4, V0.S4
	VADD V26.S4, V1.S4, V1.S4
	WORD $0x4e21d800 // scvtf v0.4s, v0.4s
	WORD $0x4e21d821 // scvtf v1.4s, v1.4s
	WORD $0x6e20df60 // fmul v0.4s, v27.4s, v0.4s
	WORD $0x6e21df61 // fmul v1.4s, v27.4s, v1.4s
	WORD $0x4e3cd400 // fadd v0.4s, v0.4s, v28.4s
	WORD $0x4e3cd421 // fadd v1.4s, v1.4s, v28.4s
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V2.S4, V2.S4
	VADD V26.S4, V3.S4, V3.S4
	WORD $0x4e21d842 // scvtf v2.4s, v2.4s
	WORD $0x4e21d863 // scvtf v3.4s, v3.4s
	WORD $0x6e22df62 // fmul v2.4s, v27.4s, v2.4s
	WORD $0x6e23df63 // fmul v3.4s, v27.4s, v3.4s
	WORD $0x4e3cd442 // fadd v2.4s, v2.4s, v28.4s
	WORD $0x4e3cd463 // fadd v3.4s, v3.4s, v28.4s
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V4.S4, V4.S4
	VADD V26.S4, V5.S4, V5.S4
	WORD $0x4e21d884 // scvtf v4.4s, v4.4s
	WORD $0x4e21d8a5 // scvtf v5.4s, v5.4s
	WORD $0x6e24df64 // fmul v4.4s, v27.4s, v4.4s
	WORD $0x6e25df65 // fmul v5.4s, v27.4s, v5.4s
	WORD $0x4e3cd484 // fadd v4.4s, v4.4s, v28.4s
	WORD $0x4e3cd4a5 // fadd v5.4s, v5.4s, v28.4s
	FMOVQ.P 16(R7), F26
	FMOVD.P 8(R6), F27
	VDUP V27.D[0], V27.D2
	VADD V26.S4, V6.S4, V6.S4
	VADD V26.S4, V7.S4, V7.S4
	WORD $0x4e21d8c6 // scvtf v6.4s, v6.4s
	WORD $0x4e21d8e7 // scvtf v7.4s, v7.4s
	WORD $0x6e26df66 // fmul v6.4s, v27.4s, v6.4s
	WORD $0x6e27df67 // fmul v7.4s, v27.4s, v7.4s
	WORD $0x4e3cd4c6 // fadd v6.4s, v6.4s, v28.4s
	WORD $0x4e3cd4e7 // fadd v7.4s, v7.4s, v28.4s
	// Rows of a column become neighbours.
	VUZP1 V1.S4, V0.S4, V16.S4
	VUZP2 V1.S4, V0.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V3.S4, V2.S4, V16.S4
	VUZP2 V3.S4, V2.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V5.S4, V4.S4, V16.S4
	VUZP2 V5.S4, V4.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	VUZP1 V7.S4, V6.S4, V16.S4
	VUZP2 V7.S4, V6.S4, V17.S4
	FSTPQ.P (F16, F17), 32(R0)
	RET
