package twobit

import (
	"math/bits"

	"onebit/formats"
	"onebit/kernels"
)

// A twoBit describes a format of 2-bit codes: where column k of a row lies.
// Blocks of blockLen columns take blockBytes; within a block each byte of a
// run of span bytes holds four columns, span apart, at the given shifts. One
// description serves every kernel: it permutes the activations, never the
// weights.
type twoBit struct {
	blockLen, blockBytes int
	data                 int // first byte of the codes within a block
	scale                int // byte of the block's fp16 scale; -1: one float32 for the tensor
	span                 int
	shifts               [4]uint8 // of columns j, j+span, j+2·span, j+3·span
}

// The orders of 2-bit codes; the layouts are drawn in the doc.go of formats.
var (
	i2s    = orderOf(formats.I2_S)
	i2sARM = orderOf(formats.I2_S_ARM)
	words  = orderOf(formats.Ternary_u32)
	tq2    = orderOf(formats.TQ2_0)
	q2     = orderOf(formats.Q2_0)
	q2G128 = orderOf(formats.Q2_0_g128)
)

// orderOf returns that of a format of 2-bit codes. Of one with a scale per tensor, a
// block is what whole bytes of a run hold, and at least 16 columns.
func orderOf(t *formats.Type) *twoBit {
	c, _ := t.Codes()
	f := &twoBit{blockLen: c.Columns, blockBytes: c.Bytes, data: c.At, scale: c.ScaleAt, span: c.Span, shifts: [4]uint8{0, 2, 4, 6}}
	if c.HighFirst {
		f.shifts = [4]uint8{6, 4, 2, 0}
	}
	if c.Columns == 0 {
		f.blockLen = max(16, 4*c.Span)
		f.blockBytes, f.scale = f.blockLen/4, -1
	}
	return f
}

// A twoBitFormat is a format and what its SIMD kernels multiply: codes in the
// order of codes, in its own bytes or packed.
type twoBitFormat struct {
	kernels.Format
	codes  *twoBit
	layout *kernels.Layout // nil: codes64 only
}

// Formats of BitNet were trained with activations of int8 per row; those of
// Bonsai have blocks that scales of 128 are aligned with.
var twoBitFormats = []twoBitFormat{
	{projections(formats.I2_S, kernels.Q8Row, true), i2s, kernels.Native},
	{projections(formats.I2_S_ARM, kernels.Q8Row, false), i2sARM, kernels.Native},
	{projections(formats.I2_S_X4, kernels.Q8Row, false), words, wordRows},
	{projections(formats.Ternary_u32, kernels.Q8Row, true), words, kernels.Native},
	{projections(formats.TQ2_0, kernels.Q8Row, false), tq2, kernels.Native},
	{projections(formats.TQ1_0, kernels.Q8Row, false), tq2, nil},
	{projections(formats.Q2_0, kernels.Q8Per128, false), q2, kernels.Native},
	{projections(formats.Q2_0_g128, kernels.Q8Per128, false), q2G128, kernels.Native},
	{projections(formats.PQ2_0, kernels.Q8Per128, false), q2G128, kernels.Native},
	{projections(formats.PTQ1_0, kernels.Q8Per128, false), q2G128, nil},
}

func projections(t *formats.Type, scheme kernels.Scheme, short bool) kernels.Format {
	return kernels.Format{Type: t, Scheme: scheme, Roles: kernels.Projection, Short: short}
}

func init() {
	for _, f := range twoBitFormats {
		switch f.Type {
		case formats.I2_S_X4:
			registerX4(f.Format)
		case formats.TQ1_0:
			tq1.codec(f.Format).Register()
		case formats.PTQ1_0:
			ptq1.codec(f.Format).Register()
		default:
			f.codes.codec(f.Format).Register()
		}
	}
}

func (f *twoBit) codec(format kernels.Format) *kernels.Codec {
	c := &kernels.Codec{Format: format, SmallCodes: true, Code: f.code, Dot: f.dot, DotUnrolled: f.dotUnrolled}
	if f.scale >= 0 {
		c.GroupLen, c.BlockBytes, c.ScaleAt = f.blockLen, f.blockBytes, f.scale
	}
	return c
}

// at returns the byte and the shift of column k. All lengths are powers of
// two; the divisions are written as shifts, for scalar's sake.
func (f *twoBit) at(k int) (index int, shift uint8) {
	span := bits.TrailingZeros(uint(f.span))
	block := k >> bits.TrailingZeros(uint(f.blockLen))
	in := k & (f.blockLen - 1)
	run := in >> span >> 2
	return block*f.blockBytes + f.data + run<<span + in&(f.span-1), f.shifts[in>>span&3]
}

func (f *twoBit) code(row []byte, k int) int32 {
	at, shift := f.at(k)
	return int32(row[at]>>shift&3) - 1
}

// dot goes along the runs of columns that share a shift.
func (f *twoBit) dot(row []byte, from int, q []int8) int32 {
	var sum int32
	if f.span == 1 { // no group crosses a block that has a header
		at, _ := f.at(from)
		w := row[at:]
		for i, v := range q {
			sum += (int32(w[i/4]>>(i%4*2)&3) - 1) * int32(v)
		}
		return sum
	}
	for len(q) > 0 {
		at, shift := f.at(from)
		n := min(f.span, len(q))
		w := row[at : at+n]
		for j, v := range q[:n] {
			sum += (int32(w[j]>>shift&3) - 1) * int32(v)
		}
		from, q = from+n, q[n:]
	}
	return sum
}

// dotUnrolled takes four columns from each byte: Σ(code−1)·q = Σcode·q − Σq.
// What is left of a run is done as dot does it.
func (f *twoBit) dotUnrolled(row []byte, from int, q []int8) int32 {
	var sum int32
	n := f.span
	if n == 1 {
		at, _ := f.at(from)
		sum = dotBytes(row[at:], q)
		from, q = from+len(q)&^3, q[len(q)&^3:]
		if len(q) == 0 {
			return sum
		}
	}
	for n > 1 && len(q) >= 4*n {
		at, _ := f.at(from)
		sum += f.dotRun(row[at:at+n], q[:4*n])
		from, q = from+4*n, q[4*n:]
	}
	return sum + f.dot(row, from, q)
}

// dotBytes multiplies bytes of four neighbouring columns each; up to three
// columns are left.
func dotBytes(w []byte, q []int8) int32 {
	var codes, all int32
	for _, c := range w[:len(q)/4] {
		v0, v1, v2, v3 := int32(q[0]), int32(q[1]), int32(q[2]), int32(q[3])
		codes += int32(c&3)*v0 + int32(c>>2&3)*v1 + int32(c>>4&3)*v2 + int32(c>>6)*v3
		all += v0 + v1 + v2 + v3
		q = q[4:]
	}
	return codes - all
}

// dotRun multiplies a run of bytes with its four runs of columns.
func (f *twoBit) dotRun(w []byte, q []int8) int32 {
	n := len(w)
	q0, q1, q2, q3 := q[:n], q[n:][:n], q[2*n:][:n], q[3*n:][:n]
	if f.shifts[0] != 0 {
		q0, q1, q2, q3 = q3, q2, q1, q0 // the first columns are in the highest bits
	}
	var codes, all int32
	for j, c := range w {
		v0, v1, v2, v3 := int32(q0[j]), int32(q1[j]), int32(q2[j]), int32(q3[j])
		codes += int32(c&3)*v0 + int32(c>>2&3)*v1 + int32(c>>4&3)*v2 + int32(c>>6)*v3
		all += v0 + v1 + v2 + v3
	}
	return codes - all
}
