//go:build !purego && (amd64 || arm64)

package cpu

import (
	"unsafe"

	"onebit/kernels"
	"onebit/kernels/vectors"
)

// A deltaKernel is deltaRuleScalar of a matrix of slabWidth columns.
type deltaKernel func(matrix, q, k, v, out *float32, keys int, decay, beta float32)

// newSIMD returns vectors that leave to the specification what fills no
// register.
func newSIMD(name, summary string, isa *kernels.ISA, a attentionSIMD, delta deltaKernel) *Vectors {
	v := &Vectors{
		Name: name, Summary: summary, ISA: isa, Variant: vectors.For(isa.Requires),
		scores: a.scores, weighted: a.weighted, blend: a.blend,
		scoresQ8: a.scoresQ8, soften: a.soften, weigh: a.weigh, greatest: a.greatest, unpackQ4: a.unpackQ4, unpackPairs: a.unpackPairs,
		deltaRule: delta.rule,
	}
	if a.halfScoreTiles != nil {
		v.scoresF16, v.weightedF16 = a.scoresF16, a.weightedF16
	}
	return v
}

func (kernel deltaKernel) rule(matrix, q, k, v, out []float32, decay, beta float32) {
	if len(out) != slabWidth || len(k) == 0 {
		deltaRuleScalar(matrix, q, k, v, out, decay, beta)
		return
	}
	matrix, q, v = matrix[:len(k)*slabWidth], q[:len(k)], v[:slabWidth]
	kernel(&matrix[0], &q[0], &k[0], &v[0], &out[0], len(k), decay, beta)
}

// bytesOf returns the first byte of x, which is not empty.
func bytesOf(x []float32) *byte { return (*byte)(unsafe.Pointer(&x[0])) }
