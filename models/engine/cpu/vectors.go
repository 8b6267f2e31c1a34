package cpu

import (
	"onebit/internal/cpu"
	"onebit/kernels"
	"onebit/kernels/vectors"
)

// Vectors are one implementation of the operations of a forward pass outside
// the matrix products: the loops of package vectors, attention, and the delta rule.
// All of them give the same bits. They are listed, chosen and tested like the
// variants of products; nothing global chooses.
type Vectors struct {
	Name    string // "avx2"
	Summary string // how it works, in one line
	*kernels.ISA
	*vectors.Variant // the best that the ISA runs

	// Of attention: see their specification.
	scores   func(dst, q, keys []float32, width, positions int, ahead []byte)
	weighted func(dst, weights, values []float32, width, positions int, ahead []byte)
	blend    func(dst, x []float32, by float32)
	// The first two with keys and values in fp16, of heads whose width is a multiple of
	// 16, for few rows; nil: decode them first.
	scoresF16   func(dst, q []float32, keys []byte, width, positions int, ahead []byte)
	weightedF16 func(dst, weights []float32, values []byte, width, positions int, ahead []byte)
	// Of attention over int8: likewise.
	scoresQ8    func(dst []float32, q, keys []byte, blocks, positions int, ahead []byte)
	soften      func(scores, tops, sums []float32, scale float32)
	weigh       func(w *weighing)
	greatest    func(halves []byte) uint16 // of cacheTile
	unpackQ4    func(dst, src []byte, blocks int)
	unpackPairs func(dst, src []byte, width int)

	deltaRule func(matrix, q, k, v, out []float32, decay, beta float32)
}

var loopsInGo = vectors.For(kernels.Go.Requires)

// Scalar is the specification of all others.
var Scalar = &Vectors{
	Name: "scalar", Summary: "Go, an element at a time", ISA: kernels.Go, Variant: loopsInGo,
	scores: func(dst, q, keys []float32, width, positions int, _ []byte) {
		scoresScalar(dst, q, keys, width, positions)
	},
	weighted: func(dst, weights, values []float32, width, positions int, _ []byte) {
		weightedScalar(dst, weights, values, width, positions, 0)
	},
	blend: blendScalar,
	scoresQ8: func(dst []float32, q, keys []byte, blocks, positions int, _ []byte) {
		scoresQ8Scalar(dst, q, keys, blocks, positions)
	},
	soften: softenScalar, weigh: weighScalar, greatest: greatestScalar, unpackQ4: unpackQ4Scalar, unpackPairs: unpackPairsScalar,

	deltaRule: deltaRuleScalar,
}

// AllVectors returns those that are built into this program, the best last.
func AllVectors() []*Vectors { return append([]*Vectors{Scalar}, simdVectors...) }

// BestVectors returns the best that a machine with the given features runs.
func BestVectors(features cpu.Set) *Vectors { return kernels.Fastest(AllVectors(), features) }
