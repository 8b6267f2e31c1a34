//go:build !purego

// The vector operations of vector.go in AVX2 and F16C: the same float
// operations on each element in the same order, eight elements at a time.

#include "textflag.h"

#define BROADCAST(offset, value) \
	DATA expConstants<>+(offset+0)(SB)/4, $value  \
	DATA expConstants<>+(offset+4)(SB)/4, $value  \
	DATA expConstants<>+(offset+8)(SB)/4, $value  \
	DATA expConstants<>+(offset+12)(SB)/4, $value \
	DATA expConstants<>+(offset+16)(SB)/4, $value \
	DATA expConstants<>+(offset+20)(SB)/4, $value \
	DATA expConstants<>+(offset+24)(SB)/4, $value \
	DATA expConstants<>+(offset+28)(SB)/4, $value

// The constants of expFloat32 as float32 bits, eight times each.
BROADCAST(0, 0xc2ae0000)   // -87
BROADCAST(32, 0x42b00000)  // 88
BROADCAST(64, 0x3fb8aa3b)  // log2 e
BROADCAST(96, 0x4b400000)  // magic
BROADCAST(128, 0x3f317000) // ln2Hi
BROADCAST(160, 0x3805fdf4) // ln2Lo
BROADCAST(192, 0x39500d01) // 1/5040
BROADCAST(224, 0x3ab60b61) // 1/720
BROADCAST(256, 0x3c088889) // 1/120
BROADCAST(288, 0x3d2aaaab) // 1/24
BROADCAST(320, 0x3e2aaaab) // 1/6
BROADCAST(352, 0x3f000000) // 1/2
BROADCAST(384, 0x3f800000) // 1
BROADCAST(416, 0x80000000) // the sign bit
GLOBL expConstants<>(SB), RODATA|NOPTR, $448

// EXP8 is Y0 = exp(Y0) with Y15 = -87 and Y14 = 88: Y1 holds shifted, Y2 first
// n and then p, Y0 becomes r. VMAXPS and VMINPS return their first operand
// (Intel's last) if one is NaN.
#define EXP8 \
	VMAXPS Y0, Y15, Y0                       \
	VMINPS Y0, Y14, Y0                       \
	VMULPS expConstants<>+64(SB), Y0, Y1     \
	VADDPS expConstants<>+96(SB), Y1, Y1     \
	VSUBPS expConstants<>+96(SB), Y1, Y2     \
	VMULPS expConstants<>+128(SB), Y2, Y3    \
	VSUBPS Y3, Y0, Y0                        \
	VMULPS expConstants<>+160(SB), Y2, Y3    \
	VSUBPS Y3, Y0, Y0                        \
	VMULPS expConstants<>+192(SB), Y0, Y2    \
	VADDPS expConstants<>+224(SB), Y2, Y2    \
	VMULPS Y0, Y2, Y2                        \
	VADDPS expConstants<>+256(SB), Y2, Y2    \
	VMULPS Y0, Y2, Y2                        \
	VADDPS expConstants<>+288(SB), Y2, Y2    \
	VMULPS Y0, Y2, Y2                        \
	VADDPS expConstants<>+320(SB), Y2, Y2    \
	VMULPS Y0, Y2, Y2                        \
	VADDPS expConstants<>+352(SB), Y2, Y2    \
	VMULPS Y0, Y2, Y2                        \
	VADDPS expConstants<>+384(SB), Y2, Y2    \
	VMULPS Y0, Y2, Y2                        \
	VADDPS expConstants<>+384(SB), Y2, Y2    \
	VPSLLD $23, Y1, Y1                       \
	VPADDD expConstants<>+384(SB), Y1, Y1    \
	VMULPS Y1, Y2, Y0

// func addAVX2(x, y *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ y+8(FP), SI
	MOVQ n+16(FP), CX

