package roofline

import (
	"math"
	"slices"

	"onebit/internal/cpu"
)

// Types of what a FloatKernel multiplies; sums are float32.
const (
	Float32  = "f32"
	BFloat16 = "bf16"
)

// FloatKernel multiplies and adds floating-point numbers as fast as registers
// allow, without touching memory.
type FloatKernel struct {
	Name     string // of the instructions
	Type     string // Float32 or BFloat16
	Requires cpu.Set

	// An iteration is all chains once, of macs multiply-adds each, which go to
	// lanes sums side by side.
	lanes, chains, macs int

	// run adds products to sums, of which there are lanes·chains, after they
	// were zero. Of bfloat16, a and b hold two in each number.
	run func(a, b *[16]float32, sums *[192]float32, iterations int)
}

// FloatKernels returns the kernels that run on a machine with these features,
// usually cpu.Detected(). There is always one of Float32, and none of BFloat16
// on a machine without instructions for it.
func FloatKernels(have cpu.Set) []FloatKernel {
	goKernel := FloatKernel{Name: "go", Type: Float32, lanes: 16, chains: 1, macs: 16, run: dotF32Go}
	return slices.DeleteFunc(slices.Concat(archFloatKernels, []FloatKernel{goKernel}), func(k FloatKernel) bool {
		return !have.Has(k.Requires)
	})
}

// Dot performs so many iterations on the calling thread. It returns how many
// multiply-adds they were, and the sum of all sums, which is in proportion to
// iterations and exact up to MaxFloatIterations of them.
func (k FloatKernel) Dot(iterations int) (macs int, sum float64) {
	a, b := floatOperands(k.Type)
	var sums [192]float32
	k.run(a, b, &sums, iterations)
	for _, s := range sums[:k.lanes*k.chains] {
		sum += float64(s)
	}
	return iterations * k.chains * k.macs, sum
}

// MaxFloatIterations is how many iterations have an exact sum: a float32 counts
// to 2²⁴, and no lane's product is beyond 64.
const MaxFloatIterations = 1 << 18

// floatOperands are the factors that Dot multiplies: small integers, whose
// products and sums are exact in every order.
func floatOperands(kind string) (a, b *[16]float32) {
	if kind == BFloat16 {
		return &bfloatA, &bfloatB
	}
	return &floatA, &floatB
}

var (
	floatA, floatB   = floatFactors()
	bfloatA, bfloatB = bfloatFactors()
)

func floatFactors() (a, b [16]float32) {
	for i := range a {
		a[i], b[i] = float32(i%5+1), float32(i%7-1)
	}
	return a, b
}

// bfloatFactors packs two bfloat16 into each number, the first in the low half.
func bfloatFactors() (a, b [16]float32) {
	for i := range a {
		a[i], b[i] = pairOf(bfloat(2*i%5+1), bfloat(2*i%7-1)), pairOf(bfloat(i%3+1), bfloat(i%4-1))
	}
	return a, b
}

// bfloat is a small integer as bfloat16: the upper half of a float32.
func bfloat(i int) uint32 { return math.Float32bits(float32(i)) >> 16 }

func pairOf(low, high uint32) float32 { return math.Float32frombits(high<<16 | low) }

// dotF32Go adds the products of a and b to sums, iterations times.
func dotF32Go(a, b *[16]float32, sums *[192]float32, iterations int) {
	acc := (*[16]float32)(sums[:])
	for range iterations {
		for i := range acc {
			acc[i] += a[i] * b[i]
		}
	}
}
