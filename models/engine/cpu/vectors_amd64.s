//go:build !purego

// The vector operations of vectors_scalar.go in AVX2 and F16C: the same float
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

// func addSIMD(x, y *float32, n int)
TEXT ·addSIMD(SB), NOSPLIT, $0-24
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

// func squaresSIMD(sum *lanes, x *float32, n int)
TEXT ·squaresSIMD(SB), NOSPLIT, $0-24
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

// func scaleSIMD(dst, x, gain *float32, n int, scale float32)
TEXT ·scaleSIMD(SB), NOSPLIT, $0-36
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

// func siluSIMD(gate, up *float32, n int)
TEXT ·siluSIMD(SB), NOSPLIT, $0-24
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

// func relu2SIMD(gate, up *float32, n int)
//
// VMAXPS returns its first operand (Intel's last) if one is NaN.
TEXT ·relu2SIMD(SB), NOSPLIT, $0-24
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

// func expSIMD(sum *lanes, x *float32, n int, top, scale float32)
TEXT ·expSIMD(SB), NOSPLIT, $0-32
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

// func encodeF16SIMD(dst *byte, src *float32, n int)
TEXT ·encodeF16SIMD(SB), NOSPLIT, $0-24
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

#define DECODE8(from, to) \
	VCVTPH2PS from(SI), Y0 \
	VMOVUPS   Y0, to(DI)

