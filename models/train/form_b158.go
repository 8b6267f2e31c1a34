package train

import (
	"onebit/formats"
	"onebit/kernels"
)

// B158 is BitNet b1.58: γ = max(mean|W|, 1e-5), digits clamp(round(W/γ), -1, +1),
// halves to even. Source: arXiv 2402.17764, as in huggingface/transformers
// src/transformers/integrations/bitnet.py.
var B158 = registerForm(&Form{
	Name:     "b1.58",
	Summary:  "ternary, one scale per tensor (BitNet b1.58)",
	Type:     formats.I2_S,
	Rounding: Q8Row,
	scale: func(pool *kernels.Pool, w []float32) (gamma, mean float32) {
		return max(float32(sumOver(pool, w, magnitudes)/float64(len(w))), epsilon), 0
	},
})
