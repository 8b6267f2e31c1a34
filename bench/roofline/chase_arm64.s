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
	MOVD at+0(FP), R0
	MOVD steps+8(FP), R1
	CMP  $0, R1
	BLE  done

loop:
	MOVD (R0), R0
	SUB  $1, R1
	CBNZ R1, loop

done:
	MOVD R0, ret+16(FP)
	RET
