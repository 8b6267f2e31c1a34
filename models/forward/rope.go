package forward

import (
	"math"

	"onebit/models/arch"
	"onebit/models/engine"
)

// NewRope returns the rotary position embedding (Su et al., arXiv:2104.09864)
// of a model's heads, or of their first values, with YaRN's attention temperature as its magnitude.
func NewRope(c arch.Config, adjacent bool) engine.Rope {
	dim := c.RotaryDim()
	r := engine.Rope{Freq: make([]float64, dim/2), Magnitude: 1, Head: c.HeadDim, Adjacent: adjacent}
	base := float64(c.RopeBase)
	for i := range r.Freq {
		r.Freq[i] = math.Pow(base, -2*float64(i)/float64(dim))
	}
	switch s := c.RopeScaling; s.Type {
	case "linear":
		for i := range r.Freq {
			r.Freq[i] /= float64(s.Factor)
		}
	case "yarn":
		original := s.OriginalContext
		if original == 0 {
			original = c.Context
		}
		yarn(&r, float64(s.Factor), base, float64(original), dim)
	}
	return r
}

// yarn blends interpolated and kept frequencies. The paper's ramp is linear
// in the number of turns; its published code, transformers and llama.cpp make
// it linear in the pair's index, between bounds rounded outwards, and that is
// what models were trained with (jquesnelle/yarn, scaled_rope).
func yarn(r *engine.Rope, factor, base, original float64, dim int) {
	// index of the pair that turns so many times within the original context
	index := func(turns float64) float64 {
		return float64(dim) * math.Log(original/(turns*2*math.Pi)) / (2 * math.Log(base))
	}
	low := max(math.Floor(index(arch.YaRNFast)), 0)
	high := min(math.Ceil(index(arch.YaRNSlow)), float64(dim-1))
	for i, f := range r.Freq {
		ramp := (float64(i) - low) / max(high-low, 0.001)
		interpolated := min(max(ramp, 0), 1)
		r.Freq[i] = f*(1-interpolated) + f/factor*interpolated
	}
	if factor > 1 {
		r.Magnitude = 0.1*math.Log(factor) + 1
	}
}
