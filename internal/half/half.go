// Package half is the one codec of the 16-bit floating-point formats of model
// files: IEEE 754 binary16 (fp16) and bfloat16. The conversions are exact to the
// bit, rounding to nearest even.
//
// github.com/x448/float16, against which tests compare fp16 for every number,
// takes twice as long to widen one and a sixth longer to round one (AMD EPYC, in a
// loop over a slice), changes the payload of a NaN, and has no bfloat16. Loading
// and the generic kernels wait for these loops, so that single values go through
// this package too: two codecs would be one too many.
package half

import (
	"encoding/binary"
	"math"
)

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

// Decode widens the little-endian fp16 numbers of src, one for each of dst.
func Decode(dst []float32, src []byte) {
	for ; len(dst) >= 4; dst, src = dst[4:], src[8:] {
		b := binary.LittleEndian.Uint64(src)
		dst[0], dst[1] = ToFloat32(uint16(b)), ToFloat32(uint16(b>>16))
		dst[2], dst[3] = ToFloat32(uint16(b>>32)), ToFloat32(uint16(b>>48))
	}
	for i := range dst {
		dst[i] = At(src[2*i:])
	}
}

// Encode rounds src to little-endian fp16 numbers.
func Encode(dst []byte, src []float32) {
	for i, x := range src {
		Put(dst[2*i:], x)
	}
}

// At widens the little-endian fp16 at the beginning of src.
func At(src []byte) float32 { return ToFloat32(binary.LittleEndian.Uint16(src)) }

// Put is FromFloat32 to the beginning of dst, little-endian.
func Put(dst []byte, x float32) { binary.LittleEndian.PutUint16(dst, FromFloat32(x)) }
