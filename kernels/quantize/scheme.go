package quantize

import (
	"math"

	"onebit/internal/half"
)

// A Scheme is how the activation vector reaches a kernel: as it is, or with how many columns a scale
// and which.
type Scheme string

const (
	// F32 leaves the activations as they are.
	F32 Scheme = "f32"
	// Q8Row is BitNet's: one scale per row (token), q = rne(x·127/m) with
	// m = max(max|x|, 1e-5), stored with the scale m/127. Source:
	// quantize_row_i8_s in bitnet.cpp; huggingface/transformers
	// integrations/bitnet.py.
	Q8Row Scheme = "q8_row"
	// Q8Per128 has one float32 scale max|x|/127 per 128 columns, aligned with
	// Q1_0_g128's weight blocks.
	Q8Per128 Scheme = "q8_128"
	// Q8Per32 has one scale per 32 columns, rounded to fp16, as ggml's q8_0:
	// for parity with llama.cpp, and with its limit. From max|x| = 8321040
	// (127 × 65520) on, a group's scale is infinite, and so is, or NaN, every
	// product of the column. At 127 × 2⁻²⁵ and below it is 0, and so is what
	// the group adds. The other schemes have float32 scales, and finite products of
	// any activations up to where float32 ends. How products add up is another for
	// weights of small codes: see Span.
	Q8Per32 Scheme = "q8_32"
)

// GroupLen is the number of columns that share a scale, for rows of cols.
func (s Scheme) GroupLen(cols int) int {
	switch s {
	case Q8Per128:
		return 128
	case Q8Per32:
		return 32
	}
	return cols
}

// maxAbsBits returns the largest |x| as its bits. Compared as integers, a NaN
// is larger than infinity and infinity than any number, so neither is lost.
func maxAbsBits(x []float32) uint32 {
	var m uint32
	for _, v := range x {
		m = max(m, math.Float32bits(v)&0x7fffffff)
	}
	return m
}

// scales returns the factor that takes x to q, and the scale that takes q
// back to x. If a group holds an infinity or a NaN, its q are 0 and its scale
// is NaN: the product is then NaN, not silently wrong.
func (s Scheme) scales(maxBits uint32) (mul, scale float32) {
	if maxBits >= 0x7f800000 {
		return 0, float32(math.NaN())
	}
	m := math.Float32frombits(maxBits)
	switch s {
	case Q8Row:
		m = max(m, 1e-5)
		return 127 / m, m / 127
	case Q8Per32:
		scale = m / 127
		if scale < 0x1p-126 { // 1/scale would overflow
			return 0, 0
		}
		return 1 / scale, half.ToFloat32(half.FromFloat32(scale))
	}
	scale = m / 127
	if scale < 0x1p-126 {
		return 0, 0
	}
	return 1 / scale, scale
}

// roundToInt8 is round-half-even(x·mul), clamped to ±127. A NaN or an
// infinity comes with mul 0 and gives 0.
func roundToInt8(x, mul float32) int8 {
	y := float32(x * mul)
	if !(y >= -127) { // NaN too
		if y < 0 {
			return -127
		}
		return 0
	}
	if y > 127 {
		return 127
	}
	return int8(int32(math.Float32bits(y+roundMagic)<<10) >> 10)
}

// roundMagic, 1.5·2²³, added leaves an integer in the low bits: the nearest, ties to
// even.
const roundMagic = 0x1.8p23
