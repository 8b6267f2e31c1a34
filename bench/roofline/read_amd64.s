//go:build !purego

#include "textflag.h"

// All functions equal this loop, with the words of a vector added side by side:
//
//	for ; n > 0; n -= 8 {
//		sum += *(*uint64)(p)
//		p += 8
//	}

#define ZERO512 \
	VPXORQ Z0, Z0, Z0 \
	VPXORQ Z1, Z1, Z1 \
	VPXORQ Z2, Z2, Z2 \
	VPXORQ Z3, Z3, Z3 \
	VPXORQ Z4, Z4, Z4 \
	VPXORQ Z5, Z5, Z5 \
	VPXORQ Z6, Z6, Z6 \
	VPXORQ Z7, Z7, Z7

// ADD512 adds 512 consecutive bytes.
#define ADD512 \
	VPADDQ (SI), Z0, Z0    \
	VPADDQ 64(SI), Z1, Z1  \
	VPADDQ 128(SI), Z2, Z2 \
	VPADDQ 192(SI), Z3, Z3 \
	VPADDQ 256(SI), Z4, Z4 \
	VPADDQ 320(SI), Z5, Z5 \
	VPADDQ 384(SI), Z6, Z6 \
	VPADDQ 448(SI), Z7, Z7

// FOLD128 adds the halves of X0 and leaves the sum in AX.
#define FOLD128 \
	VPSHUFD $0x4e, X0, X1 \
	VPADDQ X1, X0, X0     \
	VMOVQ X0, AX          \
	VZEROUPPER

// FOLD512 adds everything in Z0 to Z7 and leaves the sum in AX.
#define FOLD512 \
	VPADDQ Z1, Z0, Z0         \
	VPADDQ Z3, Z2, Z2         \
	VPADDQ Z5, Z4, Z4         \
	VPADDQ Z7, Z6, Z6         \
	VPADDQ Z2, Z0, Z0         \
	VPADDQ Z6, Z4, Z4         \
	VPADDQ Z4, Z0, Z0         \
	VEXTRACTI64X4 $1, Z0, Y1  \
	VPADDQ Y1, Y0, Y0         \
	VEXTRACTI128 $1, Y0, X1   \
	VPADDQ X1, X0, X0         \
	FOLD128

// func readAVX512(p *byte, n int) uint64
TEXT ·readAVX512(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	ZERO512
	SHRQ $9, CX
	JZ   done

loop:
	ADD512
	ADDQ $512, SI
	DECQ CX
	JNZ  loop

done:
	FOLD512
	MOVQ AX, ret+16(FP)
	RET

// func readAVX512Prefetch(p *byte, n int) uint64
TEXT ·readAVX512Prefetch(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	ZERO512
	SHRQ $9, CX
	JZ   done

loop:
	PREFETCHT0 8192(SI)
	PREFETCHT0 8256(SI)
	PREFETCHT0 8320(SI)
	PREFETCHT0 8384(SI)
	PREFETCHT0 8448(SI)
	PREFETCHT0 8512(SI)
	PREFETCHT0 8576(SI)
	PREFETCHT0 8640(SI)
	ADD512
	ADDQ $512, SI
	DECQ CX
	JNZ  loop

done:
	FOLD512
	MOVQ AX, ret+16(FP)
	RET

// STREAMS points SI, DI, R8 and R9 at the quarters of CX bytes.
#define STREAMS \
	SHRQ $2, CX        \
	LEAQ (SI)(CX*1), DI \
	LEAQ (DI)(CX*1), R8 \
	LEAQ (R8)(CX*1), R9

#define STREAM512(P, A, B) \
	PREFETCHT0 2048(P) \
	PREFETCHT0 2112(P) \
	VPADDQ (P), A, A   \
	VPADDQ 64(P), B, B \
	ADDQ $128, P

// func readAVX512Streams(p *byte, n int) uint64
TEXT ·readAVX512Streams(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	STREAMS
	ZERO512
	SHRQ $7, CX
	JZ   done

loop:
	STREAM512(SI, Z0, Z1)
	STREAM512(DI, Z2, Z3)
	STREAM512(R8, Z4, Z5)
	STREAM512(R9, Z6, Z7)
	DECQ CX
	JNZ  loop

done:
	FOLD512
	MOVQ AX, ret+16(FP)
	RET

#define ZERO256 \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3 \
	VPXOR Y4, Y4, Y4 \
	VPXOR Y5, Y5, Y5 \
	VPXOR Y6, Y6, Y6 \
	VPXOR Y7, Y7, Y7

// ADD256 adds 256 consecutive bytes.
#define ADD256 \
	VPADDQ (SI), Y0, Y0    \
	VPADDQ 32(SI), Y1, Y1  \
	VPADDQ 64(SI), Y2, Y2  \
	VPADDQ 96(SI), Y3, Y3  \
	VPADDQ 128(SI), Y4, Y4 \
	VPADDQ 160(SI), Y5, Y5 \
	VPADDQ 192(SI), Y6, Y6 \
	VPADDQ 224(SI), Y7, Y7

// FOLD256 adds everything in Y0 to Y7 and leaves the sum in AX.
#define FOLD256 \
	VPADDQ Y1, Y0, Y0       \
	VPADDQ Y3, Y2, Y2       \
	VPADDQ Y5, Y4, Y4       \
	VPADDQ Y7, Y6, Y6       \
	VPADDQ Y2, Y0, Y0       \
	VPADDQ Y6, Y4, Y4       \
	VPADDQ Y4, Y0, Y0       \
	VEXTRACTI128 $1, Y0, X1 \
	VPADDQ X1, X0, X0       \
	FOLD128

// func readAVX2(p *byte, n int) uint64
TEXT ·readAVX2(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	ZERO256
	SHRQ $8, CX
	JZ   done

loop:
	ADD256
	ADDQ $256, SI
	DECQ CX
	JNZ  loop

done:
	FOLD256
	MOVQ AX, ret+16(FP)
	RET

// func readAVX2Prefetch(p *byte, n int) uint64
TEXT ·readAVX2Prefetch(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	ZERO256
	SHRQ $8, CX
	JZ   done

loop:
	PREFETCHT0 8192(SI)
	PREFETCHT0 8256(SI)
	PREFETCHT0 8320(SI)
	PREFETCHT0 8384(SI)
	ADD256
	ADDQ $256, SI
	DECQ CX
	JNZ  loop

done:
	FOLD256
	MOVQ AX, ret+16(FP)
	RET

#define STREAM256(P, A, B) \
	PREFETCHT0 2048(P) \
	VPADDQ (P), A, A   \
	VPADDQ 32(P), B, B \
	ADDQ $64, P

// func readAVX2Streams(p *byte, n int) uint64
TEXT ·readAVX2Streams(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	STREAMS
	ZERO256
	SHRQ $6, CX
	JZ   done

loop:
	STREAM256(SI, Y0, Y1)
	STREAM256(DI, Y2, Y3)
	STREAM256(R8, Y4, Y5)
	STREAM256(R9, Y6, Y7)
	DECQ CX
	JNZ  loop

done:
	FOLD256
	MOVQ AX, ret+16(FP)
	RET
