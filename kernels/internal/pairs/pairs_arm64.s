//go:build !purego

#include "textflag.h"

// func arrangePairNEON(dst, q0, q1 *int8, groups, vectors, step int)
TEXT ·arrangePairNEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD q0+8(FP), R1
	MOVD q1+16(FP), R2
	MOVD groups+24(FP), R3
	MOVD vectors+32(FP), R4
	MOVD step+40(FP), R5
	// V4, V5: the columns' sums.
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	MUL R4, R5, R6

group:
	MOVD R4, R7

vector:
	FMOVQ.P 16(R1), F0
	FMOVQ.P 16(R2), F1
	ADD R6, R0, R8
	VZIP1 V1.D2, V0.D2, V2.D2
	VZIP2 V1.D2, V0.D2, V3.D2
	WORD $0x4e202800 // saddlp v0.8h, v0.16b
	WORD $0x4e202821 // saddlp v1.8h, v1.16b
	FMOVQ F2, (R0)
	FMOVQ F3, (R8)
	WORD $0x4e606804 // sadalp v4.4s, v0.8h
	WORD $0x4e606825 // sadalp v5.4s, v1.8h
	ADD R5, R0
	SUBS $1, R7, R7
	BNE vector
	ADD R6, R0
	SUBS $1, R3, R3
	BNE group

	VADDP V5.S4, V4.S4, V4.S4
	VADDP V4.S4, V4.S4, V4.S4
	WORD $0x6ea0b884 // neg v4.4s, v4.4s
	FMOVQ F4, (R0)
	RET
