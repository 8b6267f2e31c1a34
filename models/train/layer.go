package train

// A Layer maps rows to rows.
type Layer interface {
	// Params returns the parameters, in an order that doesn't change.
	Params() []*Param
	// Forward returns the layer's result for x. Both must stay as they are until
	// Backward; the result is the layer's, until the next Forward.
	Forward(x []float32) []float32
	// Backward takes ∂loss/∂result of the last Forward, adds ∂loss/∂parameter to
	// the parameters' gradients and returns ∂loss/∂x, which is the layer's until
	// the next Backward.
	Backward(grad []float32) []float32
}

// A Sequence is layers one after another.
type Sequence []Layer

// Params returns those of all layers.
func (s Sequence) Params() []*Param {
	var all []*Param
	for _, l := range s {
		all = append(all, l.Params()...)
	}
	return all
}

// Forward runs the layers from the first to the last.
func (s Sequence) Forward(x []float32) []float32 {
	for _, l := range s {
		x = l.Forward(x)
	}
	return x
}

// Backward runs them from the last to the first.
func (s Sequence) Backward(grad []float32) []float32 {
	for i := len(s) - 1; i >= 0; i-- {
		grad = s[i].Backward(grad)
	}
	return grad
}
