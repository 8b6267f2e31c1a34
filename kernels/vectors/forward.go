package vectors

import "onebit/internal/half"

// Rotate rotates the pairs (a, b) by angles (Su et al., arXiv 2104.09864).
func (v *Variant) Rotate(a, b, cos, sin []float32) {
	n, done := blocks(v.rotate != nil, len(cos), len(a), len(b), len(sin))
	if n > 0 {
		v.rotate(&a[0], &b[0], &cos[0], &sin[0], n)
	}
	for i := done; i < len(cos); i++ {
		a[i], b[i] = rotated(a[i], b[i], cos[i], sin[i])
	}
}

// RotateAdjacent is Rotate of the pairs (x[2i], x[2i+1]).
func (v *Variant) RotateAdjacent(x, cos, sin []float32) {
	n, done := blocks(v.rotateAdjacent != nil, len(cos), len(sin), len(x)/2)
	if n > 0 {
		v.rotateAdjacent(&x[0], &cos[0], &sin[0], n)
	}
	for i := done; i < len(cos); i++ {
		x[2*i], x[2*i+1] = rotated(x[2*i], x[2*i+1], cos[i], sin[i])
	}
}

func rotated(a, b, cos, sin float32) (float32, float32) {
	return float32(a*cos) - float32(b*sin), float32(a*sin) + float32(b*cos)
}

// EncodeF16 is half.Encode: dst has two bytes a number, or more.
func (v *Variant) EncodeF16(dst []byte, src []float32) {
	dst = dst[:2*len(src)]
	n, done := blocks(v.encodeF16 != nil, len(src))
	if n > 0 {
		v.encodeF16(&dst[0], &src[0], n)
	}
	half.Encode(dst[2*done:], src[done:])
}

// DecodeF16 is half.Decode: src has two bytes a number, or more.
func (v *Variant) DecodeF16(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	n, done := blocks(v.decodeF16 != nil, len(dst))
	if n > 0 {
		v.decodeF16(&dst[0], &src[0], n)
	}
	half.Decode(dst[done:], src[2*done:])
}

// Hadamard is the transform of x in place, whose length is a power of two, times a factor: sums and
// differences of numbers 1, 2, 4 … apart.
func (v *Variant) Hadamard(x []float32, by float32) {
	if v.hadamard != nil && len(x) >= 8 {
		v.hadamard(&x[0], len(x), by)
		return
	}
	for apart := 1; apart < len(x); apart *= 2 {
		butterflies(x, apart)
	}
	v.Scale(x, by, x)
}

// butterflies is the step for numbers so far apart.
func butterflies(x []float32, apart int) {
	for ; len(x) > 0; x = x[2*apart:] {
		a, b := x[:apart], x[apart:2*apart]
		for i, u := range a {
			v := b[i]
			a[i], b[i] = u+v, u-v
		}
	}
}
