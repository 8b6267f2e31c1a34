package train

import (
	"math"

	"onebit/internal/aligned"
	"onebit/internal/math32"
	"onebit/kernels"
)

// A Function is one of a single number.
type Function struct {
	Name  string
	Value func(x float32) float32
	Slope func(x, y float32) float32 // at x, where y is its value
}

// The functions that networks have between their products.
var (
	Tanh = &Function{"tanh",
		func(x float32) float32 { return float32(math.Tanh(float64(x))) },
		func(_, y float32) float32 { return 1 - y*y }}
	Sigmoid = &Function{"sigmoid",
		sigmoid,
		func(_, y float32) float32 { return y * (1 - y) }}
	SiLU = &Function{"silu",
		func(x float32) float32 { return x * sigmoid(x) },
		func(x, _ float32) float32 { s := sigmoid(x); return s * (1 + x*(1-s)) }}
	// SquaredReLU is the gate of BitNet b1.58 2B4T.
	SquaredReLU = &Function{"relu2",
		func(x float32) float32 { x = max(x, 0); return x * x },
		func(x, _ float32) float32 { return 2 * max(x, 0) }}
)

// Functions returns them all.
func Functions() []*Function { return []*Function{Tanh, Sigmoid, SiLU, SquaredReLU} }

func sigmoid(x float32) float32 { return 1 / (1 + math32.Exp(-x)) }

// A Pointwise applies a function to each number of any shape.
type Pointwise struct {
	f        *Function
	pool     *kernels.Pool
	x, y, gx []float32 // x is the caller's
}

// Pointwise returns a layer that applies f.
func (b *Builder) Pointwise(f *Function) *Pointwise { return &Pointwise{f: f, pool: b.Pool} }

// Params returns none.
func (l *Pointwise) Params() []*Param { return nil }

// Forward returns f(x).
func (l *Pointwise) Forward(x []float32) []float32 {
	l.x = x
	l.y = aligned.Grow(l.y, len(x), nil)
	eachSpan(l.pool, len(x), func(from, to int) {
		for i, v := range x[from:to] {
			l.y[from+i] = l.f.Value(v)
		}
	})
	return l.y
}

// Backward returns grad · f'(x).
func (l *Pointwise) Backward(grad []float32) []float32 {
	sameLength(grad, l.y)
	l.gx = aligned.Grow(l.gx, len(grad), nil)
	eachSpan(l.pool, len(grad), func(from, to int) {
		for i, g := range grad[from:to] {
			l.gx[from+i] = g * l.f.Slope(l.x[from+i], l.y[from+i])
		}
	})
	return l.gx
}
