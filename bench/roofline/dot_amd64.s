//go:build !purego

#include "textflag.h"

// All functions equal this loop, with the int32 of a register side by side:
//
//	for range iterations {
//		for c := range chains {
//			for i := range lanes {
//				acc[c] += int32(uint8(a[i])) * int32(b[i])
//			}
//		}
//	}
//
// and return the sum of acc.

// SUM256 adds the eight int32 of Y2 and leaves the sum in AX.
#define SUM256 \
	VEXTRACTI128 $1, Y2, X3 \
	VPADDD X3, X2, X2       \
	VPSHUFD $0x4e, X2, X3   \
	VPADDD X3, X2, X2       \
	VPSHUFD $0xb1, X2, X3   \
	VPADDD X3, X2, X2       \
	VMOVD X2, AX            \
	VZEROUPPER

// func dotAVX512VNNI(a, b *[64]int8, iterations int) int32
TEXT ·dotAVX512VNNI(SB), NOSPLIT, $0-28
	MOVQ      a+0(FP), SI
	MOVQ      b+8(FP), DI
	MOVQ      iterations+16(FP), CX
	VMOVDQU64 (SI), Z0
	VMOVDQU64 (DI), Z1
	VPXORQ    Z2, Z2, Z2
	VPXORQ    Z3, Z3, Z3
	VPXORQ    Z4, Z4, Z4
	VPXORQ    Z5, Z5, Z5
	VPXORQ    Z6, Z6, Z6
	VPXORQ    Z7, Z7, Z7
	VPXORQ    Z8, Z8, Z8
	VPXORQ    Z9, Z9, Z9
	VPXORQ    Z10, Z10, Z10
	VPXORQ    Z11, Z11, Z11
	VPXORQ    Z12, Z12, Z12
	VPXORQ    Z13, Z13, Z13
	TESTQ     CX, CX
	JZ        done

loop:
	VPDPBUSD Z1, Z0, Z2
	VPDPBUSD Z1, Z0, Z3
	VPDPBUSD Z1, Z0, Z4
	VPDPBUSD Z1, Z0, Z5
	VPDPBUSD Z1, Z0, Z6
	VPDPBUSD Z1, Z0, Z7
	VPDPBUSD Z1, Z0, Z8
	VPDPBUSD Z1, Z0, Z9
	VPDPBUSD Z1, Z0, Z10
	VPDPBUSD Z1, Z0, Z11
	VPDPBUSD Z1, Z0, Z12
	VPDPBUSD Z1, Z0, Z13
	DECQ     CX
	JNZ      loop

done:
	VPADDD        Z3, Z2, Z2
	VPADDD        Z5, Z4, Z4
	VPADDD        Z7, Z6, Z6
	VPADDD        Z9, Z8, Z8
	VPADDD        Z11, Z10, Z10
	VPADDD        Z13, Z12, Z12
	VPADDD        Z4, Z2, Z2
	VPADDD        Z8, Z6, Z6
	VPADDD        Z12, Z10, Z10
	VPADDD        Z6, Z2, Z2
	VPADDD        Z10, Z2, Z2
	VEXTRACTI64X4 $1, Z2, Y3
	VPADDD        Y3, Y2, Y2
	SUM256
	MOVL AX, ret+24(FP)
	RET

// VEXDPBUSD is VPDPBUSD Y1, Y0, Yd in its VEX encoding, which CPUs with AVX-VNNI
// and without AVX-512 need; the assembler would emit EVEX. R is 0xE2 for Y0 to
// Y7 and 0x62 for Y8 to Y15, MODRM is 0xC1 + 8·(d mod 8).
#define VEXDPBUSD(R, MODRM) \
	BYTE $0xC4; BYTE $R; BYTE $0x7D; BYTE $0x50; BYTE $MODRM

// func dotAVXVNNI(a, b *[64]int8, iterations int) int32
TEXT ·dotAVXVNNI(SB), NOSPLIT, $0-28
	MOVQ    a+0(FP), SI
	MOVQ    b+8(FP), DI
	MOVQ    iterations+16(FP), CX
	VMOVDQU (SI), Y0
	VMOVDQU (DI), Y1
	VPXOR   Y2, Y2, Y2
	VPXOR   Y3, Y3, Y3
	VPXOR   Y4, Y4, Y4
	VPXOR   Y5, Y5, Y5
	VPXOR   Y6, Y6, Y6
	VPXOR   Y7, Y7, Y7
	VPXOR   Y8, Y8, Y8
	VPXOR   Y9, Y9, Y9
	VPXOR   Y10, Y10, Y10
	VPXOR   Y11, Y11, Y11
	VPXOR   Y12, Y12, Y12
	VPXOR   Y13, Y13, Y13
	TESTQ   CX, CX
	JZ      done

