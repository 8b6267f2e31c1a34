package quantize

import "onebit/internal/aligned"

// Quantized is N columns of activations as int8. Its buffers are used again by the next Reset.
type Quantized struct {
	Scheme Scheme
	N      int // columns: tokens
	Cols   int // length of each: the matrices' columns
	Stride int // Cols rounded up to a multiple of 256

	Q      []int8    // N × Stride, zero behind Cols; nil under F32
	Scales []float32 // N × Groups: x ≈ q·scale
	Groups int       // scales per column
	// Sums is Σq of every 32 columns, N × Stride/32: Σ over any coarser group
	// follows by addition. Kernels on unsigned codes subtract it.
	Sums []int32
	// Spans are the scales of q8_32 once more, as integers: N × Stride/128.
	Spans []Span

	// Alloc provides memory for the buffers, 64-byte aligned; nil is make.
	// The conformance suite puts guard pages around them with it.
	Alloc func(bytes int) []byte
}

// strideOf is the length of a quantized row in memory. 256 is a multiple of
// every kernel's step, so kernels need no tails along the columns: what lies
// behind the last column is zero.
func strideOf(cols int) int { return (cols + 255) &^ 255 }

// Reset makes room for n columns of cols.
func (a *Quantized) Reset(scheme Scheme, n, cols int) {
	a.Scheme, a.N, a.Cols, a.Stride = scheme, n, cols, strideOf(cols)
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

// View makes a the columns [from, to) of b, whose memory it shares.
func (a *Quantized) View(b *Quantized, from, to int) {
	a.Scheme, a.N, a.Cols, a.Stride, a.Groups = b.Scheme, to-from, b.Cols, b.Stride, b.Groups
	if b.Scheme == F32 {
		return
	}
	a.Q = b.Q[from*b.Stride : to*b.Stride]
	a.Scales = b.Scales[from*b.Groups : to*b.Groups]
	a.Sums = b.Sums[from*b.Stride/32 : to*b.Stride/32]
	if b.Scheme == Q8Per32 {
		a.Spans = b.SpansOf(from, to-from)
	}
}

// Scale returns that of group g of column c.
func (a *Quantized) Scale(c, g int) float32 { return a.Scales[c*a.Groups+g] }

// column returns where column c, its scales and its sums lie.
func (a *Quantized) column(c int) (q []int8, scales []float32, sums []int32) {
	pieces := a.Stride / 32
	return a.Q[c*a.Stride : (c+1)*a.Stride], a.Scales[c*a.Groups : (c+1)*a.Groups], a.Sums[c*pieces : (c+1)*pieces]
}

// SIMD is Generic with the machine's vectors: AVX2 or NEON, which it has to have.
func (a *Quantized) SIMD(x []float32, from, to int) {
	for c := from; c < to; c++ {
		a.quantizeSIMD(x[c*a.Cols:(c+1)*a.Cols], c)
		a.span(c)
	}
}

// Generic quantizes the columns [from, to) of x, which is N × Cols: the specification.
func (a *Quantized) Generic(x []float32, from, to int) {
	for c := from; c < to; c++ {
		a.quantizeGeneric(x[c*a.Cols:(c+1)*a.Cols], c)
		a.span(c)
	}
}

func (a *Quantized) quantizeGeneric(x []float32, c int) {
	q, scales, sums := a.column(c)
	g := a.Scheme.GroupLen(a.Cols)
	for i := range scales {
		lo, hi := i*g, min((i+1)*g, a.Cols)
		mul, scale := a.Scheme.scales(maxAbsBits(x[lo:hi]))
		scales[i] = scale
		roundToInt8s(q[lo:hi], x[lo:hi], mul)
	}
	clear(q[a.Cols:])
	sumPieces(sums, q)
}

func roundToInt8s(q []int8, x []float32, mul float32) {
	for i, v := range x {
		q[i] = roundToInt8(v, mul)
	}
}

// sumPieces sets sums to those of every 32 of q.
func sumPieces(sums []int32, q []int8) {
	for i := range sums {
		var sum int32
		for _, v := range q[32*i : 32*i+32] {
			sum += int32(v)
		}
		sums[i] = sum
	}
}
