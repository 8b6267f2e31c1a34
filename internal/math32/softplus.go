package math32

// Softplus is ln(1+eˣ), within 3 units in the last place of the larger of it
// and 1: max(x, 0) + ln(1+u) with u = exp(-|x|), and ln(1+u) = 2·artanh(u/(2+u))
// by its series, whose first term left out is below 2/15·3⁻¹⁵ < 1e-8.
func Softplus(x float32) float32 {
	if x != x {
		return x
	}
	u := Exp(-max(x, -x))
	s := u / (2 + u)
	z := float32(s * s)
	p := float32(1.0/13*z) + 1.0/11
	p = float32(p*z) + 1.0/9
	p = float32(p*z) + 1.0/7
	p = float32(p*z) + 1.0/5
	p = float32(p*z) + 1.0/3
	p = float32(p*z) + 1
	return max(x, 0) + float32(2*s)*p
}

// Sigmoid is 1/(1+e⁻ˣ).
func Sigmoid(x float32) float32 { return 1 / (1 + Exp(-x)) }
