//go:build !purego

#include "textflag.h"

// The functions that write equal this loop:
//
//	for ; n > 0; n -= 8 {
//		*(*uint64)(p) = word
//		p += 8
//	}
//
// and those that copy this one:
//
//	for ; n > 0; n -= 8 {
//		*(*uint64)(dst) = *(*uint64)(src)
//		dst, src = dst+8, src+8
//	}
//
// The assembler knows no STNP of vector registers.

// func writeNEON(p *byte, n int, word uint64)
TEXT ·writeNEON(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	MOVD word+16(FP), R2
	VDUP R2, V0.D2
	VDUP R2, V1.D2
	VDUP R2, V2.D2
	VDUP R2, V3.D2
	LSR  $7, R1
	CBZ  R1, done

loop:
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0)
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0)
	SUB    $1, R1
	CBNZ   R1, loop

done:
	RET

// func writeNEONAround(p *byte, n int, word uint64)
TEXT ·writeNEONAround(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	MOVD word+16(FP), R2
	VDUP R2, V0.D2
	VDUP R2, V1.D2
	LSR  $7, R1
	CBZ  R1, done

loop:
	WORD $0xAC000400 // STNP Q0, Q1, [X0]
	WORD $0xAC010400 // STNP Q0, Q1, [X0, #32]
	WORD $0xAC020400 // STNP Q0, Q1, [X0, #64]
	WORD $0xAC030400 // STNP Q0, Q1, [X0, #96]
	ADD  $128, R0
	SUB  $1, R1
	CBNZ R1, loop

done:
	RET

// func copyNEON(dst, src *byte, n int)
TEXT ·copyNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R3
	MOVD n+16(FP), R1
	LSR  $7, R1
	CBZ  R1, done

loop:
	VLD1.P 64(R3), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1.P 64(R3), [V4.D2, V5.D2, V6.D2, V7.D2]
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0)
	VST1.P [V4.D2, V5.D2, V6.D2, V7.D2], 64(R0)
	SUB    $1, R1
	CBNZ   R1, loop

done:
	RET

// func copyNEONAround(dst, src *byte, n int)
TEXT ·copyNEONAround(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R3
	MOVD n+16(FP), R1
	LSR  $7, R1
	CBZ  R1, done

loop:
	PRFM   4096(R3), PLDL1STRM
	PRFM   4160(R3), PLDL1STRM
	VLD1.P 64(R3), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1.P 64(R3), [V4.D2, V5.D2, V6.D2, V7.D2]
	WORD   $0xAC000400 // STNP Q0, Q1, [X0]
	WORD   $0xAC010C02 // STNP Q2, Q3, [X0, #32]
	WORD   $0xAC021404 // STNP Q4, Q5, [X0, #64]
	WORD   $0xAC031C06 // STNP Q6, Q7, [X0, #96]
	ADD    $128, R0
	SUB    $1, R1
	CBNZ   R1, loop

done:
	RET
