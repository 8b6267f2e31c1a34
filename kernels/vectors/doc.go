// Package vectors has the loops over float32s that models and training run between their matrix products:
// sums, exponentials, activation functions with their slopes, norms, rotations and transforms, conversions
// to fp16, an optimizer's step.
//
// A [Variant] is one implementation of them; Best gives this machine's. Its methods take
// slices of equal length, panic if they are not, run on the caller's goroutine and allocate nothing. A result
// may be written over an argument; slices that overlap otherwise may not be given.
//
// # Results
//
// All variants give the same bits, those of the loops in Go here, which have no fused
// multiply-add. A sum is one of float64s: number i goes to lane i mod 32, and the 32 lanes are
// folded in halves (16, 8, 4, 2, 1): they are four registers of AVX-512, whose additions need not wait
// for each other. Exponentials are those of math32.Exp, right to 2 units in the last
// place. Only the bits of a NaN may differ.
//
// Measurements are in docs/measurements/dense.md.
package vectors
