package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/internal/aligned"
	"onebit/internal/half"
)

// A Scheme is how the activation vector reaches a kernel.
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

// Schemes lists the schemes.
func Schemes() []Scheme { return []Scheme{F32, Q8Row, Q8Per128, Q8Per32} }

// ParseScheme returns the scheme of that name.
func ParseScheme(name string) (Scheme, error) {
	if a := Scheme(name); slices.Contains(Schemes(), a) {
		return a, nil
	}
	return "", fmt.Errorf("unknown activation scheme %q (known: %s)", name, strings.Trim(fmt.Sprint(Schemes()), "[]"))
}

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

// strideOf is the length of a quantized row in memory. 256 is a multiple of
// every kernel's step, so kernels need no tails along the columns: what lies
// behind the last column is zero.
func strideOf(cols int) int { return (cols + 255) &^ 255 }

// An Order arranges quantized activations for a kernel. The zero-copy natural
// order is nil.
type Order struct {
	Name string
	// Panel is how many columns are arranged together: from a multiple of it on
	// they can be arranged apart from those before. 0: all together.
	Panel int
	// Columns is how many are quantized, arranged and multiplied at a time, by each
	// of a few threads for itself; 0: all, by all threads. It is for arrangements
	// that cost less to make than to fetch from another core.
	Columns int
	// Size is the bytes wanted for n columns of stride bytes each.
	Size func(n, stride int) int
	// Arrange fills dst (Size long) from q: n rows of stride, zero-padded.
	Arrange func(dst, q []int8, n, stride int)
}

// Activations is n quantized activation columns (tokens) of one submission.
// Its buffers are reused from one product to the next.
type Activations struct {
	Scheme Scheme
	N      int // columns: tokens
	Cols   int // length of each: the matrices' columns
	Stride int // Cols rounded up to a multiple of 256

	X      []float32 // N × Cols, the caller's
	Q      []int8    // N × Stride, zero behind Cols; nil under F32
	Scales []float32 // N × Groups: x ≈ q·scale
	Groups int       // scales per column
	// Sums is Σq of every 32 columns, N × Stride/32: Σ over any coarser group
	// follows by addition. Kernels on unsigned codes subtract it.
	Sums []int32
	// Spans are the scales of q8_32 once more, as integers: N × Stride/128.
	Spans []Span

	ordered []orderedQ
	scratch scratches // of the thread that multiplies with them

	// Alloc provides memory for the buffers, 64-byte aligned; nil is make.
	// The conformance suite puts guard pages around them with it.
	Alloc func(bytes int) []byte
}

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

type orderedQ struct {
	order *Order
	q     []int8
	valid bool
}

// together returns how many columns are arranged at a time, 0 if all are.
func (o *Order) together() int {
	if o == nil {
		return 0
	}
	return o.Columns
}

// In returns the quantized columns in order o.
func (a *Activations) In(o *Order) []int8 {
	if o == nil {
		return a.Q
	}
	for i := range a.ordered {
		if a.ordered[i].order == o {
			return a.ordered[i].q
		}
	}
	panic("kernels: activations were not prepared for this variant")
}

// Columns returns n columns from column c on, in an order in which each has as
// many bytes: those, the columns' scales, Groups each, and the sums of every 32.
func (a *Activations) Columns(o *Order, c, n int) (q []int8, scales []float32, sums []int32) {
	all := a.In(o)
	size, pieces := len(all)/a.N, a.Stride/32
	return all[c*size : (c+n)*size], a.Scales[c*a.Groups : (c+n)*a.Groups], a.Sums[c*pieces : (c+n)*pieces]
}

// SpansOf returns those of n columns from column c on.
func (a *Activations) SpansOf(c, n int) []Span {
	size := a.Stride / SpanLen
	return a.Spans[c*size : (c+n)*size]
}

// Scale returns that of group g of column c.
func (a *Activations) Scale(c, g int) float32 { return a.Scales[c*a.Groups+g] }

