//go:build !purego

// The loops named Generic in AVX2, the same results to the bit.

#include "textflag.h"

// func absMaxAVX2(w *float32, n int) (bits uint32)
TEXT ·absMaxAVX2(SB), NOSPLIT, $0-20
	MOVQ     w+0(FP), SI
	MOVQ     n+8(FP), CX
	VPCMPEQD Y15, Y15, Y15
	VPSRLD   $1, Y15, Y15  // all but the sign
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1

pair:
	CMPQ    CX, $16
	JB      one
	VPAND   (SI), Y15, Y2
	VPAND   32(SI), Y15, Y3
	VPMAXUD Y2, Y0, Y0
	VPMAXUD Y3, Y1, Y1
	ADDQ    $64, SI
	SUBQ    $16, CX
	JMP     pair

one:
	TESTQ   CX, CX
	JEQ     fold
	VPAND   (SI), Y15, Y2
	VPMAXUD Y2, Y0, Y0

fold:
	VPMAXUD      Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPMAXUD      X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPMAXUD      X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPMAXUD      X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, bits+16(FP)
	VZEROUPPER
	RET

// func decodeF16AVX2(dst *float32, src *byte, n int) (nan bool)
TEXT ·decodeF16AVX2(SB), NOSPLIT, $0-25
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  n+16(FP), CX
	VPXOR Y15, Y15, Y15 // which lanes had a NaN

eight:
	VCVTPH2PS (SI), Y0
	VMOVUPS   Y0, (DI)
	VCMPPS    $3, Y0, Y0, Y1 // unordered
	VORPS     Y1, Y15, Y15
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JNE       eight
	VMOVMSKPS Y15, AX
	TESTL     AX, AX
	SETNE     nan+24(FP)
	VZEROUPPER
	RET

// func q6ExtremesAVX2(up, down *[16]uint32, w *[256]float32)
TEXT ·q6ExtremesAVX2(SB), NOSPLIT, $0-24
	MOVQ     up+0(FP), DI
	MOVQ     down+8(FP), DX
	MOVQ     w+16(FP), SI
	MOVQ     $16, CX
	VPXOR    X14, X14, X14
	VPCMPEQD X15, X15, X15
	VPSLLD   $31, X15, X15 // the sign

group:
	VMOVDQU      (SI), Y0
	VMOVDQU      32(SI), Y1
	VPMAXSD      Y1, Y0, Y2     // of positive floats the largest
	VPMAXUD      Y1, Y0, Y3     // of negative ones the largest magnitude
	VEXTRACTI128 $1, Y2, X4
	VEXTRACTI128 $1, Y3, X5
	VPMAXSD      X4, X2, X2
	VPMAXUD      X5, X3, X3
	VPSHUFD      $0x4e, X2, X4
	VPSHUFD      $0x4e, X3, X5
	VPMAXSD      X4, X2, X2
	VPMAXUD      X5, X3, X3
	VPSHUFD      $0xb1, X2, X4
	VPSHUFD      $0xb1, X3, X5
	VPMAXSD      X4, X2, X2
	VPMAXUD      X5, X3, X3
	VPMAXSD      X14, X2, X2    // 0 if none is positive
	VPMAXUD      X15, X3, X3    // -0 if none is negative
	VMOVD        X2, (DI)
	VMOVD        X3, (DX)
	ADDQ         $64, SI
	ADDQ         $4, DI
	ADDQ         $4, DX
	DECQ         CX
	JNE          group
	VZEROUPPER
	RET

// func q6SearchAVX2(w *[16]float32, id, steps float32, first, last int) (best int64)
TEXT ·q6SearchAVX2(SB), NOSPLIT, $0-40
	MOVQ         w+0(FP), SI
	VBROADCASTSS id+8(FP), Y0
	VMOVSS       steps+12(FP), X14
	MOVQ         first+16(FP), CX
	MOVQ         last+24(FP), DX
	MOVQ         $0x7fffffffffffffff, AX
	VMULPS       (SI), Y0, Y1
	VMULPS       32(SI), Y0, Y2
	VCVTTPS2DQ   Y1, Y1                  // fixed point
	VCVTTPS2DQ   Y2, Y2
	MOVL         $0x45800000, BX         // 4096 = 2³²/q6Fixed
	VMOVD        BX, X13
	VPCMPEQD     Y15, Y15, Y15
	VPSRLW       $6, Y15, Y15            // 1023

scale:
	CMPQ         CX, DX
	JGT          done
	VXORPS       X3, X3, X3
	VCVTSI2SSQ   CX, X3, X3
	VDIVSS       X3, X14, X3
	VMULSS       X13, X3, X3
	VCVTTSS2SIQ  X3, BX
	VMOVD        BX, X4
	VPBROADCASTD X4, Y4
	VPMULLD      Y1, Y4, Y5
	VPMULLD      Y2, Y4, Y6
	VPSRLD       $22, Y5, Y5
	VPSRLD       $22, Y6, Y6
	VPACKUSDW    Y6, Y5, Y5              // fractions in 1024ths, in some order
	VPSUBW       Y5, Y15, Y6
	VPMINUW      Y6, Y5, Y5              // to the nearest integer
	VPMADDWD     Y5, Y5, Y5
	VEXTRACTI128 $1, Y5, X6
	VPADDD       X6, X5, X5
	VPSHUFD      $0x4e, X5, X6
	VPADDD       X6, X5, X5
	VPSHUFD      $0xb1, X5, X6
	VPADDD       X6, X5, X5
	VMOVD        X5, BX
	IMULQ        CX, BX
	IMULQ        CX, BX
	SHLQ         $8, BX
	ORQ          CX, BX
	CMPQ         BX, AX
	CMOVQLT      BX, AX
	INCQ         CX
	JMP          scale

