//go:build !purego

#include "textflag.h"

// EXCHANGE exchanges the bits of x at mask with those distance above.
#define EXCHANGE(distance, mask, x, t) \
	VUSHR $distance, x.S4, t.S4; \
	VEOR  x.B16, t.B16, t.B16; \
	VAND  mask.B16, t.B16, t.B16; \
	VEOR  t.B16, x.B16, x.B16; \
	VSHL  $distance, t.S4, t.S4; \
	VEOR  t.B16, x.B16, x.B16

// EXCHANGES does so for four vectors.
#define EXCHANGES(distance, mask) \
	EXCHANGE(distance, mask, V4, V16); \
	EXCHANGE(distance, mask, V5, V17); \
	EXCHANGE(distance, mask, V6, V18); \
	EXCHANGE(distance, mask, V7, V19)

// func packBitplanesNEON(tile, rows *byte, stride, blocks int)
//
// Packs 16 rows of stride bytes into a tile of the layout bitplanes, four at a
// time. It equals
//
//	for b := range blocks {
//		for r := range 16 {
//			block := rows[stride*r+18*b:][:18]
//			for v := range 4 {
//				copy(tile[288*b+64*v+4*r:], interleaveBits(block[2+4*v:][:4]))
//			}
//			copy(tile[288*b+256+2*r:], block[:2])
//		}
//	}
//
// The dwords of four rows are transposed, then the bits of each exchanged in
// the four steps of interleaveBits.
TEXT ·packBitplanesNEON(SB), NOSPLIT, $0-32
	MOVD tile+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD $0x0000cccc, R4
	VDUP R4, V20.S4
	MOVD $0x00aa00aa, R4
	VDUP R4, V21.S4
	MOVD $0x0c0c0c0c, R4
	VDUP R4, V22.S4
	MOVD $0x22222222, R4
	VDUP R4, V23.S4

block:
	MOVD R1, R5 // the first of four rows
	MOVD R0, R6 // their bits in vector 0
	ADD $256, R0, R7 // their scales
	MOVD $4, R8

rows:
	ADD   R2, R5, R9
	ADD   R2, R9, R10
	ADD   R2, R10, R11
	FMOVQ 2(R5), F0
	FMOVQ 2(R9), F1
	FMOVQ 2(R10), F2
	FMOVQ 2(R11), F3
	MOVHU (R5), R12
	MOVHU (R9), R13
	MOVHU (R10), R14
	MOVHU (R11), R15
	MOVH  R12, (R7)
	MOVH  R13, 2(R7)
	MOVH  R14, 4(R7)
	MOVH  R15, 6(R7)

	VZIP1 V2.S4, V0.S4, V16.S4
	VZIP2 V2.S4, V0.S4, V17.S4
	VZIP1 V3.S4, V1.S4, V18.S4
	VZIP2 V3.S4, V1.S4, V19.S4
	VZIP1 V18.S4, V16.S4, V4.S4
	VZIP2 V18.S4, V16.S4, V5.S4
	VZIP1 V19.S4, V17.S4, V6.S4
	VZIP2 V19.S4, V17.S4, V7.S4
	EXCHANGES(14, V20)
	EXCHANGES(7, V21)
	EXCHANGES(2, V22)
	EXCHANGES(1, V23)
	FMOVQ F4, (R6)
	FMOVQ F5, 64(R6)
	FMOVQ F6, 128(R6)
	FMOVQ F7, 192(R6)

	ADD  $16, R6, R6
	ADD  $8, R7, R7
	ADD  R2, R11, R5
	SUBS $1, R8, R8
	BNE  rows

	ADD  $18, R1, R1
	ADD  $288, R0, R0
	SUBS $1, R3, R3
	BNE  block
	RET
