//go:build !purego

package roofline

import "onebit/internal/cpu"

var archReadKernels = []readKernel{
	{"avx512", cpu.AVX512F, 512, 1, readAVX512},
	{"avx512-prefetch", cpu.AVX512F, 512, 1, readAVX512Prefetch},
	{"avx512-streams", cpu.AVX512F, 512, 1, readAVX512Streams},
	{"avx2", cpu.AVX2, 256, 1, readAVX2},
	{"avx2-prefetch", cpu.AVX2, 256, 1, readAVX2Prefetch},
	{"avx2-streams", cpu.AVX2, 256, 1, readAVX2Streams},
}

var archDotKernels = []DotKernel{
	{"avx512vnni", Int8, cpu.AVX512F | cpu.AVX512VNNI, 64, 12, 64, dotAVX512VNNI, nil},
	{"avxvnni", Int8, cpu.AVX2 | cpu.AVXVNNI, 32, 12, 32, dotAVXVNNI, nil},
	{"avx2", Int8, cpu.AVX2, 32, 8, 32, dotAVX2, nil},
	{"sse2", Int8, 0, 16, 8, 16, dotSSE2, nil},
	{"avx512", Float32, cpu.AVX512F, 16, 12, 16, nil, dotF32AVX512},
	{"fma", Float32, cpu.AVX2 | cpu.FMA, 8, 12, 8, nil, dotF32FMA},
	{"sse", Float32, 0, 4, 8, 4, nil, dotF32SSE},
	{"avx512bf16", BFloat16, cpu.AVX512F | cpu.AVX512BF16, 16, 12, 32, nil, dotBF16AVX512},
}

// REP STOS and REP MOVS move as the processor thinks best.
var archWriteKernels = []writeKernel{
	{"avx512", cpu.AVX512F, 512, 64, writeAVX512},
	{"avx512-around", cpu.AVX512F, 512, 64, writeAVX512Around},
	{"avx2", cpu.AVX2, 256, 32, writeAVX2},
	{"avx2-around", cpu.AVX2, 256, 32, writeAVX2Around},
	{"rep", 0, 64, 64, writeString},
}

var archCopyKernels = []copyKernel{
	{"avx512", cpu.AVX512F, 512, 64, copyAVX512},
	{"avx512-around", cpu.AVX512F, 512, 64, copyAVX512Around},
	{"avx2", cpu.AVX2, 256, 32, copyAVX2},
	{"avx2-around", cpu.AVX2, 256, 32, copyAVX2Around},
	{"rep", 0, 64, 64, copyString},
}

// The functions below read n bytes at p, where n is a multiple of the step
// named in the table, and return the sum of the 64-bit words.

//go:noescape
func readAVX512(p *byte, n int) uint64

//go:noescape
func readAVX512Prefetch(p *byte, n int) uint64

//go:noescape
func readAVX512Streams(p *byte, n int) uint64

//go:noescape
func readAVX2(p *byte, n int) uint64

//go:noescape
func readAVX2Prefetch(p *byte, n int) uint64

//go:noescape
func readAVX2Streams(p *byte, n int) uint64

// The functions below add the product of the first lanes of a and b to each of
// their chains, as often as iterations says, and return the sum of all chains.

//go:noescape
func dotAVX512VNNI(a, b *[64]int8, iterations int) int32

//go:noescape
func dotAVXVNNI(a, b *[64]int8, iterations int) int32

//go:noescape
func dotAVX2(a, b *[64]int8, iterations int) int32

//go:noescape
func dotSSE2(a, b *[64]int8, iterations int) int32

// The functions below do so with floating-point numbers, and write the chains
// to sums.

//go:noescape
func dotF32AVX512(a, b *[16]float32, sums *[192]float32, iterations int)

//go:noescape
func dotF32FMA(a, b *[16]float32, sums *[192]float32, iterations int)

//go:noescape
func dotF32SSE(a, b *[16]float32, sums *[192]float32, iterations int)

//go:noescape
func dotBF16AVX512(a, b *[16]float32, sums *[192]float32, iterations int)

// The functions below write or copy n bytes, where n is a multiple of the step
// named in the table and the address that they write to one of align.

//go:noescape
func writeAVX512(p *byte, n int, word uint64)

//go:noescape
func writeAVX512Around(p *byte, n int, word uint64)

//go:noescape
func writeAVX2(p *byte, n int, word uint64)

//go:noescape
func writeAVX2Around(p *byte, n int, word uint64)

//go:noescape
func writeString(p *byte, n int, word uint64)

//go:noescape
func copyAVX512(dst, src *byte, n int)

//go:noescape
func copyAVX512Around(dst, src *byte, n int)

//go:noescape
func copyAVX2(dst, src *byte, n int)

//go:noescape
func copyAVX2Around(dst, src *byte, n int)

//go:noescape
func copyString(dst, src *byte, n int)
