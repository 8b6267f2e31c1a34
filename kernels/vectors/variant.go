package vectors

import (
	"onebit/internal/cpu"
	"onebit/kernels"
)

// lanes is how many sums there are of the numbers of a slice, and how many numbers a block
// has. Assembly does whole blocks.
const lanes = 32

// A Variant is one implementation of all loops.
type Variant struct {
	*kernels.ISA
	loops
}

// sums are those of the numbers of each lane.
type sums = [lanes]float64

// loops are those over n blocks. Where there is none, Go does all. Arrays go by value: what a
// function that is not known points to would be allocated.
type loops struct {
	sum         func(x *float32, n int) sums
	sumAbs      func(x *float32, center float32, n int) sums
	dot         func(x, y *float32, n int) sums
	max         func(most [lanes]float32, x *float32, n int) [lanes]float32
	expSum      func(dst, x *float32, shift, scale float32, n int) sums
	add         func(dst, x *float32, n int)
	axpy        func(dst *float32, a float32, x *float32, n int)
	scale       func(dst *float32, a float32, x *float32, n int)
	mul         func(dst, x, y *float32, n int)
	mulAdd      func(dst, x, y *float32, n int)
	mulShifted  func(dst, x, y *float32, shift float32, n int)
	combine     func(dst *float32, a float32, x *float32, b float32, y *float32, n int)
	silu        func(dst, x *float32, n int)
	sigmoid     func(dst, x *float32, n int)
	siluGrad    func(dst, grad, x *float32, n int)
	squaredReLU func(dst, x *float32, n int)
	squaredGrad func(dst, grad, x *float32, n int)
	ternarize   func(dst, x *float32, center, half, scale float32, n int)
	adamW       func(w, grad, first, second *float32, constants [9]float32, n int)

	rotate         func(a, b, cos, sin *float32, n int)
	rotateAdjacent func(x, cos, sin *float32, n int) // of n blocks of pairs
	encodeF16      func(dst *byte, src *float32, n int)
	decodeF16      func(dst *float32, src *byte, n int)
	hadamard       func(x *float32, n int, by float32) // of n numbers, 8 or more
}

var goVariant = &Variant{ISA: kernels.Go}

// Variants returns what this program has, the variant go first and the fastest last.
// They may need features that this machine lacks: see Available.
func Variants() []*Variant { return append([]*Variant{goVariant}, archVariants...) }

// Best returns the fastest variant that runs on this machine.
func Best() *Variant { return For(cpu.Detected()) }

// For returns the fastest variant that a machine with the given features runs.
func For(features cpu.Set) *Variant { return kernels.Fastest(Variants(), features) }

// blocks returns how many whole blocks assembly does, and how many numbers they are: none if there is no
// loop. It panics unless lengths are alike.
func blocks(loop bool, n int, others ...int) (whole, done int) {
	for _, m := range others {
		if m != n {
			panic("vectors: slices of different lengths")
		}
	}
	if !loop {
		return 0, 0
	}
	return n / lanes, n / lanes * lanes
}
