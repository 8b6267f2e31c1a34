package train

import (
	"onebit/internal/aligned"
	"onebit/kernels"
)

// An Embedding is a row of weights for each symbol.
type Embedding struct {
	Symbols, Width int
	Weight         *Param // [symbols, width]

	pool *kernels.Pool
	ids  []int32
	y    []float32
}

// Embedding returns one with normal weights of the given deviation.
func (b *Builder) Embedding(name string, symbols, width int, deviation float64) *Embedding {
	if symbols < 1 || width < 1 {
		panic("train: an embedding of nothing")
	}
	return &Embedding{
		Symbols: symbols, Width: width, pool: b.Pool,
		Weight: b.normal(NewParam(name+".weight", symbols, width), deviation),
	}
}

// Params returns the weights.
func (e *Embedding) Params() []*Param { return []*Param{e.Weight} }

// Forward returns the rows of ids, each of which is below Symbols.
func (e *Embedding) Forward(ids []int32) []float32 {
	e.ids = ids
	e.y = aligned.Grow(e.y, len(ids)*e.Width, nil)
	for r, id := range ids {
		copy(e.y[r*e.Width:(r+1)*e.Width], e.Weight.W[int(id)*e.Width:])
	}
	return e.y
}

// Backward adds the gradients of the rows that Forward took.
func (e *Embedding) Backward(grad []float32) {
	sameLength(grad, e.y)
	eachColumns(e.pool, e.Width, func(from, to int) {
		for r, id := range e.ids {
			sum := e.Weight.Grad[int(id)*e.Width:]
			for i, g := range grad[r*e.Width+from : r*e.Width+to] {
				sum[from+i] += g
			}
		}
	})
}
