package train

import "math"

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
	m, v := slots[0], slots[1]
	for i, g := range grad {
		m[i] = r.Beta1*m[i] + (1-r.Beta1)*g
		v[i] = r.Beta2*v[i] + (1-r.Beta2)*g*g
		root := float32(math.Sqrt(float64(v[i] * unbias2)))
		w[i] -= rate * (m[i]*unbias1/(root+r.Eps) + decay*w[i])
	}
}
