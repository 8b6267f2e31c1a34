// Package neon is what the generators for arm64 share. A generator is text in Go's
// assembly, which Asm adds to a function, with three abbreviations:
//
//	args dst=R0 w=R1 by=F4
//		loads arguments; name(FP) elsewhere is an argument's place
//	4* FMOVQ.P 16(R8{}), F20{}
//		is a line four times. A number before {k} grows by k from one to the next, by 1
//		before {}. In a repetition that is in another, {k,m} grows by m in the outer one.
//		Several lines stand between 4* { and }
//	sdot v0.4s, v12.16b, v16.4b[1]
//		is an instruction that Go's assembler lacks, as LLVM writes it: see encodings
//
// A function is declared, with what it equals, in a Go file of its package: names and places of
// arguments come from there.
package neon
