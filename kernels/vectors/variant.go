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

// loops are those over n blocks. Where there is none, Go does all.
type loops struct {
	sum         func(sums *[lanes]float64, x *float32, n int)
	sumAbs      func(sums *[lanes]float64, x *float32, center float32, n int)
	dot         func(sums *[lanes]float64, x, y *float32, n int)
	max         func(most *[lanes]float32, x *float32, n int)
	expSum      func(sums *[lanes]float64, dst, x *float32, shift float32, n int)
	add         func(dst, x *float32, n int)
	axpy        func(dst *float32, a float32, x *float32, n int)
	scale       func(dst *float32, a float32, x *float32, n int)
	mul         func(dst, x, y *float32, n int)
	mulAdd      func(dst, x, y *float32, n int)
	mulShifted  func(dst, x, y *float32, shift float32, n int)
	combine     func(dst *float32, a float32, x *float32, b float32, y *float32, n int)
	silu        func(dst, x *float32, n int)
	siluGrad    func(dst, grad, x *float32, n int)
	squaredReLU func(dst, x *float32, n int)
	squaredGrad func(dst, grad, x *float32, n int)
	ternarize   func(dst, x *float32, center, half, scale float32, n int)
	adamW       func(w, grad, first, second *float32, s *[9]float32, n int)
}

var goVariant = &Variant{ISA: kernels.Go}

// Variants returns what this program has, the variant go first and the fastest last.
// They may need features that this machine lacks: see Available.
func Variants() []*Variant { return append([]*Variant{goVariant}, archVariants...) }

// Best returns the fastest variant that runs on this machine.
func Best() *Variant { return kernels.Fastest(Variants(), cpu.Detected()) }

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