// func decodeF16SIMD(dst, src *byte, n int)
//
// 32 elements a round, and what is left by 8.
TEXT ·decodeF16SIMD(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

decode32:
	CMPQ CX, $32
	JLT  decode8
	DECODE8(0, 0)
	DECODE8(16, 32)
	DECODE8(32, 64)
	DECODE8(48, 96)
	ADDQ $64, SI
	ADDQ $128, DI
	SUBQ $32, CX
	JMP  decode32

decode8:
	TESTQ CX, CX
	JZ    decoded
	DECODE8(0, 0)
	ADDQ  $16, SI
	ADDQ  $32, DI
	SUBQ  $8, CX
	JMP   decode8

decoded:
	VZEROUPPER
	RET

// func maxSIMD(x *float32, n int) float32
//
// VMAXPS returns its first operand (Intel's last) if one is NaN: the maximum
// so far.
TEXT ·maxSIMD(SB), NOSPLIT, $0-20
	MOVQ    x+0(FP), SI
	MOVQ    n+8(FP), CX
	MOVL    $0xff800000, AX // -Inf
	VMOVD   AX, X1
	VBROADCASTSS X1, Y1

maxLoop:
	VMOVUPS (SI), Y0
	VMAXPS  Y1, Y0, Y1
	ADDQ    $32, SI
	SUBQ    $8, CX
	JNZ     maxLoop
	VEXTRACTF128 $1, Y1, X0
	VMAXPS    X0, X1, X1
	VPSHUFD   $0x4e, X1, X0
	VMAXPS    X0, X1, X1
	VPSHUFD   $0xb1, X1, X0
	VMAXPS    X0, X1, X1
	VMOVSS    X1, ret+16(FP)
	VZEROUPPER
	RET

// func turnSIMD(a, b, cos, sin *float32, n int)
TEXT ·turnSIMD(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ cos+16(FP), R8
	MOVQ sin+24(FP), R9
	MOVQ n+32(FP), CX

turnLoop:
	VMOVUPS (DI), Y0
	VMOVUPS (SI), Y1
	VMOVUPS (R8), Y2
	VMOVUPS (R9), Y3
	VMULPS  Y2, Y0, Y4
	VMULPS  Y3, Y1, Y5
	VSUBPS  Y5, Y4, Y4
	VMULPS  Y3, Y0, Y0
	VMULPS  Y2, Y1, Y1
	VADDPS  Y1, Y0, Y0
	VMOVUPS Y4, (DI)
	VMOVUPS Y0, (SI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	ADDQ    $32, R8
	ADDQ    $32, R9
	SUBQ    $8, CX
	JNZ     turnLoop
	VZEROUPPER
	RET

// func addProductSIMD(dst, x, y *float32, n int)
TEXT ·addProductSIMD(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX

addProductLoop:
	VMOVUPS (SI), Y0
	VMULPS  (DX), Y0, Y0
	VADDPS  (DI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	ADDQ    $32, DX
	SUBQ    $8, CX
	JNZ     addProductLoop
	VZEROUPPER
	RET

// The lanes whose signs change: those that are the second of values 1, 2 and 4
// apart.
DATA seconds<>+0(SB)/8, $0x8000000000000000
DATA seconds<>+8(SB)/8, $0x8000000000000000
DATA seconds<>+16(SB)/8, $0x8000000000000000
DATA seconds<>+24(SB)/8, $0x8000000000000000
DATA seconds<>+32(SB)/8, $0
DATA seconds<>+40(SB)/8, $0x8000000080000000
DATA seconds<>+48(SB)/8, $0
DATA seconds<>+56(SB)/8, $0x8000000080000000
DATA seconds<>+64(SB)/8, $0
DATA seconds<>+72(SB)/8, $0
DATA seconds<>+80(SB)/8, $0x8000000080000000
DATA seconds<>+88(SB)/8, $0x8000000080000000
GLOBL seconds<>(SB), RODATA|NOPTR, $96

// func hadamardSIMD(x *float32, n int, by float32)
//
// A register goes through the steps of values 1, 2 and 4 apart, then pairs of
// registers through those further apart.
TEXT ·hadamardSIMD(SB), NOSPLIT, $0-20
	MOVQ         x+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSS by+16(FP), Y12
	VMOVUPS      seconds<>+0(SB), Y13
	VMOVUPS      seconds<>+32(SB), Y14
	VMOVUPS      seconds<>+64(SB), Y15
	SHLQ         $2, CX
	LEAQ         (DI)(CX*1), DX
	MOVQ         DI, SI

hadamardWithin:
	VMOVUPS    (SI), Y0
	VPERMILPS  $0xb1, Y0, Y1
	VXORPS     Y13, Y0, Y0
	VADDPS     Y0, Y1, Y0
	VPERMILPS  $0x4e, Y0, Y1
	VXORPS     Y14, Y0, Y0
	VADDPS     Y0, Y1, Y0
	VPERM2F128 $0x01, Y0, Y0, Y1
	VXORPS     Y15, Y0, Y0
	VADDPS     Y0, Y1, Y0
	VMOVUPS    Y0, (SI)
	ADDQ       $32, SI
	CMPQ       SI, DX
	JLT        hadamardWithin
	MOVQ       $32, R8

hadamardStep:
	CMPQ R8, CX
	JGE  hadamardScale
	MOVQ DI, SI

hadamardPair:
	LEAQ (SI)(R8*1), R9
	MOVQ R9, R10

hadamardTurn:
	VMOVUPS (SI), Y0
	VMOVUPS (R9), Y1
	VADDPS  Y1, Y0, Y2
	VSUBPS  Y1, Y0, Y3
	VMOVUPS Y2, (SI)
	VMOVUPS Y3, (R9)
	ADDQ    $32, SI
	ADDQ    $32, R9
	CMPQ    SI, R10
	JLT     hadamardTurn
	MOVQ    R9, SI
	CMPQ    SI, DX
	JLT     hadamardPair
	SHLQ    $1, R8
	JMP     hadamardStep

hadamardScale:
	VMULPS  (DI), Y12, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	CMPQ    DI, DX
	JLT     hadamardScale
	VZEROUPPER
	RET

// DECAYED shrinks eight columns of a row and adds them, times Y4, to sum.
#define DECAYED(offset, sum, value) \
	VMULPS  offset(R10), Y12, value \
	VMOVUPS value, offset(R10)      \
	VMULPS  Y4, value, value        \
	VADDPS  value, sum, sum

// WRITTEN adds by, times Y8, to eight columns of a row, and them, times Y9, to
// sum.
#define WRITTEN(offset, by, sum, value) \
	VMULPS  Y8, by, value               \
	VADDPS  offset(DI), value, value    \
	VMOVUPS value, offset(DI)           \
	VMULPS  Y9, value, value            \
	VADDPS  value, sum, sum

// MISSING is by = (v - predicted)·beta.
#define MISSING(offset, by) \
	VMOVUPS offset(R8), Y4   \
	VSUBPS  by, Y4, by       \
	VMULPS  Y13, by, by

// func deltaRuleSIMD(matrix, q, k, v, out *float32, keys int, decay, beta float32)
//
// The matrix has 32 columns.
TEXT ·deltaRuleSIMD(SB), NOSPLIT, $0-56
	MOVQ         matrix+0(FP), DI
	MOVQ         q+8(FP), SI
	MOVQ         k+16(FP), BX
	MOVQ         v+24(FP), R8
	MOVQ         out+32(FP), R9
	MOVQ         keys+40(FP), CX
	VBROADCASTSS decay+48(FP), Y12
	VBROADCASTSS beta+52(FP), Y13
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VXORPS       Y2, Y2, Y2
	VXORPS       Y3, Y3, Y3
	MOVQ         DI, R10
	MOVQ         BX, R11
	MOVQ         CX, DX

deltaPredict:
	VBROADCASTSS (R11), Y4
	DECAYED(0, Y0, Y5)
	DECAYED(32, Y1, Y6)
	DECAYED(64, Y2, Y7)
	DECAYED(96, Y3, Y8)
	ADDQ         $4, R11
	ADDQ         $128, R10
	DECQ         DX
	JNZ          deltaPredict

	MISSING(0, Y0)
	MISSING(32, Y1)
	MISSING(64, Y2)
	MISSING(96, Y3)
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

deltaWrite:
	VBROADCASTSS (BX), Y8
	VBROADCASTSS (SI), Y9
	WRITTEN(0, Y0, Y4, Y10)
	WRITTEN(32, Y1, Y5, Y11)
	WRITTEN(64, Y2, Y6, Y14)
	WRITTEN(96, Y3, Y7, Y15)
	ADDQ         $4, BX
	ADDQ         $4, SI
	ADDQ         $128, DI
	DECQ         CX
	JNZ          deltaWrite

	VMOVUPS Y4, (R9)
	VMOVUPS Y5, 32(R9)
	VMOVUPS Y6, 64(R9)
	VMOVUPS Y7, 96(R9)
	VZEROUPPER
	RET
