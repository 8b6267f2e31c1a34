package train

import (
	"onebit/formats"
	"onebit/kernels"
)

// SeedForm is the third seed's BitLinear: w = W - mean(W), γ = mean|w|, digits
// clamp(round(w/(γ + 1e-5)), -1, +1), weights γ · digit. The mean comes from BitNet
// (arXiv 2310.11453); that 1e-5 is added, and that γ itself multiplies, is the
// seed's own.
var SeedForm = registerForm(&Form{
	Name:     "seed",
	Summary:  "ternary, centred, one scale per tensor (the third seed)",
	Type:     formats.I2_S,
	Rounding: SeedRows,
	addEps:   true,
	scale: func(pool *kernels.Pool, w []float32) (gamma, mean float32) {
		n := float64(len(w))
		mean = float32(sumOver(pool, w, host().Sum) / n)
		sum := sumOver(pool, w, func(part []float32) float64 { return host().SumAbs(part, mean) })
		return float32(sum / n), mean
	},
})
