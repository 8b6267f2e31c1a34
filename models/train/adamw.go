package train

import (
	"math"

	"onebit/kernels/vectors"
)

// AdamW is Adam with weight decay apart from the gradient (arXiv 1412.6980 and
// 1711.05101).
type AdamW struct{ Beta1, Beta2, Eps float32 }

func init() { registerRule("adamw", func() Rule { return AdamW{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8} }) }

// Slots names the two moments.
func (r AdamW) Slots() []string { return []string{"first", "second"} }

// Update is Rule's.
func (r AdamW) Update(w, grad []float32, slots [][]float32, step int, rate, decay float32) {
	unbias1 := float32(1 / (1 - math.Pow(float64(r.Beta1), float64(step))))
	unbias2 := float32(1 / (1 - math.Pow(float64(r.Beta2), float64(step))))
	host().AdamW(w, grad, slots[0], slots[1], &vectors.AdamW{
		Beta1: r.Beta1, Beta2: r.Beta2, Unbias1: unbias1, Unbias2: unbias2, Rate: rate, Decay: decay, Eps: r.Eps,
	})
}
