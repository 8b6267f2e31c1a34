package cpu

import (
	"sync"
	"sync/atomic"

	"onebit/formats"
	"onebit/kernels"
	"onebit/models/engine"
)

// A matrix is a weight of products, packed for a variant.
type matrix struct {
	name       string
	rows, cols int
	format     *formats.Type
	error      float64 // of a converted one

	tensor  formats.Tensor // the source of weights, zero if they were converted
	weights atomic.Pointer[weights]
	checked atomic.Bool // the weights were looked at
	pins    *pins       // see pin; nil: the weights stay
}

// weights are replaced as a whole when a matrix that was used in place has
// been packed. All variants of a format and scheme give the same bits, so it
// does not matter when.
type weights struct {
	variant *kernels.Variant
	matrix  *kernels.Matrix
}

// converted reports whether the source has nothing of the weights. They are good
// and packed.
func (m *matrix) converted() bool { return m.tensor.Type == nil }

// Variant returns what multiplies the matrix now.
func (m *matrix) Variant() *kernels.Variant { return m.weights.Load().variant }

func (m *matrix) Info() engine.WeightInfo {
	now := m.weights.Load()
	size, _ := now.matrix.Layout.Bytes(m.format, m.rows, m.cols) // good when it was packed
	return engine.WeightInfo{
		Tensor: m.name, Rows: m.rows, Cols: m.cols, Type: m.format,
		Bytes: size, Kernel: now.variant.String(), Error: m.error,
	}
}

// A table is a weight that rows are looked up in, in the file.
type table struct{ formats.Tensor }

func (t *table) Info() engine.WeightInfo {
	rows, cols := t.Dims()
	return engine.WeightInfo{Tensor: t.Name, Rows: rows, Cols: cols, Type: t.Type, Bytes: len(t.Data)}
}

// A gain is a vector in float32, or a small matrix.
type gain struct {
	name       string
	rows, cols int
	values     []float32
	columns    func() []float32 // its transpose
}

func newGain(name string, rows, cols int, values []float32) *gain {
	return &gain{name, rows, cols, values, sync.OnceValue(func() []float32 {
		out := make([]float32, len(values))
		for i, x := range values {
			out[i%cols*rows+i/cols] = x
		}
		return out
	})}
}

func (g *gain) Info() engine.WeightInfo {
	return engine.WeightInfo{Tensor: g.name, Rows: g.rows, Cols: g.cols, Type: formats.F32, Bytes: 4 * len(g.values)}
}