done:
	MOVQ AX, best+32(FP)
	VZEROUPPER
	RET

DATA q6Order<>+0(SB)/4, $0
DATA q6Order<>+4(SB)/4, $4
DATA q6Order<>+8(SB)/4, $1
DATA q6Order<>+12(SB)/4, $5
DATA q6Order<>+16(SB)/4, $2
DATA q6Order<>+20(SB)/4, $6
DATA q6Order<>+24(SB)/4, $3
DATA q6Order<>+28(SB)/4, $7
GLOBL q6Order<>(SB), RODATA|NOPTR, $32

// CODES is Y = w·id + 32, rounded, between 0 and 63.
#define CODES(at, id, Y) \
	VMULPS    at(SI), id, Y \
	VCVTPS2DQ Y, Y          \
	VPADDD    Y15, Y, Y     \
	VPMAXSD   Y14, Y, Y     \
	VPMINSD   Y13, Y, Y

// func q6CodesAVX2(codes *[256]byte, w *[256]float32, ids *[16]float32)
TEXT ·q6CodesAVX2(SB), NOSPLIT, $0-24
	MOVQ     codes+0(FP), DI
	MOVQ     w+8(FP), SI
	MOVQ     ids+16(FP), DX
	MOVQ     $8, CX
	VPXOR    Y14, Y14, Y14
	VPCMPEQD Y13, Y13, Y13
	VPSRLD   $31, Y13, Y15
	VPSLLD   $5, Y15, Y15      // 32
	VPSRLD   $26, Y13, Y13     // 63
	VMOVDQU  q6Order<>(SB), Y12

groups:
	VBROADCASTSS (DX), Y4
	VBROADCASTSS 4(DX), Y5
	CODES(0, Y4, Y0)
	CODES(32, Y4, Y1)
	CODES(64, Y5, Y2)
	CODES(96, Y5, Y3)
	VPACKUSDW    Y1, Y0, Y0
	VPACKUSDW    Y3, Y2, Y2
	VPACKUSWB    Y2, Y0, Y0
	VPERMD       Y0, Y12, Y0
	VMOVDQU      Y0, (DI)
	ADDQ         $128, SI
	ADDQ         $8, DX
	ADDQ         $32, DI
	DECQ         CX
	JNE          groups
	VZEROUPPER
	RET

// WEIGHTS8 writes 8 weights of the codes at the bottom of an XMM register.
#define WEIGHTS8(codes, scale, at) \
	VPMOVSXBD codes, Y8          \
	VCVTDQ2PS Y8, Y8             \
	VMULPS    scale, Y8, Y8      \
	VMOVUPS   Y8, at(DI)

// WEIGHTS32 writes 32 weights of the codes in Y0 with the two scales at DX.
#define WEIGHTS32(at) \
	VPSUBB       Y13, Y0, Y0     \
	VBROADCASTSS at/16(DX), Y4   \
	VBROADCASTSS at/16+4(DX), Y5 \
	VPSRLDQ      $8, X0, X1      \
	VEXTRACTI128 $1, Y0, X2      \
	VPSRLDQ      $8, X2, X3      \
	WEIGHTS8(X0, Y4, at)         \
	WEIGHTS8(X1, Y4, at+32)      \
	WEIGHTS8(X2, Y5, at+64)      \
	WEIGHTS8(X3, Y5, at+96)

// func q6WeightsAVX2(dst *[256]float32, bits *[192]byte, scales *[16]float32)
TEXT ·q6WeightsAVX2(SB), NOSPLIT, $0-24
	MOVQ     dst+0(FP), DI
	MOVQ     bits+8(FP), SI
	MOVQ     scales+16(FP), DX
	LEAQ     128(SI), BX            // the high bits
	MOVQ     $2, CX
	VPCMPEQB Y15, Y15, Y15
	VPABSB   Y15, Y12               // 1
	VPSLLW   $5, Y12, Y13           // 32
	VPSLLW   $4, Y12, Y14
	VPSUBB   Y12, Y14, Y14          // 15
	VPADDB   Y12, Y12, Y15
	VPADDB   Y12, Y15, Y15          // 3

half:
	VMOVDQU (SI), Y10
	VMOVDQU 32(SI), Y11
	VMOVDQU (BX), Y9

	VPAND   Y15, Y9, Y1
	VPSLLW  $4, Y1, Y1
	VPAND   Y14, Y10, Y0
	VPOR    Y1, Y0, Y0
	WEIGHTS32(0)

	VPSRLW  $2, Y9, Y1
	VPAND   Y15, Y1, Y1
	VPSLLW  $4, Y1, Y1
	VPAND   Y14, Y11, Y0
	VPOR    Y1, Y0, Y0
	WEIGHTS32(128)

	VPSRLW  $4, Y9, Y1
	VPAND   Y15, Y1, Y1
	VPSLLW  $4, Y1, Y1
	VPSRLW  $4, Y10, Y0
	VPAND   Y14, Y0, Y0
	VPOR    Y1, Y0, Y0
	WEIGHTS32(256)

	VPSRLW  $6, Y9, Y1
	VPAND   Y15, Y1, Y1
	VPSLLW  $4, Y1, Y1
	VPSRLW  $4, Y11, Y0
	VPAND   Y14, Y0, Y0
	VPOR    Y1, Y0, Y0
	WEIGHTS32(384)

	ADDQ $64, SI
	ADDQ $32, BX
	ADDQ $32, DX
	ADDQ $512, DI
	DECQ CX
	JNE  half
	VZEROUPPER
	RET
