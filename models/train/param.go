package train

import (
	"math"

	"onebit/kernels"
)

// A Param is a tensor that training changes.
type Param struct {
	Name  string
	Shape []int // outermost first: [out, in] for a matrix
	W     []float32
	Grad  []float32 // ∂loss/∂W; Backward adds to it
	Decay bool      // whether weight decay shrinks it: matrices, not biases and gains
}

// NewParam returns a parameter of zeros. Weight decay shrinks it if it has more than one
// dimension.
func NewParam(name string, shape ...int) *Param {
	n := 1
	for _, side := range shape {
		n *= side
	}
	return &Param{Name: name, Shape: shape, W: make([]float32, n), Grad: make([]float32, n), Decay: len(shape) > 1}
}

// fill sets all weights to one value.
func (p *Param) fill(value float32) *Param {
	for i := range p.W {
		p.W[i] = value
	}
	return p
}

// ZeroGrad clears the gradients: before the first backward pass of a step.
func ZeroGrad(params []*Param) {
	for _, p := range params {
		clear(p.Grad)
	}
}

// GradNorm is √Σ g² over all gradients. It is NaN or infinite if and only if one
// of them is not finite.
func GradNorm(pool *kernels.Pool, params []*Param) float64 {
	var sum float64
	for _, p := range params {
		sum += sumOver(pool, p.Grad, squares)
	}
	return math.Sqrt(sum)
}

// ClipNorm scales the gradients by limit/norm if their norm is larger than limit.
func ClipNorm(pool *kernels.Pool, params []*Param, norm, limit float64) {
	if norm <= limit {
		return
	}
	factor := float32(limit / norm)
	for _, p := range params {
		eachSpan(pool, len(p.Grad), func(from, to int) {
			host().Scale(p.Grad[from:to], factor, p.Grad[from:to])
		})
	}
}
