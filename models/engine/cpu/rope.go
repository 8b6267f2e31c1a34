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
			turnAdjacent(x[:2*half], cos, sin)
		} else {
			v.turn(x[:half], x[half:2*half], cos, sin)
		}
	}
}

// turnAdjacent is turnScalar of the pairs (x[2i], x[2i+1]).
func turnAdjacent(x, cos, sin []float32) {
	for i, c := range cos {
		u, v, s := x[2*i], x[2*i+1], sin[i]
		x[2*i] = float32(u*c) - float32(v*s)
		x[2*i+1] = float32(u*s) + float32(v*c)
	}
}
