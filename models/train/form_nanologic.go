package train

import (
	"onebit/formats"
	"onebit/kernels"
)

// NanoLogic is NanoLogic's BitLinear (mohamedhossammohamed/NanoLogic,
// src/model/bitnet.py): w = W - mean(W), γ = mean|w|, digits
// clamp(round(w/(γ + 1e-5)), -1, +1), weights γ · digit. The mean comes from BitNet
// (arXiv 2310.11453); that 1e-5 is added, and that γ itself multiplies, is its own.
var NanoLogic = registerForm(&Form{
	Name:     "nanologic",
	Summary:  "ternary, centred, one scale per tensor (NanoLogic)",
	Type:     formats.I2_S,
	Rounding: NanoLogicRows,
	addEps:   true,
	scale: func(pool *kernels.Pool, w []float32) (gamma, mean float32) {
		n := float64(len(w))
		mean = float32(sumOver(pool, w, host().Sum) / n)
		sum := sumOver(pool, w, func(part []float32) float64 { return host().SumAbs(part, mean) })
		return float32(sum / n), mean
	},
})
