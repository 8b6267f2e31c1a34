// Package vectors has the loops over float32s that training runs between its matrix products:
// sums, exponentials, activation functions with their slopes, norms, an optimizer's step.
//
// A [Variant] is one implementation of them; Best gives this machine's. Its methods take
// slices of equal length, panic if they are not, run on the caller's goroutine and allocate nothing. A result
// may be written over an argument; slices that overlap otherwise may not be given.
//
// # Results
//
// All variants give the same bits, those of the loops in Go here, which have no fused
// multiply-add. A sum is one of float64s: number i goes to lane i mod 32, and the 32 lanes are
// folded in halves (16, 8, 4, 2, 1). Exponentials are those of math32.Exp, right to 2 units in the last
// place. Only the bits of a NaN may differ.
//
// Measurements are in docs/measurements/dense.md.
package vectors
