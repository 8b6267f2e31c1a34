package roofline

import (
	"math"
	"slices"

	"onebit/internal/cpu"
)

// Types of what a DotKernel multiplies. Sums of int8 are int32, those of the others
// float32.
const (
	Int8     = "int8"
	Float32  = "f32"
	BFloat16 = "bf16"
)

// DotKernel multiplies and adds numbers as fast as registers allow, without
// touching memory.
type DotKernel struct {
	Name     string // of the instructions
	Type     string // Int8, Float32 or BFloat16
	Requires cpu.Set

	// lanes of a and b enter each product; chains products are independent of
	// each other, to cover the instruction's latency. An iteration is all
	// chains once, of macs multiply-adds each.
	lanes, chains, macs int

	// One of them is there. ints returns the sum of all accumulators after that many
	// iterations, modulo 2³². floats adds products to sums, of which there are
	// lanes·chains, after they were zero; of bfloat16, a and b hold two in each number.
	ints   func(a, b *[64]int8, iterations int) int32
	floats func(a, b *[16]float32, sums *[192]float32, iterations int)
}

// DotKernels returns the kernels for a type that run on a machine with these
// features, usually cpu.Detected(). There is always one of Int8 and of Float32, and
// none of BFloat16 on a machine without instructions for it.
func DotKernels(kind string, have cpu.Set) []DotKernel {
	goKernels := []DotKernel{{"go", Int8, 0, 64, 1, 64, dotGo, nil}, {"go", Float32, 0, 16, 1, 16, nil, dotF32Go}}
	return slices.DeleteFunc(slices.Concat(archDotKernels, goKernels), func(k DotKernel) bool {
		return k.Type != kind || !have.Has(k.Requires)
	})
}

// maxFloatIterations is how many iterations of floats have an exact sum: a float32
// counts to 2²⁴, and no lane's product is beyond 64.
const maxFloatIterations = 1 << 18

// Dot performs so many iterations on the calling thread. It returns how many
// multiply-adds they were, and the sum of all accumulators modulo 2³², which
// is in proportion to iterations: one that was left out shows. That of floats is
// exact up to maxFloatIterations.
func (k DotKernel) Dot(iterations int) (macs int, sum uint32) {
	macs = iterations * k.chains * k.macs
	if k.ints != nil {
		return macs, uint32(k.ints(&intA, &intB, iterations))
	}
	a, b := &floatA, &floatB
	if k.Type == BFloat16 {
		a, b = &bfloatA, &bfloatB
	}
	var sums [192]float32
	k.floats(a, b, &sums, iterations)
	for _, s := range sums[:k.lanes*k.chains] {
		sum += uint32(int64(s))
	}
	return macs, sum
}

// The factors that Dot multiplies, made once: it does not allocate.
var (
	intA, intB       = operands()
	floatA, floatB   = floatOperands()
	bfloatA, bfloatB = bfloatOperands()
)

// operands returns factors that all kernels of int8 accept: a is not negative, because
// VPDPBUSD and VPMADDUBSW take it as unsigned, and no sum of two products
// leaves 16 bits, where VPMADDUBSW would saturate.
func operands() (a, b [64]int8) {
	for i := range a {
		a[i] = int8(127 - i)
		b[i] = int8(i*37%201 - 100)
	}
	return a, b
}

// floatOperands are small integers, whose products and sums are exact in every order.
func floatOperands() (a, b [16]float32) {
	for i := range a {
		a[i], b[i] = float32(i%5+1), float32(i%7-1)
	}
	return a, b
}

// bfloatOperands packs two bfloat16 into each number, the first in the low half.
func bfloatOperands() (a, b [16]float32) {
	for i := range a {
		a[i], b[i] = pairOf(bfloat(2*i%5+1), bfloat(2*i%7-1)), pairOf(bfloat(i%3+1), bfloat(i%4-1))
	}
	return a, b
}

// bfloat is a small integer as bfloat16: the upper half of a float32.
func bfloat(i int) uint32 { return math.Float32bits(float32(i)) >> 16 }

func pairOf(low, high uint32) float32 { return math.Float32frombits(high<<16 | low) }

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

// dotF32Go adds the products of a and b to sums, iterations times.
func dotF32Go(a, b *[16]float32, sums *[192]float32, iterations int) {
	acc := (*[16]float32)(sums[:])
	for range iterations {
		for i := range acc {
			acc[i] += a[i] * b[i]
		}
	}
}
