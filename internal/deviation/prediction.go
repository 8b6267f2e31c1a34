package deviation

import (
	"math"
	"slices"
)

// A Prediction is a distribution by its logits: ln p[i] = Z[i] − Norm.
type Prediction struct {
	Z    []float32
	Norm float64
	// Floor is the ln p at which, or below, there is no share in a divergence.
	Floor float64
}

// Predict normalizes logits: Norm is ln Σ exp z. What is not finite among them shows in it.
func Predict(z []float32) Prediction {
	most, sum := float64(slices.Max(z)), 0.0
	for _, x := range z {
		sum += math.Exp(float64(x) - most)
	}
	return Prediction{z, most + math.Log(sum), math.Inf(-1)}
}

// NLL returns −ln p[i], in nats.
func (p Prediction) NLL(i int) float64 { return p.Norm - float64(p.Z[i]) }

// Divergence returns that of q from p (Kullback and Leibler), Σ p·ln(p/q), in nats.
// Rounding may leave it a little below 0.
func (p Prediction) Divergence(q Prediction) float64 {
	var sum float64
	for i, x := range p.Z {
		if lnP := float64(x) - p.Norm; lnP > p.Floor {
			sum += math.Exp(lnP) * (lnP - (float64(q.Z[i]) - q.Norm))
		}
	}
	return sum
}
