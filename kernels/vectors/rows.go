package vectors

import "math"

// Softmax sets dst to that of a row x: exp(x - max x) divided by its sum.
func (v *Variant) Softmax(dst, x []float32) {
	sum := v.ExpSum(dst, x, v.Max(x), 1)
	v.Scale(dst, float32(1/sum), dst)
}

// SoftmaxGradient sets dst to the gradient for what a softmax took, p·(grad - Σ p·grad), where p
// is what it gave.
func (v *Variant) SoftmaxGradient(dst, grad, p []float32) {
	v.MulShifted(dst, p, grad, float32(v.Dot(p, grad)))
}

// RMSNorm sets unit to a row x divided by √(mean x² + eps), y to unit·gain, and returns what
// x was multiplied by (arXiv 1910.07467).
func (v *Variant) RMSNorm(y, unit, x, gain []float32, eps float64) (inverse float32) {
	inverse = float32(1 / math.Sqrt(v.Dot(x, x)/float64(len(x))+eps))
	v.Scale(unit, inverse, x)
	v.Mul(y, unit, gain)
	return inverse
}

// RMSNormGradient sets dst to the gradient for x: with h = grad·gain it is
// inverse·(h - unit·mean(h·unit)). What gain gets is grad·unit: see MulAdd. Here dst must not be
// one of the arguments.
func (v *Variant) RMSNormGradient(dst, grad, unit, gain []float32, inverse float32) {
	v.Mul(dst, grad, gain)
	along := v.Dot(dst, unit) / float64(len(dst))
	v.Combine(dst, inverse, dst, float32(-along*float64(inverse)), unit)
}

// AdamW is what a step of that optimizer has for all weights (arXiv 1412.6980, 1711.05101).
type AdamW struct {
	Beta1, Beta2     float32
	Unbias1, Unbias2 float32 // 1/(1 - β^step)
	Rate, Decay, Eps float32
}

// AdamW makes a step of weights w, whose two moments are first and second:
//
//	first  = β1·first + (1-β1)·grad
//	second = β2·second + (1-β2)·grad·grad
//	w     -= rate·(first·unbias1/(√(second·unbias2) + eps) + decay·w)
func (v *Variant) AdamW(w, grad, first, second []float32, s *AdamW) {
	n, done := blocks(v.adamW != nil, len(w), len(grad), len(first), len(second))
	if n > 0 {
		v.adamW(&w[0], &grad[0], &first[0], &second[0], s.constants(), n)
	}
	for i := done; i < len(w); i++ {
		g := grad[i]
		first[i] = float32(s.Beta1*first[i]) + float32((1-s.Beta1)*g)
		second[i] = float32(s.Beta2*second[i]) + float32(float32((1-s.Beta2)*g)*g)
		root := float32(math.Sqrt(float64(float32(second[i] * s.Unbias2))))
		step := float32(first[i]*s.Unbias1)/(root+s.Eps) + float32(s.Decay*w[i])
		w[i] -= float32(s.Rate * step)
	}
}

// constants returns what assembly wants in its order.
func (s *AdamW) constants() [9]float32 {
	return [9]float32{s.Beta1, 1 - s.Beta1, s.Beta2, 1 - s.Beta2, s.Unbias1, s.Unbias2, s.Rate, s.Decay, s.Eps}
}
