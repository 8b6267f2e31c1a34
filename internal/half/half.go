// Package half converts the 16-bit floating-point formats of model files:
// IEEE 754 binary16 (fp16) and bfloat16. It is for hot loops; the conversions
// are exact to the bit, rounding to nearest even.
package half

import "math"

// ToFloat32 widens an fp16. Infinities, NaNs (their payload too), subnormals
// and the sign of zero survive.
func ToFloat32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	b := uint32(h&0x7fff) << 13
	if h&0x7c00 == 0x7c00 {
		return math.Float32frombits(sign | b | 0x7f800000)
	}
	// As a float32, b has the fp16's exponent without the difference of the
	// two biases. The product is exact, a subnormal's too.
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(b)*(1<<(127-15))))
}

// FromFloat32 rounds to the nearest fp16, ties to even. What exceeds the
// largest fp16 after rounding becomes infinite; a NaN stays a (quiet) NaN.
func FromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00 | uint16(b>>13&0x3ff)
	case b >= 0x477ff000: // 65520: halfway between 65504 and the next step
		return sign | 0x7c00
	case b < 0x38800000: // below 2⁻¹⁴: subnormal
		// Adding 0.5 puts one ulp of the sum at 2⁻²⁴, so the addition itself
		// rounds, to nearest even.
		f := math.Float32frombits(b) + 0.5
		return sign | uint16(math.Float32bits(f)-math.Float32bits(0.5))
	}
	b += 0xfff + b>>13&1 // round the 13 bits that go
	return sign | uint16((b-(127-15)<<23)>>13)
}

// BToFloat32 widens a bfloat16.
func BToFloat32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// BFromFloat32 rounds to the nearest bfloat16, ties to even; a NaN stays one.
func BFromFloat32(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// IsFinite reports whether an fp16 is neither infinite nor a NaN.
func IsFinite(h uint16) bool { return h&0x7c00 != 0x7c00 }
