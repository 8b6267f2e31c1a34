//go:build !purego

#include "textflag.h"

// All functions equal this loop, with the words of a vector added side by side:
//
//	for ; n > 0; n -= 8 {
//		sum += *(*uint64)(p)
//		p += 8
//	}

// ZERO clears the sums, V16 to V31.
#define ZERO \
	VEOR V16.B16, V16.B16, V16.B16 \
	VEOR V17.B16, V17.B16, V17.B16 \
	VEOR V18.B16, V18.B16, V18.B16 \
	VEOR V19.B16, V19.B16, V19.B16 \
	VEOR V20.B16, V20.B16, V20.B16 \
	VEOR V21.B16, V21.B16, V21.B16 \
	VEOR V22.B16, V22.B16, V22.B16 \
	VEOR V23.B16, V23.B16, V23.B16 \
	VEOR V24.B16, V24.B16, V24.B16 \
	VEOR V25.B16, V25.B16, V25.B16 \
	VEOR V26.B16, V26.B16, V26.B16 \
	VEOR V27.B16, V27.B16, V27.B16 \
	VEOR V28.B16, V28.B16, V28.B16 \
	VEOR V29.B16, V29.B16, V29.B16 \
	VEOR V30.B16, V30.B16, V30.B16 \
	VEOR V31.B16, V31.B16, V31.B16

// ADD4 adds V0 to V3 to four sums.
#define ADD4(A, B, C, D) \
	VADD V0.D2, A.D2, A.D2 \
	VADD V1.D2, B.D2, B.D2 \
	VADD V2.D2, C.D2, C.D2 \
	VADD V3.D2, D.D2, D.D2

// FOLD adds all sums and leaves the result in R2.
#define FOLD \
	VADD V17.D2, V16.D2, V16.D2 \
	VADD V19.D2, V18.D2, V18.D2 \
	VADD V21.D2, V20.D2, V20.D2 \
	VADD V23.D2, V22.D2, V22.D2 \
	VADD V25.D2, V24.D2, V24.D2 \
	VADD V27.D2, V26.D2, V26.D2 \
	VADD V29.D2, V28.D2, V28.D2 \
	VADD V31.D2, V30.D2, V30.D2 \
	VADD V18.D2, V16.D2, V16.D2 \
	VADD V22.D2, V20.D2, V20.D2 \
	VADD V26.D2, V24.D2, V24.D2 \
	VADD V30.D2, V28.D2, V28.D2 \
	VADD V20.D2, V16.D2, V16.D2 \
	VADD V28.D2, V24.D2, V24.D2 \
	VADD V24.D2, V16.D2, V16.D2 \
	VMOV V16.D[0], R2           \
	VMOV V16.D[1], R3           \
	ADD  R3, R2

// ADD128 adds 128 consecutive bytes.
#define ADD128 \
	VLD1.P 64(R0), [V0.D2, V1.D2, V2.D2, V3.D2] \
	VLD1.P 64(R0), [V4.D2, V5.D2, V6.D2, V7.D2] \
	ADD4(V16, V17, V18, V19)                    \
	VADD V4.D2, V20.D2, V20.D2                  \
	VADD V5.D2, V21.D2, V21.D2                  \
	VADD V6.D2, V22.D2, V22.D2                  \
	VADD V7.D2, V23.D2, V23.D2

// func readNEON(p *byte, n int) uint64
TEXT ·readNEON(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	ZERO
	LSR  $7, R1
	CBZ  R1, done

loop:
	ADD128
	SUB  $1, R1
	CBNZ R1, loop

done:
	FOLD
	MOVD R2, ret+16(FP)
	RET

// func readNEONPrefetch(p *byte, n int) uint64
TEXT ·readNEONPrefetch(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	ZERO
	LSR  $7, R1
	CBZ  R1, done

loop:
	PRFM 8192(R0), PLDL1KEEP
	PRFM 8256(R0), PLDL1KEEP
	ADD128
	SUB  $1, R1
	CBNZ R1, loop

done:
	FOLD
	MOVD R2, ret+16(FP)
	RET

// func readNEONStreams(p *byte, n int) uint64
TEXT ·readNEONStreams(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	LSR  $2, R1
	ADD  R1, R0, R4
	ADD  R1, R4, R5
	ADD  R1, R5, R6
	ZERO
	LSR  $6, R1
	CBZ  R1, done

loop:
	PRFM   2048(R0), PLDL1KEEP
	VLD1.P 64(R0), [V0.D2, V1.D2, V2.D2, V3.D2]
	ADD4(V16, V17, V18, V19)
	PRFM   2048(R4), PLDL1KEEP
	VLD1.P 64(R4), [V0.D2, V1.D2, V2.D2, V3.D2]
	ADD4(V20, V21, V22, V23)
	PRFM   2048(R5), PLDL1KEEP
	VLD1.P 64(R5), [V0.D2, V1.D2, V2.D2, V3.D2]
	ADD4(V24, V25, V26, V27)
	PRFM   2048(R6), PLDL1KEEP
	VLD1.P 64(R6), [V0.D2, V1.D2, V2.D2, V3.D2]
	ADD4(V28, V29, V30, V31)
	SUB    $1, R1
	CBNZ   R1, loop

done:
	FOLD
	MOVD R2, ret+16(FP)
	RET
