package roofline

import (
	"slices"

	"onebit/internal/cpu"
)

// DotKernel multiplies and adds int8 as fast as registers allow, without
// touching memory.
type DotKernel struct {
	Name     string
	Requires cpu.Set

	// lanes of a and b enter each product; chains products are independent of
	// each other, to cover the instruction's latency. An iteration is all
	// chains once, of macs multiply-adds each.
	lanes, chains, macs int

	// run returns the sum of all accumulators after that many iterations,
	// modulo 2³².
	run func(a, b *[64]int8, iterations int) int32
}

// DotKernels returns the kernels that run on a machine with these features,
// usually cpu.Detected(). There is always one.
func DotKernels(have cpu.Set) []DotKernel {
	var list []DotKernel
	goKernel := DotKernel{Name: "go", lanes: 64, chains: 1, macs: 64, run: dotGo}
	for _, k := range slices.Concat(archDotKernels, []DotKernel{goKernel}) {
		if have.Has(k.Requires) {
			list = append(list, k)
		}
	}
	return list
}

// Dot performs so many iterations on the calling thread. It returns how many
// multiply-adds they were, and the sum of all accumulators modulo 2³², which
// is in proportion to iterations: one that was left out shows.
func (k DotKernel) Dot(iterations int) (macs int, sum int32) {
	return iterations * k.chains * k.macs, k.run(&factorA, &factorB, iterations)
}

// The factors that Dot multiplies, made once: it does not allocate.
var factorA, factorB = operands()

// operands returns factors that all kernels accept: a is not negative, because
// VPDPBUSD and VPMADDUBSW take it as unsigned, and no sum of two products
// leaves 16 bits, where VPMADDUBSW would saturate.
func operands() (a, b [64]int8) {
	for i := range a {
		a[i] = int8(127 - i)
		b[i] = int8(i*37%201 - 100)
	}
	return a, b
}

// dotGo adds up the product of a and b, iterations times.
func dotGo(a, b *[64]int8, iterations int) int32 {
	var s0, s1, s2, s3 int32
	for range iterations {
		for i := 0; i < 64; i += 4 {
			s0 += int32(a[i]) * int32(b[i])
			s1 += int32(a[i+1]) * int32(b[i+1])
			s2 += int32(a[i+2]) * int32(b[i+2])
			s3 += int32(a[i+3]) * int32(b[i+3])
		}
	}
	return s0 + s1 + s2 + s3
}
