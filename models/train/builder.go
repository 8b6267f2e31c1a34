package train

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"onebit/kernels"
	"onebit/kernels/dense"
)

// A Builder makes layers, which share its threads and the memory of its products.
type Builder struct {
	Pool     *kernels.Pool // nil: the caller's thread alone
	Products *dense.Multiplier
	Seed     uint64 // of first weights
}

// NewBuilder returns a builder whose layers run on pool.
func NewBuilder(pool *kernels.Pool, seed uint64) *Builder {
	return &Builder{Pool: pool, Products: dense.NewMultiplier(dense.Best(), pool), Seed: seed}
}

// Rand returns the random numbers of one name: first weights don't depend on the
// order in which layers are built.
func (b *Builder) Rand(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(b.Seed, h.Sum64()))
}

// uniform fills p with numbers of [-bound, bound).
func (b *Builder) uniform(p *Param, bound float64) *Param {
	r := b.Rand(p.Name)
	for i := range p.W {
		p.W[i] = float32(bound * (2*r.Float64() - 1))
	}
	return p
}

// fanIn is the bound of a linear layer's first weights and biases, 1/√in:
// PyTorch's Kaiming initialisation with a = √5 (torch/nn/modules/linear.py), which
// NanoLogic has too.
func fanIn(in int) float64 { return 1 / math.Sqrt(float64(in)) }

// normal fills p with normal numbers of the given deviation.
func (b *Builder) normal(p *Param, deviation float64) *Param {
	r := b.Rand(p.Name)
	for i := range p.W {
		p.W[i] = float32(deviation * r.NormFloat64())
	}
	return p
}
