//go:build !purego

package roofline

import "onebit/internal/cpu"

var archReadKernels = []ReadKernel{
	{"neon", cpu.NEON, 128, readNEON},
	{"neon-prefetch", cpu.NEON, 128, readNEONPrefetch},
	{"neon-streams", cpu.NEON, 256, readNEONStreams},
}

var archDotKernels = []DotKernel{
	{"i8mm", cpu.NEON | cpu.I8MM, 16, 12, 32, dotI8MM},
	{"dotprod", cpu.NEON | cpu.DotProd, 16, 12, 16, dotDotProd},
	{"neon", cpu.NEON, 16, 8, 16, dotNEON},
}

// The functions below read n bytes at p, where n is a multiple of the step
// named in the table, and return the sum of the 64-bit words.

//go:noescape
func readNEON(p *byte, n int) uint64

//go:noescape
func readNEONPrefetch(p *byte, n int) uint64

//go:noescape
func readNEONStreams(p *byte, n int) uint64

// The functions below add the product of the first 16 lanes of a and b to each
// of their chains, as often as iterations says, and return the sum of all
// chains. The product of SMMLA is that of two 2×8 matrices, a·bᵀ.

//go:noescape
func dotI8MM(a, b *[64]int8, iterations int) int32

//go:noescape
func dotDotProd(a, b *[64]int8, iterations int) int32

//go:noescape
func dotNEON(a, b *[64]int8, iterations int) int32
