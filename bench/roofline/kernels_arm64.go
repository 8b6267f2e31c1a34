//go:build !purego

package roofline

import "onebit/internal/cpu"

var archReadKernels = []readKernel{
	{"neon", cpu.NEON, 128, 1, readNEON},
	{"neon-prefetch", cpu.NEON, 128, 1, readNEONPrefetch},
	{"neon-streams", cpu.NEON, 256, 1, readNEONStreams},
}

var archDotKernels = []DotKernel{
	{"i8mm", Int8, cpu.NEON | cpu.I8MM, 16, 12, 32, dotI8MM, nil},
	{"dotprod", Int8, cpu.NEON | cpu.DotProd, 16, 12, 16, dotDotProd, nil},
	{"neon", Int8, cpu.NEON, 16, 8, 16, dotNEON, nil},
	{"neon", Float32, cpu.NEON, 4, 16, 4, nil, dotF32NEON},
	{"bfmmla", BFloat16, cpu.NEON | cpu.BF16, 4, 16, 16, nil, dotBF16MMLA},
	{"bfdot", BFloat16, cpu.NEON | cpu.BF16, 4, 16, 8, nil, dotBF16DOT},
}

var archWriteKernels = []writeKernel{
	{"neon", cpu.NEON, 128, 64, writeNEON},
	{"neon-around", cpu.NEON, 128, 64, writeNEONAround},
}

var archCopyKernels = []copyKernel{
	{"neon", cpu.NEON, 128, 64, copyNEON},
	{"neon-around", cpu.NEON, 128, 64, copyNEONAround},
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

// The functions below do so with floating-point numbers, and write the chains
// to sums.

//go:noescape
func dotF32NEON(a, b *[16]float32, sums *[192]float32, iterations int)

//go:noescape
func dotBF16DOT(a, b *[16]float32, sums *[192]float32, iterations int)

//go:noescape
func dotBF16MMLA(a, b *[16]float32, sums *[192]float32, iterations int)

// The functions below write or copy n bytes, where n is a multiple of the step
// named in the table.

//go:noescape
func writeNEON(p *byte, n int, word uint64)

//go:noescape
func writeNEONAround(p *byte, n int, word uint64)

//go:noescape
func copyNEON(dst, src *byte, n int)

//go:noescape
func copyNEONAround(dst, src *byte, n int)
