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

// rotate turns every head of x, len(cos) pairs each, in place.
func (v *Vectors) rotate(x, cos, sin []float32) {
	half := len(cos)
	for ; len(x) >= 2*half; x = x[2*half:] {
		v.turn(x[:half], x[half:2*half], cos, sin)
	}
}
