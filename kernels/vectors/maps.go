package vectors

import (
	"math"

	"onebit/internal/math32"
)

// Add sets dst += x.
func (v *Variant) Add(dst, x []float32) {
	n, done := blocks(v.add != nil, len(dst), len(x))
	if n > 0 {
		v.add(&dst[0], &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] += x[i]
	}
}

// Axpy sets dst += a·x.
func (v *Variant) Axpy(dst []float32, a float32, x []float32) {
	n, done := blocks(v.axpy != nil, len(dst), len(x))
	if n > 0 {
		v.axpy(&dst[0], a, &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] += float32(a * x[i])
	}
}

// Scale sets dst = a·x.
func (v *Variant) Scale(dst []float32, a float32, x []float32) {
	n, done := blocks(v.scale != nil, len(dst), len(x))
	if n > 0 {
		v.scale(&dst[0], a, &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = a * x[i]
	}
}

// Mul sets dst = x·y, number by number.
func (v *Variant) Mul(dst, x, y []float32) {
	n, done := blocks(v.mul != nil, len(dst), len(x), len(y))
	if n > 0 {
		v.mul(&dst[0], &x[0], &y[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = x[i] * y[i]
	}
}

// MulAdd sets dst += x·y, number by number.
func (v *Variant) MulAdd(dst, x, y []float32) {
	n, done := blocks(v.mulAdd != nil, len(dst), len(x), len(y))
	if n > 0 {
		v.mulAdd(&dst[0], &x[0], &y[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] += float32(x[i] * y[i])
	}
}

// MulShifted sets dst = x·(y - shift).
func (v *Variant) MulShifted(dst, x, y []float32, shift float32) {
	n, done := blocks(v.mulShifted != nil, len(dst), len(x), len(y))
	if n > 0 {
		v.mulShifted(&dst[0], &x[0], &y[0], shift, n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = x[i] * (y[i] - shift)
	}
}

// Combine sets dst = a·x + b·y.
func (v *Variant) Combine(dst []float32, a float32, x []float32, b float32, y []float32) {
	n, done := blocks(v.combine != nil, len(dst), len(x), len(y))
	if n > 0 {
		v.combine(&dst[0], a, &x[0], b, &y[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = float32(a*x[i]) + float32(b*y[i])
	}
}

// SiLU sets dst = x/(1 + exp(-x)).
func (v *Variant) SiLU(dst, x []float32) {
	n, done := blocks(v.silu != nil, len(dst), len(x))
	if n > 0 {
		v.silu(&dst[0], &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = x[i] / (1 + math32.Exp(-x[i]))
	}
}

// Sigmoid sets dst = 1/(1 + exp(-x)).
func (v *Variant) Sigmoid(dst, x []float32) {
	n, done := blocks(v.sigmoid != nil, len(dst), len(x))
	if n > 0 {
		v.sigmoid(&dst[0], &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = math32.Sigmoid(x[i])
	}
}

// SiLUGradient sets dst = grad · s·(1 + x·(1-s)), with s = sigmoid(x).
func (v *Variant) SiLUGradient(dst, grad, x []float32) {
	n, done := blocks(v.siluGrad != nil, len(dst), len(grad), len(x))
	if n > 0 {
		v.siluGrad(&dst[0], &grad[0], &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		s := math32.Sigmoid(x[i])
		dst[i] = grad[i] * float32(s*(1+float32(x[i]*(1-s))))
	}
}

// SquaredReLU sets dst = max(x, 0)².
func (v *Variant) SquaredReLU(dst, x []float32) {
	n, done := blocks(v.squaredReLU != nil, len(dst), len(x))
	if n > 0 {
		v.squaredReLU(&dst[0], &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		r := relu(x[i])
		dst[i] = r * r
	}
}

// SquaredReLUGradient sets dst = grad · 2·max(x, 0).
func (v *Variant) SquaredReLUGradient(dst, grad, x []float32) {
	n, done := blocks(v.squaredGrad != nil, len(dst), len(grad), len(x))
	if n > 0 {
		v.squaredGrad(&dst[0], &grad[0], &x[0], n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = grad[i] * (2 * relu(x[i]))
	}
}

// relu is max(x, 0); NaN stays NaN.
func relu(x float32) float32 {
	if x < 0 {
		return 0
	}
	return x
}

// Ternarize sets dst = scale · clamp(round((x - center)/divisor), -1, +1), halves to even: 0 where
// |x - center| ≤ divisor/2. NaN is not 0, and scale must not be negative.
func (v *Variant) Ternarize(dst, x []float32, center, divisor, scale float32) {
	n, done := blocks(v.ternarize != nil, len(dst), len(x))
	half := divisor / 2
	if n > 0 {
		v.ternarize(&dst[0], &x[0], center, half, scale, n)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = ternary(x[i]-center, half, scale)
	}
}

// ternary returns scale with x's sign if |x| > half, else 0. Bits of floats that are not negative
// compare like integers, and no processor predicts weights.
func ternary(x, half, scale float32) float32 {
	bits := math.Float32bits(x)
	beyond := (int32(math.Float32bits(half)) - int32(bits&math.MaxInt32)) >> 31
	return math.Float32frombits(uint32(beyond) & (math.Float32bits(scale) | bits&^math.MaxInt32))
}
