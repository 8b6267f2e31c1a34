package lm

import (
	"onebit/internal/aligned"
	"onebit/kernels/vectors"
	"onebit/models/arch"
	"onebit/models/train"
)

// An activation is the function of a gate, and what it makes of a gradient.
type activation struct {
	value    func(v *vectors.Variant, dst, x []float32)
	gradient func(v *vectors.Variant, dst, grad, x []float32)
}

// activations are those of the architectures.
var activations = map[arch.Activation]activation{
	arch.SiLU:  {(*vectors.Variant).SiLU, (*vectors.Variant).SiLUGradient},
	arch.ReLU2: {(*vectors.Variant).SquaredReLU, (*vectors.Variant).SquaredReLUGradient},
}

// A gate is act(gate)·up, number by number.
type gate struct {
	build      *train.Builder
	loops      *vectors.Variant
	activation activation

	g, up, y  []float32 // g and up are the caller's
	act       []float32
	gg, gradU []float32
}

func (l *gate) forward(g, up []float32) []float32 {
	l.g, l.up = g, up
	l.act, l.y = aligned.Grow(l.act, len(g), nil), aligned.Grow(l.y, len(g), nil)
	each(l.build, len(g), func(from, to int) {
		l.activation.value(l.loops, l.act[from:to], g[from:to])
		l.loops.Mul(l.y[from:to], l.act[from:to], up[from:to])
	})
	return l.y
}

// backward returns the gradients for g and up.
func (l *gate) backward(grad []float32) (g, up []float32) {
	l.gg, l.gradU = aligned.Grow(l.gg, len(grad), nil), aligned.Grow(l.gradU, len(grad), nil)
	each(l.build, len(grad), func(from, to int) {
		l.loops.Mul(l.gradU[from:to], grad[from:to], l.act[from:to])
		l.loops.Mul(l.gg[from:to], grad[from:to], l.up[from:to])
		l.activation.gradient(l.loops, l.gg[from:to], l.gg[from:to], l.g[from:to])
	})
	return l.gg, l.gradU
}
