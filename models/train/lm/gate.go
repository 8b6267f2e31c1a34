package lm

import (
	"onebit/internal/aligned"
	"onebit/models/train"
)

// A gate is act(gate)·up, number by number.
type gate struct {
	build    *train.Builder
	function *train.Function

	g, up, y  []float32 // g and up are the caller's
	act       []float32
	gg, gradU []float32
}

func (l *gate) forward(g, up []float32) []float32 {
	l.g, l.up = g, up
	l.act, l.y = aligned.Grow(l.act, len(g), nil), aligned.Grow(l.y, len(g), nil)
	each(l.build, len(g), func(from, to int) {
		for i := from; i < to; i++ {
			l.act[i] = l.function.Value(g[i])
			l.y[i] = l.act[i] * up[i]
		}
	})
	return l.y
}

// backward returns the gradients for g and up.
func (l *gate) backward(grad []float32) (g, up []float32) {
	l.gg, l.gradU = aligned.Grow(l.gg, len(grad), nil), aligned.Grow(l.gradU, len(grad), nil)
	each(l.build, len(grad), func(from, to int) {
		for i := from; i < to; i++ {
			l.gg[i] = grad[i] * l.up[i] * l.function.Slope(l.g[i], l.act[i])
			l.gradU[i] = grad[i] * l.act[i]
		}
	})
	return l.gg, l.gradU
}