// reset sizes the buffers for n columns of cols.
func (a *Activations) reset(scheme Scheme, x []float32, n, cols int) {
	a.Scheme, a.X, a.N, a.Cols, a.Stride = scheme, x, n, cols, strideOf(cols)
	for i := range a.ordered {
		a.ordered[i].valid = false
	}
	if scheme == F32 {
		return
	}
	g := scheme.GroupLen(cols)
	a.Groups = (cols + g - 1) / g
	a.Q = aligned.Grow(a.Q, n*a.Stride, a.Alloc)
	a.Scales = aligned.Grow(a.Scales, n*a.Groups, a.Alloc)
	a.Sums = aligned.Grow(a.Sums, n*a.Stride/32, a.Alloc)
	if scheme == Q8Per32 {
		a.Spans = aligned.Grow(a.Spans, n*a.Stride/SpanLen, a.Alloc)
	}
}

// Quantize makes a the n columns x (n × cols), rounded as scheme says by the
// instructions of isa. Every instruction set gives the same bits.
func (a *Activations) Quantize(isa *ISA, scheme Scheme, x []float32, n, cols int) {
	a.reset(scheme, x, n, cols)
	if scheme != F32 {
		isa.quantize(a, x, 0, n)
	}
}

// Arrange makes order o available to In.
func (a *Activations) Arrange(o *Order) {
	if e := a.room(o); e != nil && !e.valid {
		o.Arrange(e.q, a.Q, a.N, a.Stride)
		e.valid = true
	}
}

// room returns where activations in order o are kept; nil for the natural one.
func (a *Activations) room(o *Order) *orderedQ {
	if o == nil {
		return nil
	}
	i := slices.IndexFunc(a.ordered, func(q orderedQ) bool { return q.order == o })
	if i < 0 {
		a.ordered = append(a.ordered, orderedQ{order: o})
		i = len(a.ordered) - 1
	}
	e := &a.ordered[i]
	if !e.valid {
		e.q = aligned.Grow(e.q, o.Size(a.N, a.Stride), a.Alloc)
	}
	return e
}

// View makes a the quantized columns [from, to) of b, whose memory it shares, in
// no order yet.
func (a *Activations) View(b *Activations, from, to int) {
	a.Scheme, a.N, a.Cols, a.Stride, a.Groups = b.Scheme, to-from, b.Cols, b.Stride, b.Groups
	if b.Scheme == F32 {
		a.X = b.X[from*b.Cols : to*b.Cols]
		return
	}
	a.Q = b.Q[from*b.Stride : to*b.Stride]
	a.Scales = b.Scales[from*b.Groups : to*b.Groups]
	a.Sums = b.Sums[from*b.Stride/32 : to*b.Stride/32]
	if b.Scheme == Q8Per32 {
		a.Spans = b.SpansOf(from, to-from)
	}
	for i := range a.ordered {
		a.ordered[i].valid = false
	}
}

// quantize fills columns [from, to) of a with x: by the instructions of isa,
// but to the bits of quantizeGeneric.
func (isa *ISA) quantize(a *Activations, x []float32, from, to int) {
	if isa == Go {
		quantizeGeneric(a, x, from, to)
	} else {
		quantizeSIMD(a, x, from, to)
	}
	if a.Scheme == Q8Per32 {
		for c := from; c < to; c++ {
			a.span(c)
		}
	}
}

// span fills the spans of column c.
func (a *Activations) span(c int) {
	scales, sums := a.Scales[c*a.Groups:(c+1)*a.Groups], a.Sums[c*a.Stride/32:(c+1)*a.Stride/32]
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

// quantizeGeneric is the specification that every SIMD quantizer equals.
func quantizeGeneric(a *Activations, x []float32, from, to int) {
	g := a.Scheme.GroupLen(a.Cols)
	for c := from; c < to; c++ {
		col := x[c*a.Cols : (c+1)*a.Cols]
		q := a.Q[c*a.Stride : (c+1)*a.Stride]
		for i := range a.Groups {
			lo, hi := i*g, min((i+1)*g, a.Cols)
			mul, scale := a.Scheme.scales(maxAbsBits(col[lo:hi]))
			a.Scales[c*a.Groups+i] = scale
			for j := lo; j < hi; j++ {
				q[j] = roundToInt8(col[j], mul)
			}
		}
		clear(q[a.Cols:])
		sums := a.Sums[c*a.Stride/32 : (c+1)*a.Stride/32]
		for i := range sums {
			var sum int32
			for _, v := range q[i*32 : i*32+32] {
				sum += int32(v)
			}
			sums[i] = sum
		}
	}
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