addLoop:
	VMOVUPS (DI), Y0
	VADDPS  (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     addLoop
	VZEROUPPER
	RET

// func squaresAVX2(sum *lanes, x *float32, n int)
TEXT ·squaresAVX2(SB), NOSPLIT, $0-24
	MOVQ    sum+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1

squaresLoop:
	VCVTPS2PD (SI), Y2
	VCVTPS2PD 16(SI), Y3
	VMULPD    Y2, Y2, Y2
	VMULPD    Y3, Y3, Y3
	VADDPD    Y2, Y0, Y0
	VADDPD    Y3, Y1, Y1
	ADDQ      $32, SI
	SUBQ      $8, CX
	JNZ       squaresLoop
	VMOVUPD   Y0, (DI)
	VMOVUPD   Y1, 32(DI)
	VZEROUPPER
	RET

// func scaleAVX2(dst, x, gain *float32, n int, scale float32)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-36
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         gain+16(FP), BX
	MOVQ         n+24(FP), CX
	VBROADCASTSS scale+32(FP), Y1

scaleLoop:
	VMULPS  (SI), Y1, Y0
	VMULPS  (BX), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	ADDQ    $32, BX
	SUBQ    $8, CX
	JNZ     scaleLoop
	VZEROUPPER
	RET

// func siluAVX2(gate, up *float32, n int)
TEXT ·siluAVX2(SB), NOSPLIT, $0-24
	MOVQ    gate+0(FP), DI
	MOVQ    up+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS expConstants<>+0(SB), Y15
	VMOVUPS expConstants<>+32(SB), Y14

siluLoop:
	VMOVUPS (DI), Y4
	VXORPS  expConstants<>+416(SB), Y4, Y0
	EXP8
	VADDPS  expConstants<>+384(SB), Y0, Y0
	VDIVPS  Y0, Y4, Y0
	VMULPS  (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     siluLoop
	VZEROUPPER
	RET

// func relu2AVX2(gate, up *float32, n int)
//
// VMAXPS returns its first operand (Intel's last) if one is NaN.
TEXT ·relu2AVX2(SB), NOSPLIT, $0-24
	MOVQ   gate+0(FP), DI
	MOVQ   up+8(FP), SI
	MOVQ   n+16(FP), CX
	VXORPS Y1, Y1, Y1

relu2Loop:
	VMOVUPS (DI), Y0
	VMAXPS  Y0, Y1, Y0
	VMULPS  Y0, Y0, Y0
	VMULPS  (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     relu2Loop
	VZEROUPPER
	RET

// func expAVX2(sum *lanes, x *float32, n int, top, scale float32)
TEXT ·expAVX2(SB), NOSPLIT, $0-32
	MOVQ         sum+0(FP), BX
	MOVQ         x+8(FP), DI
	MOVQ         n+16(FP), CX
	VBROADCASTSS top+24(FP), Y4
	VBROADCASTSS scale+28(FP), Y5
	VMOVUPS      expConstants<>+0(SB), Y15
	VMOVUPS      expConstants<>+32(SB), Y14
	VMOVUPD      (BX), Y6
	VMOVUPD      32(BX), Y7

expLoop:
	VMOVUPS      (DI), Y0
	VSUBPS       Y4, Y0, Y0
	VMULPS       Y5, Y0, Y0
	EXP8
	VMOVUPS      Y0, (DI)
	VEXTRACTF128 $1, Y0, X1
	VCVTPS2PD    X0, Y2
	VCVTPS2PD    X1, Y3
	VADDPD       Y2, Y6, Y6
	VADDPD       Y3, Y7, Y7
	ADDQ         $32, DI
	SUBQ         $8, CX
	JNZ          expLoop
	VMOVUPD      Y6, (BX)
	VMOVUPD      Y7, 32(BX)
	VZEROUPPER
	RET

// func encodeF16AVX2(dst *byte, src *float32, n int)
TEXT ·encodeF16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

encodeLoop:
	VMOVUPS   (SI), Y0
	VCVTPS2PH $0, Y0, (DI)
	ADDQ      $16, DI
	ADDQ      $32, SI
	SUBQ      $8, CX
	JNZ       encodeLoop
	VZEROUPPER
	RET

#define WEIGHTED8(offset, acc, t) \
	VCVTPH2PS offset(R9), t \
	VMULPS    t, Y8, t      \
	VADDPS    t, acc, acc

// func weightedF16AVX2(dst, weights *float32, rows *byte, n, columns, stride int)
//
// Eight registers of eight columns go down all rows, then the next eight; what
// is left of the columns goes down in one register at a time.
TEXT ·weightedF16AVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ columns+32(FP), DX
	MOVQ stride+40(FP), R10

wide:
	CMPQ    DX, $8
	JLT     narrow
	MOVQ    SI, BX
	MOVQ    R8, R9
	MOVQ    n+24(FP), CX
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	VMOVUPS 128(DI), Y4
	VMOVUPS 160(DI), Y5
	VMOVUPS 192(DI), Y6
	VMOVUPS 224(DI), Y7

wideRow:
	VBROADCASTSS (BX), Y8
	WEIGHTED8(0, Y0, Y9)
	WEIGHTED8(16, Y1, Y10)
	WEIGHTED8(32, Y2, Y11)
	WEIGHTED8(48, Y3, Y12)
	WEIGHTED8(64, Y4, Y9)
	WEIGHTED8(80, Y5, Y10)
	WEIGHTED8(96, Y6, Y11)
	WEIGHTED8(112, Y7, Y12)
	ADDQ         $4, BX
	ADDQ         R10, R9
	DECQ         CX
	JNZ          wideRow
	VMOVUPS      Y0, (DI)
	VMOVUPS      Y1, 32(DI)
	VMOVUPS      Y2, 64(DI)
	VMOVUPS      Y3, 96(DI)
	VMOVUPS      Y4, 128(DI)
	VMOVUPS      Y5, 160(DI)
	VMOVUPS      Y6, 192(DI)
	VMOVUPS      Y7, 224(DI)
	ADDQ         $256, DI
	ADDQ         $128, R8
	SUBQ         $8, DX
	JMP          wide

narrow:
	TESTQ   DX, DX
	JZ      done
	MOVQ    SI, BX
	MOVQ    R8, R9
	MOVQ    n+24(FP), CX
	VMOVUPS (DI), Y0

narrowRow:
	VBROADCASTSS (BX), Y8
	WEIGHTED8(0, Y0, Y9)
	ADDQ         $4, BX
	ADDQ         R10, R9
	DECQ         CX
	JNZ          narrowRow
	VMOVUPS      Y0, (DI)
	ADDQ         $32, DI
	ADDQ         $16, R8
	DECQ         DX
	JMP          narrow

done:
	VZEROUPPER
	RET
