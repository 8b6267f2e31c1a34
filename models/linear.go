package models

import (
	"sync/atomic"

	"onebit/formats"
	"onebit/kernels"
)

// A Linear is a layer y = W·x, its weights packed for a variant.
type Linear struct {
	Name       string // of its tensor
	Rows, Cols int    // out and in features
	Type       *formats.Type

	tensor  formats.Tensor // the source of weights, zero if they were converted
	weights atomic.Pointer[weights]
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
func (l *Linear) converted() bool { return l.tensor.Type == nil }

// Variant returns what multiplies the layer now.
func (l *Linear) Variant() *kernels.Variant { return l.weights.Load().variant }

// Bytes returns the size of the weights as they are multiplied now.
func (l *Linear) Bytes() int { return len(l.weights.Load().matrix.Data) }
