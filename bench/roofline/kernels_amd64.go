//go:build !purego

package roofline

import "onebit/internal/cpu"

var archReadKernels = []ReadKernel{
	{"avx512", cpu.AVX512F, 512, readAVX512},
	{"avx512-prefetch", cpu.AVX512F, 512, readAVX512Prefetch},
	{"avx512-streams", cpu.AVX512F, 512, readAVX512Streams},
	{"avx2", cpu.AVX2, 256, readAVX2},
	{"avx2-prefetch", cpu.AVX2, 256, readAVX2Prefetch},
	{"avx2-streams", cpu.AVX2, 256, readAVX2Streams},
}

var archDotKernels = []DotKernel{
	{"avx512vnni", cpu.AVX512F | cpu.AVX512VNNI, 64, 12, 64, dotAVX512VNNI},
	{"avxvnni", cpu.AVX2 | cpu.AVXVNNI, 32, 12, 32, dotAVXVNNI},
	{"avx2", cpu.AVX2, 32, 8, 32, dotAVX2},
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