loop:
	VEXDPBUSD(0xE2, 0xD1) // Y2
	VEXDPBUSD(0xE2, 0xD9) // Y3
	VEXDPBUSD(0xE2, 0xE1) // Y4
	VEXDPBUSD(0xE2, 0xE9) // Y5
	VEXDPBUSD(0xE2, 0xF1) // Y6
	VEXDPBUSD(0xE2, 0xF9) // Y7
	VEXDPBUSD(0x62, 0xC1) // Y8
	VEXDPBUSD(0x62, 0xC9) // Y9
	VEXDPBUSD(0x62, 0xD1) // Y10
	VEXDPBUSD(0x62, 0xD9) // Y11
	VEXDPBUSD(0x62, 0xE1) // Y12
	VEXDPBUSD(0x62, 0xE9) // Y13
	DECQ CX
	JNZ  loop

done:
	VPADDD Y3, Y2, Y2
	VPADDD Y5, Y4, Y4
	VPADDD Y7, Y6, Y6
	VPADDD Y9, Y8, Y8
	VPADDD Y11, Y10, Y10
	VPADDD Y13, Y12, Y12
	VPADDD Y4, Y2, Y2
	VPADDD Y8, Y6, Y6
	VPADDD Y12, Y10, Y10
	VPADDD Y6, Y2, Y2
	VPADDD Y10, Y2, Y2
	SUM256
	MOVL AX, ret+24(FP)
	RET

// MADD256 adds the product of Y0 and Y1 to ACC by way of T, where Y14 is all
// ones. VPMADDUBSW saturates at 16 bits; see operands.
#define MADD256(T, ACC) \
	VPMADDUBSW Y1, Y0, T  \
	VPMADDWD   Y14, T, T  \
	VPADDD     T, ACC, ACC

// func dotAVX2(a, b *[64]int8, iterations int) int32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ     a+0(FP), SI
	MOVQ     b+8(FP), DI
	MOVQ     iterations+16(FP), CX
	VMOVDQU  (SI), Y0
	VMOVDQU  (DI), Y1
	VPCMPEQW Y14, Y14, Y14
	VPSRLW   $15, Y14, Y14
	VPXOR    Y2, Y2, Y2
	VPXOR    Y3, Y3, Y3
	VPXOR    Y4, Y4, Y4
	VPXOR    Y5, Y5, Y5
	VPXOR    Y6, Y6, Y6
	VPXOR    Y7, Y7, Y7
	VPXOR    Y8, Y8, Y8
	VPXOR    Y9, Y9, Y9
	TESTQ    CX, CX
	JZ       done

loop:
	MADD256(Y10, Y2)
	MADD256(Y11, Y3)
	MADD256(Y12, Y4)
	MADD256(Y13, Y5)
	MADD256(Y10, Y6)
	MADD256(Y11, Y7)
	MADD256(Y12, Y8)
	MADD256(Y13, Y9)
	DECQ CX
	JNZ  loop

done:
	VPADDD Y3, Y2, Y2
	VPADDD Y5, Y4, Y4
	VPADDD Y7, Y6, Y6
	VPADDD Y9, Y8, Y8
	VPADDD Y4, Y2, Y2
	VPADDD Y8, Y6, Y6
	VPADDD Y6, Y2, Y2
	SUM256
	MOVL AX, ret+24(FP)
	RET

// func dotSSE2(a, b *[64]int8, iterations int) int32
//
// SSE2 multiplies no int8: their products are those of the same numbers as
// int16, of which X0 and X1 hold the first eight and X10 and X11 the others.
TEXT ·dotSSE2(SB), NOSPLIT, $0-28
	MOVQ      a+0(FP), SI
	MOVQ      b+8(FP), DI
	MOVQ      iterations+16(FP), CX
	MOVOU     (SI), X10
	MOVO      X10, X0
	PUNPCKLBW X0, X0
	PSRAW     $8, X0
	PUNPCKHBW X10, X10
	PSRAW     $8, X10
	MOVOU     (DI), X11
	MOVO      X11, X1
	PUNPCKLBW X1, X1
	PSRAW     $8, X1
	PUNPCKHBW X11, X11
	PSRAW     $8, X11
	PXOR      X2, X2
	PXOR      X3, X3
	PXOR      X4, X4
	PXOR      X5, X5
	PXOR      X6, X6
	PXOR      X7, X7
	PXOR      X8, X8
	PXOR      X9, X9
	TESTQ     CX, CX
	JZ        done

// MADD16 adds the product of 16 int8 to ACC by way of X12 and X13.
#define MADD16(ACC) \
	MOVO    X0, X12  \
	MOVO    X10, X13 \
	PMADDWL X1, X12  \
	PMADDWL X11, X13 \
	PADDL   X12, ACC \
	PADDL   X13, ACC

loop:
	MADD16(X2)
	MADD16(X3)
	MADD16(X4)
	MADD16(X5)
	MADD16(X6)
	MADD16(X7)
	MADD16(X8)
	MADD16(X9)
	DECQ CX
	JNZ  loop

done:
	PADDL  X3, X2
	PADDL  X5, X4
	PADDL  X7, X6
	PADDL  X9, X8
	PADDL  X4, X2
	PADDL  X8, X6
	PADDL  X6, X2
	PSHUFD $0x4e, X2, X3
	PADDL  X3, X2
	PSHUFD $0xb1, X2, X3
	PADDL  X3, X2
	MOVL   X2, AX
	MOVL   AX, ret+24(FP)
	RET
