//go:build !purego

#include "textflag.h"

// chaseAddresses equals this loop:
//
//	for ; steps > 0; steps-- {
//		at = *(*uint64)(at)
//	}
//
// and returns at.

// func chaseAddresses(at uint64, steps int) uint64
TEXT ·chaseAddresses(SB), NOSPLIT, $0-24
	MOVQ  at+0(FP), AX
	MOVQ  steps+8(FP), CX
	TESTQ CX, CX
	JLE   done

loop:
	MOVQ (AX), AX
	DECQ CX
	JNZ  loop

done:
	MOVQ AX, ret+16(FP)
	RET
