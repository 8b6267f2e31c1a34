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
// Stores around the caches (VMOVNTDQ) do not read a line before they write it,
// as others have to when it is not in a cache.

// func writeAVX512(p *byte, n int, word uint64)
TEXT ·writeAVX512(SB), NOSPLIT, $0-24
	MOVQ         p+0(FP), DI
	MOVQ         n+8(FP), CX
	VPBROADCASTQ word+16(FP), Z0
	SHRQ         $9, CX
	JZ           done

loop:
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z0, 64(DI)
	VMOVDQU64 Z0, 128(DI)
	VMOVDQU64 Z0, 192(DI)
	VMOVDQU64 Z0, 256(DI)
	VMOVDQU64 Z0, 320(DI)
	VMOVDQU64 Z0, 384(DI)
	VMOVDQU64 Z0, 448(DI)
	ADDQ      $512, DI
	DECQ      CX
	JNZ       loop

done:
	VZEROUPPER
	RET

// func writeAVX512Around(p *byte, n int, word uint64)
TEXT ·writeAVX512Around(SB), NOSPLIT, $0-24
	MOVQ         p+0(FP), DI
	MOVQ         n+8(FP), CX
	VPBROADCASTQ word+16(FP), Z0
	SHRQ         $9, CX
	JZ           done

loop:
	VMOVNTDQ Z0, (DI)
	VMOVNTDQ Z0, 64(DI)
	VMOVNTDQ Z0, 128(DI)
	VMOVNTDQ Z0, 192(DI)
	VMOVNTDQ Z0, 256(DI)
	VMOVNTDQ Z0, 320(DI)
	VMOVNTDQ Z0, 384(DI)
	VMOVNTDQ Z0, 448(DI)
	ADDQ     $512, DI
	DECQ     CX
	JNZ      loop

done:
	SFENCE
	VZEROUPPER
	RET

// func writeAVX2(p *byte, n int, word uint64)
TEXT ·writeAVX2(SB), NOSPLIT, $0-24
	MOVQ         p+0(FP), DI
	MOVQ         n+8(FP), CX
	VPBROADCASTQ word+16(FP), Y0
	SHRQ         $8, CX
	JZ           done

loop:
	VMOVDQU Y0, (DI)
	VMOVDQU Y0, 32(DI)
	VMOVDQU Y0, 64(DI)
	VMOVDQU Y0, 96(DI)
	VMOVDQU Y0, 128(DI)
	VMOVDQU Y0, 160(DI)
	VMOVDQU Y0, 192(DI)
	VMOVDQU Y0, 224(DI)
	ADDQ    $256, DI
	DECQ    CX
	JNZ     loop

done:
	VZEROUPPER
	RET

// func writeAVX2Around(p *byte, n int, word uint64)
TEXT ·writeAVX2Around(SB), NOSPLIT, $0-24
	MOVQ         p+0(FP), DI
	MOVQ         n+8(FP), CX
	VPBROADCASTQ word+16(FP), Y0
	SHRQ         $8, CX
	JZ           done

loop:
	VMOVNTDQ Y0, (DI)
	VMOVNTDQ Y0, 32(DI)
	VMOVNTDQ Y0, 64(DI)
	VMOVNTDQ Y0, 96(DI)
	VMOVNTDQ Y0, 128(DI)
	VMOVNTDQ Y0, 160(DI)
	VMOVNTDQ Y0, 192(DI)
	VMOVNTDQ Y0, 224(DI)
	ADDQ     $256, DI
	DECQ     CX
	JNZ      loop

done:
	SFENCE
	VZEROUPPER
	RET

// func writeString(p *byte, n int, word uint64)
TEXT ·writeString(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ word+16(FP), AX
	SHRQ $3, CX
	CLD
	REP; STOSQ
	RET

// LOAD512 loads 512 consecutive bytes, and STORE512 stores them with an
// instruction.
#define LOAD512 \
	VMOVDQU64 (SI), Z0    \
	VMOVDQU64 64(SI), Z1  \
	VMOVDQU64 128(SI), Z2 \
	VMOVDQU64 192(SI), Z3 \
	VMOVDQU64 256(SI), Z4 \
	VMOVDQU64 320(SI), Z5 \
	VMOVDQU64 384(SI), Z6 \
	VMOVDQU64 448(SI), Z7

#define STORE512(MOVE) \
	MOVE Z0, (DI)    \
	MOVE Z1, 64(DI)  \
	MOVE Z2, 128(DI) \
	MOVE Z3, 192(DI) \
	MOVE Z4, 256(DI) \
	MOVE Z5, 320(DI) \
	MOVE Z6, 384(DI) \
	MOVE Z7, 448(DI)

// func copyAVX512(dst, src *byte, n int)
TEXT ·copyAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SHRQ $9, CX
	JZ   done

loop:
	LOAD512
	STORE512(VMOVDQU64)
	ADDQ $512, SI
	ADDQ $512, DI
	DECQ CX
	JNZ  loop

done:
	VZEROUPPER
	RET

// func copyAVX512Around(dst, src *byte, n int)
TEXT ·copyAVX512Around(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SHRQ $9, CX
	JZ   done

loop:
	PREFETCHT0 4096(SI)
	PREFETCHT0 4160(SI)
	PREFETCHT0 4224(SI)
	PREFETCHT0 4288(SI)
	PREFETCHT0 4352(SI)
	PREFETCHT0 4416(SI)
	PREFETCHT0 4480(SI)
	PREFETCHT0 4544(SI)
	LOAD512
	STORE512(VMOVNTDQ)
	ADDQ       $512, SI
	ADDQ       $512, DI
	DECQ       CX
	JNZ        loop

done:
	SFENCE
	VZEROUPPER
	RET

#define LOAD256 \
	VMOVDQU (SI), Y0    \
	VMOVDQU 32(SI), Y1  \
	VMOVDQU 64(SI), Y2  \
	VMOVDQU 96(SI), Y3  \
	VMOVDQU 128(SI), Y4 \
	VMOVDQU 160(SI), Y5 \
	VMOVDQU 192(SI), Y6 \
	VMOVDQU 224(SI), Y7

#define STORE256(MOVE) \
	MOVE Y0, (DI)    \
	MOVE Y1, 32(DI)  \
	MOVE Y2, 64(DI)  \
	MOVE Y3, 96(DI)  \
	MOVE Y4, 128(DI) \
	MOVE Y5, 160(DI) \
	MOVE Y6, 192(DI) \
	MOVE Y7, 224(DI)

// func copyAVX2(dst, src *byte, n int)
TEXT ·copyAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SHRQ $8, CX
	JZ   done

loop:
	LOAD256
	STORE256(VMOVDQU)
	ADDQ $256, SI
	ADDQ $256, DI
	DECQ CX
	JNZ  loop

done:
	VZEROUPPER
	RET

// func copyAVX2Around(dst, src *byte, n int)
TEXT ·copyAVX2Around(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SHRQ $8, CX
	JZ   done

loop:
	PREFETCHT0 4096(SI)
	PREFETCHT0 4160(SI)
	PREFETCHT0 4224(SI)
	PREFETCHT0 4288(SI)
	LOAD256
	STORE256(VMOVNTDQ)
	ADDQ       $256, SI
	ADDQ       $256, DI
	DECQ       CX
	JNZ        loop

done:
	SFENCE
	VZEROUPPER
	RET

// func copyString(dst, src *byte, n int)
TEXT ·copyString(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	SHRQ $3, CX
	CLD
	REP; MOVSQ
	RET
