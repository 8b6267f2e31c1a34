package cpu

import (
	"math"

	"onebit/models/engine"
)

// angles writes the cosines and sines at a position, one per pair.
func angles(r engine.Rope, cos, sin []float32, position int) {
	for i, f := range r.Freq {
		s, c := math.Sincos(float64(position) * f)
		cos[i], sin[i] = float32(c*r.Magnitude), float32(s*r.Magnitude)
	}
}

// rotate turns len(cos) pairs at the start of every head of x, in place.
func (v *Vectors) rotate(x, cos, sin []float32, r *engine.Rope) {
	half, head := len(cos), r.HeadDim()
	for ; len(x) >= head; x = x[head:] {
		if r.Adjacent {
			v.RotateAdjacent(x[:2*half], cos, sin)
		} else {
			v.Rotate(x[:half], x[half:2*half], cos, sin)
		}
	}
}
