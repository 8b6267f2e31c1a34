// Package cases says what onebit measures. It is the only place that knows
// both sides: kernels and models on one, the measuring engine on the other.
//
// # MatVec
//
// A case of
//
//	MatVec/format=F/variant=V/act=A/rows=R/cols=C/threads=T/cache=warm|cold
//
// is one product of an R×C matrix in format F with an activation vector,
// quantization of the activations included, by variant V on T threads.
//
// All cases of one format and shape are a group: they share the weights, the
// activations, the references and, per layout, the packed matrix, and are
// timed interleaved.
//
// warm multiplies the same matrix again and again. cold rotates over copies
// that together exceed the last-level cache, so that each product reads its
// weights from memory.
//
// # Verification
//
// Before anything is timed, each case's result is compared with two oracles:
// it must equal the generic integer path (variant scalar of the same scheme)
// bit for bit, and its error against the float64 reference must be what the
// quantization of the activations explains. The errors are reported apart:
//
//	nmse         Σ(y−r)² / Σr², r the float64 product with the float activations
//	act-nmse     the same for the float64 product with the quantized activations:
//	             what the scheme costs, whoever multiplies
//	kernel-nmse  y against that product: what the kernel adds
//	max-abs-err  max|y−r|
//
// # Lockstep
//
// A study takes a short text through the reference engine and a variant, block
// by block (package models/lockstep):
//
//	Lockstep/model=M/variant=V/input=isolated|accumulated/block=N/tensor=T
//	Logits/model=M/variant=V/tokens=N
//
// T is a projection, or block for the stream behind it; the head is output, in
// block outside. Variants of one activation scheme are equal to the bit: the
// first runs in lockstep, and the others share its errors once their logits
// were found to be the same.
//
// # Ceilings
//
// Read/…/threads=T/cache=warm|cold reads the same bytes, in the same place,
// with as many threads, and does nothing else; %roof is a case's weight bytes
// per second over that.
//
// # Memory
//
// peak-RSS-B is the peak resident memory (VmHWM, reset after the weights were
// made) of a process that holds the tensor, packs it and multiplies once. The
// process is the program itself, run as a child (see Peak).
package cases
