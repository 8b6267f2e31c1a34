// Package shaders has the Metal shaders of onebit, as source: Metal compiles
// source at run time. Each source is a library of its own; its kernels'
// arguments and grids are told where they are written.
//
// Kernels compute what package kernels and models/engine specify. Compile them
// without fast math: integer sums are exact either way, but the order of float
// operations is part of what they promise.
package shaders

import (
	_ "embed"
	"fmt"
	"slices"

	"onebit/formats"
)

// MatVec multiplies packed weights, and has rows of them as floats; Codes.Constants has its function constants.
var MatVec = rounding + matvec

//go:embed matvec.metal
var matvec string

// Quantize quantizes activations. Its function constant scheme is 0 for
// q8_row, 1 for q8_128 and 2 for q8_32.
var Quantize = rounding + quantize

// rounding stands before the sources that round.
//
//go:embed rounding.metal
var rounding string

//go:embed quantize.metal
var quantize string

// Operations has normalisation, rotary embedding, gates, sums and copies. It has
// no function constants.
//
//go:embed operations.metal
var Operations string

// Bytes multiplies codes of six and eight bits; BytesConstants has its function
// constants.
//
//go:embed bytes.metal
var Bytes string

// Matrices multiplies codes of one, two and eight bits with many columns of
// activations; MatricesConstants has its function constants.
//
//go:embed matrices.metal
var Matrices string

// Heads multiplies weights that are floats, or decoded to floats, and has rows of them. FloatConstants
// has its function constants.
//
//go:embed heads.metal
var Heads string

// Attention has attention over a cache. Its function constant cache_type, 0, is
// that of CacheConstants.
var Attention = rounding + attention

//go:embed attention.metal
var attention string

// Delta has the convolution and the delta rule of gated delta nets. It has no
// function constants.
//
//go:embed delta.metal
var Delta string

// Experts chooses experts, adds up what they say, and clamps their gates. It has no
// function constants.
//
//go:embed experts.metal
var Experts string

// Hadamard rotates inputs whose weights are stored rotated. It has no function
// constants.
//
//go:embed hadamard.metal
var Hadamard string

// Top finds the likeliest tokens. It has no function constants.
//
//go:embed top.metal
var Top string

// FloatConstants returns the function constants of Heads for a format, where weights
// are read once for so many columns of activations, 4 at most, or an error if its weights
// are not multiplied as floats: those of q4_k are, for they have offsets.
func FloatConstants(t *formats.Type, columns int) (map[int]any, error) {
	if i := slices.Index([]*formats.Type{formats.F32, formats.F16, formats.BF16, formats.Q4_K}, t); i >= 0 {
		return map[int]any{0: uint32(i), 1: uint32(columns)}, nil
	}
	return nil, fmt.Errorf("%s has no floats", t.Name)
}

// CacheConstants returns the function constants of Attention for the format of a
// cache, or an error if no shader keeps keys and values in it.
func CacheConstants(t *formats.Type) (map[int]any, error) {
	if i := slices.Index([]*formats.Type{formats.F32, formats.F16, formats.Q8_0}, t); i >= 0 {
		return map[int]any{0: uint32(i)}, nil
	}
	return nil, fmt.Errorf("no Metal shader keeps keys and values in %s", t.Name)
}

// Codes are formats.Codes as a shader takes them.
type Codes struct {
	Bits         uint32
	BlockColumns uint32
	BlockBytes   uint32
	At, ScaleAt  uint32
	Span         uint32
	HighFirst    bool
}

// PackedType returns the format that weights of another are packed to, of the same
// weights: tq1_0 and ptq1_0, whose digits are base 3, to tq2_0 and pq2_0, i2_s_x4,
// whose bytes have four rows each, to ternary_u32, and q5_0 and iq4_nl to q8_0. Others
// stay as they are.
func PackedType(t *formats.Type) *formats.Type { return t.Unpacked() }

