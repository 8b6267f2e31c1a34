package train

import (
	"math"

	"onebit/internal/aligned"
	"onebit/kernels"
)

// A Norm scales each row to a root mean square of 1, then by gains:
//
//	x̂ = (x - μ) / √(mean (x-μ)² + eps)     y = x̂·gain + bias
//
// LayerNorm (arXiv 1607.06450) has the row's mean for μ; RMSNorm (arXiv
// 1910.07467) has 0, and no biases.
type Norm struct {
	Width int
	Eps   float64
	Gain  *Param // [width], 1 at first
	Bias  *Param // [width], 0 at first; nil in an RMSNorm

	pool      *kernels.Pool
	unit, y   []float32 // unit is x̂
	gx        []float32
	inverse   []float32 // a row's 1/√…
	withMeans bool
}

// LayerNorm returns a norm that takes the mean from each row.
func (b *Builder) LayerNorm(name string, width int, eps float64) *Norm {
	n := b.RMSNorm(name, width, eps)
	n.Bias = NewParam(name+".bias", width)
	n.withMeans = true
	return n
}

// RMSNorm returns a norm of rows as they are.
func (b *Builder) RMSNorm(name string, width int, eps float64) *Norm {
	if width < 1 {
		panic("train: a norm of nothing")
	}
	return &Norm{Width: width, Eps: eps, Gain: NewParam(name+".weight", width).fill(1), pool: b.Pool}
}

// Tied returns a norm with the same parameters: to apply them once more before
// Backward.
func (n *Norm) Tied() *Norm {
	return &Norm{Width: n.Width, Eps: n.Eps, Gain: n.Gain, Bias: n.Bias, pool: n.pool, withMeans: n.withMeans}
}

// Params returns the gains, and the biases of a LayerNorm.
func (n *Norm) Params() []*Param {
	if n.Bias == nil {
		return []*Param{n.Gain}
	}
	return []*Param{n.Gain, n.Bias}
}

// Forward returns the normed rows.
func (n *Norm) Forward(x []float32) []float32 {
	rows := rowsOf(x, n.Width)
	n.unit = aligned.Grow(n.unit, len(x), nil)
	n.y = aligned.Grow(n.y, len(x), nil)
	n.inverse = aligned.Grow(n.inverse, rows, nil)
	eachRows(n.pool, rows, n.Width, func(from, to int) {
		for r := from; r < to; r++ {
			n.forwardRow(x[r*n.Width:(r+1)*n.Width], r)
		}
	})
	return n.y
}

func (n *Norm) forwardRow(x []float32, r int) {
	if !n.withMeans {
		unit, y := n.unit[r*n.Width:(r+1)*n.Width], n.y[r*n.Width:(r+1)*n.Width]
		n.inverse[r] = host().RMSNorm(y, unit, x, n.Gain.W, n.Eps)
		return
	}
	width := float64(n.Width)
	var mean, squares float64
	for _, v := range x {
		mean += float64(v)
	}
	mean /= width
	for _, v := range x {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	inverse := 1 / math.Sqrt(squares/width+n.Eps)
	n.inverse[r] = float32(inverse)
	unit, y := n.unit[r*n.Width:(r+1)*n.Width], n.y[r*n.Width:(r+1)*n.Width]
	for i, v := range x {
		unit[i] = float32((float64(v) - mean) * inverse)
		y[i] = unit[i] * n.Gain.W[i]
	}
	host().Add(y, n.Bias.W)
}

// Backward returns, with h = grad·gain,
//
//	(h - mean h - x̂·mean(h·x̂)) / √…
//
// without mean h in an RMSNorm.
func (n *Norm) Backward(grad []float32) []float32 {
	sameLength(grad, n.y)
	rows := rowsOf(grad, n.Width)
	n.gx = aligned.Grow(n.gx, len(grad), nil)
	eachRows(n.pool, rows, n.Width, func(from, to int) {
		for r := from; r < to; r++ {
			n.backwardRow(grad[r*n.Width:(r+1)*n.Width], r)
		}
	})
	eachColumns(n.pool, n.Width, func(from, to int) {
		for at := 0; at < len(grad); at += n.Width {
			host().MulAdd(n.Gain.Grad[from:to], grad[at+from:at+to], n.unit[at+from:at+to])
		}
	})
	if n.Bias != nil {
		addRows(n.pool, n.Bias.Grad, grad)
	}
	return n.gx
}

func (n *Norm) backwardRow(grad []float32, r int) {
	unit, gx := n.unit[r*n.Width:(r+1)*n.Width], n.gx[r*n.Width:(r+1)*n.Width]
	if !n.withMeans {
		host().RMSNormGradient(gx, grad, unit, n.Gain.W, n.inverse[r])
		return
	}
	var sum, along float64
	for i, g := range grad {
		h := float64(g) * float64(n.Gain.W[i])
		sum += h
		along += h * float64(unit[i])
	}
	mean, slope := sum/float64(n.Width), along/float64(n.Width)
	for i, g := range grad {
		h := float64(g) * float64(n.Gain.W[i])
		gx[i] = n.inverse[r] * float32(h-mean-float64(unit[i])*slope)
	}
}
