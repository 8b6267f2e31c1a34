package quantize

import "math"

// SpanLen is the columns of a Span.
const SpanLen = 128

// A Span is the scales of q8_32 of 128 columns as integers times a power of two,
// for weights whose own scale is that of more than 32 columns. As the sums of the
// four groups are multiplied with integers, what they add up to is one, and
// becomes a float once.
//
// The largest scale of a span has 15 bits. A scale of fp16 has 11, so those down to
// a sixteenth of it are what they are; smaller ones are rounded to the nearest, by
// 2⁻¹⁵ of the largest at most.
type Span struct {
	Shares   [4]int32 // at most 32752: scale ≈ Unit·share
	Unit     float32  // a power of two, 0 or NaN
	Total    int32    // Σ share
	MinusSum int32    // −Σ share·Σq
	HalfSum  int32    // the same of the first two groups
}

// SpansOf returns those of n columns from column c on.
func (a *Quantized) SpansOf(c, n int) []Span {
	size := a.Stride / SpanLen
	return a.Spans[c*size : (c+n)*size]
}

// span fills the spans of column c, which q8_32 alone has.
func (a *Quantized) span(c int) {
	if a.Scheme != Q8Per32 {
		return
	}
	_, scales, sums := a.column(c)
	spans := a.SpansOf(c, 1)
	for i := range spans {
		var four [4]float32
		copy(four[:], scales[min(4*i, len(scales)):])
		spans[i] = spanOf(&four, (*[4]int32)(sums[4*i:]))
	}
}

// spanOf returns that of four groups, by their scales and sums. The unit has the
// exponent of the largest scale, less 14.
func spanOf(scales *[4]float32, sums *[4]int32) (s Span) {
	const one, finite = 1 << 23, 0xff << 23 // in the exponent of a float32
	most := maxAbsBits(scales[:])
	if most >= finite {
		s.Unit = float32(math.NaN())
		return s
	}
	if most == 0 {
		return s
	}
	exponent := most&finite - 14*one
	s.Unit = math.Float32frombits(exponent)
	mul := math.Float32frombits(254*one - exponent)
	for i, scale := range scales {
		share := int32(math.Float32bits(float32(scale*mul)+roundMagic) - math.Float32bits(roundMagic))
		s.Shares[i] = share
		s.Total += share
		s.MinusSum -= share * sums[i]
		if i == 1 {
			s.HalfSum = s.MinusSum
		}
	}
	return s
}
