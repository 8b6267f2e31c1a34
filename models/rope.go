package models

import (
	"math"

	"onebit/models/arch"
)

// A rope is the rotary position embedding (Su et al., arXiv:2104.09864):
// at position p, pair i of a head is turned by the angle p·freq[i]. Pair i is
// (x[i], x[i+d/2]), as in GPT-NeoX and in all models here.
type rope struct {
	freq []float64 // d/2 angular frequencies
	// magnitude multiplies the turned pairs: YaRN's attention temperature.
	magnitude float64
}

func newRope(c arch.Config) *rope {
	r := &rope{freq: make([]float64, c.HeadDim/2), magnitude: 1}
	base := float64(c.RopeBase)
	for i := range r.freq {
		r.freq[i] = math.Pow(base, -2*float64(i)/float64(c.HeadDim))
	}
	switch s := c.RopeScaling; s.Type {
	case "linear":
		for i := range r.freq {
			r.freq[i] /= float64(s.Factor)
		}
	case "yarn":
		original := s.OriginalContext
		if original == 0 {
			original = c.Context
		}
		r.yarn(float64(s.Factor), base, float64(original), c.HeadDim)
	}
	return r
}

// yarn blends interpolated and kept frequencies. The paper's ramp is linear
// in the number of turns; its published code, transformers and llama.cpp make
// it linear in the pair's index, between bounds rounded outwards, and that is
// what models were trained with (jquesnelle/yarn, scaled_rope).
func (r *rope) yarn(factor, base, original float64, dim int) {
	// index of the pair that turns so many times within the original context
	index := func(turns float64) float64 {
		return float64(dim) * math.Log(original/(turns*2*math.Pi)) / (2 * math.Log(base))
	}
	low := max(math.Floor(index(arch.YaRNFast)), 0)
	high := min(math.Ceil(index(arch.YaRNSlow)), float64(dim-1))
	for i, f := range r.freq {
		ramp := (float64(i) - low) / max(high-low, 0.001)
		interpolated := min(max(ramp, 0), 1)
		r.freq[i] = f*(1-interpolated) + f/factor*interpolated
	}
	if factor > 1 {
		r.magnitude = 0.1*math.Log(factor) + 1
	}
}

// angles writes the cosines and sines at a position, one per pair.
func (r *rope) angles(cos, sin []float32, position int) {
	for i, f := range r.freq {
		s, c := math.Sincos(float64(position) * f)
		cos[i], sin[i] = float32(c*r.magnitude), float32(s*r.magnitude)
	}
}

// rotate turns every head of x, len(cos) pairs each, in place.
func rotate(x, cos, sin []float32) {
	half := len(cos)
	for ; len(x) >= 2*half; x = x[2*half:] {
		turn(x[:half], x[half:2*half], cos, sin)
	}
}