// Pack returns a tensor in its PackedType. Codes are written as codes: beside the result
// it takes the memory of a row at most.
func Pack(t *formats.Tensor) (*formats.Tensor, error) {
	to := PackedType(t.Type)
	if to == t.Type {
		return t, nil
	}
	packed, err := to.NewMatrix(t.Dims())
	if err == nil {
		err = packInto(packed, t.Matrix())
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return &formats.Tensor{Name: t.Name, Type: to, Shape: t.Shape, Data: packed.Data}, nil
}

// packInto recodes a matrix; of one without blocks it writes the digits and the one scale.
func packInto(packed, m formats.Matrix) error {
	if ok, err := formats.Recode(packed, m); ok || err != nil {
		return err
	}
	scale, err := m.TensorScale()
	if err == nil {
		err = m.Validate()
	}
	if err != nil {
		return err
	}
	weights, digits := make([]float32, m.Cols), make([]int8, m.Cols)
	for r := range m.Rows {
		if err := m.DequantizeRows(weights, r, r+1); err != nil {
			return err
		}
		for i, w := range weights {
			switch w {
			case 0:
				digits[i] = 0
			case scale:
				digits[i] = 1
			default:
				digits[i] = -1
			}
		}
		if err := packed.EncodeDigits(digits, r, r+1); err != nil {
			return err
		}
	}
	return packed.SetTensorScale(scale)
}

// CodesOf returns the codes of a format, or an error if no shader multiplies it.
func CodesOf(t *formats.Type) (Codes, error) {
	c, ok := t.Codes()
	if !ok || !slices.Contains([]int{1, 2, 4, 6, 8}, c.Bits) {
		return Codes{}, fmt.Errorf("no Metal shader multiplies %s", t.Name)
	}
	return Codes{
		Bits: uint32(c.Bits), BlockColumns: uint32(c.Columns), BlockBytes: uint32(c.Bytes),
		At: uint32(c.At), ScaleAt: uint32(c.ScaleAt), Span: uint32(c.Span), HighFirst: c.HighFirst,
	}, nil
}

// Constants returns the values of MatVec's function constants, by index.
func (c Codes) Constants() map[int]any {
	return map[int]any{0: c.Bits, 1: c.BlockColumns, 2: c.BlockBytes, 3: c.At, 4: c.ScaleAt, 5: c.Span, 6: c.HighFirst}
}

// RowBytes returns the length of a row in the file.
func (c Codes) RowBytes(cols int) int {
	if c.BlockColumns == 0 {
		return (cols + 15) / 16 * 4 // words, of which the rows of i2_s are a whole number too
	}
	return cols / int(c.BlockColumns) * int(c.BlockBytes)
}

// SplitRowBytes returns the length of a row of codes that Split writes: a
// multiple of 16.
func (c Codes) SplitRowBytes(cols int) int {
	if c.Bits == 6 {
		return cols / int(c.BlockColumns) * q6Codes
	}
	return (cols*int(c.Bits) + 127) / 128 * 16
}

// q6Codes is the length of a block of q6_k without its fp16 scale.
const q6Codes = 208

// Split takes rows apart into codes, each row padded to a multiple of 16 bytes,
// and the fp16 scales of their blocks, of which a tensor with one scale has none.
// It is the layout of matvec_simd and matvec_bytes. The int8 scales of q6_k stay with
// its codes.
func (c Codes) Split(data []byte, rows, cols int) (split, scales []byte) {
	from, to := c.RowBytes(cols), c.SplitRowBytes(cols)
	split = make([]byte, rows*to)
	for r := range rows {
		row, dst := data[r*from:(r+1)*from], split[r*to:]
		if c.BlockColumns == 0 {
			copy(dst, row)
			continue
		}
		n := int(c.BlockColumns * c.Bits / 8)
		if c.Bits == 6 {
			n = q6Codes
		}
		for ; len(row) > 0; row, dst = row[c.BlockBytes:], dst[n:] {
			copy(dst, row[c.At:][:n])
			scales = append(scales, row[c.ScaleAt:][:2]...)
		}
	}
	return split, scales
}
