package metal

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
)

// A kernel is what multiplies matrices of a format.
type kernel struct {
	name     string // in reports
	scheme   kernels.Scheme
	layout   layout
	pipeline *metal.Pipeline
	encode   func(s *stream, m *matrix, in *activations, dst *metal.Buffer, from, n int)
}

// A layout is how a kernel wants its weights.
type layout int

const (
	inFile layout = iota // as they are in the file
	split                // codes in rows of 16-byte words, and scales
)

// simdRows is how many rows a simdgroup multiplies, denseRows how many threads a
// threadgroup of floats has for each of its rows.
const (
	productThreads = 64 // of a threadgroup
	simdRows       = 4
	denseRows      = productThreads / 2
)

// A program is where a kernel's function is.
type program struct {
	source, function string
	constants        metal.Constants
}

// kernelFor chooses a kernel for weights of a format.
func (e *Engine) kernelFor(format *formats.Type) (*kernel, error) {
	k, p, err := choose(format, e.options)
	if err != nil {
		return nil, err
	}
	k.pipeline, err = e.pipeline(p.source, p.function, p.constants)
	return k, err
}

// choose is kernelFor without a device: the kernel has no pipeline yet. Where
// Layout is Best, it is Native.
func choose(format *formats.Type, opt Options) (*kernel, program, error) {
	packed := shaders.PackedType(format)
	if constants, err := shaders.FloatConstants(packed); err == nil {
		k := &kernel{name: "metal-dense", scheme: kernels.F32, layout: inFile, encode: encodeDense}
		return k, program{shaders.Heads, "matvec_dense", constants}, nil
	}
	codes, err := shaders.CodesOf(packed)
	if err != nil {
		return nil, program{}, err
	}
	k, p := &kernel{name: "metal-rows", scheme: kernels.FormatOf(format).Scheme, layout: inFile, encode: encodeRows},
		program{shaders.MatVec, "matvec_rows", codes.Constants()}
	switch {
	case opt.Naive:
		k.name, k.scheme, k.encode = "metal-naive", kernels.F32, encodeNaive
		p.function = "matvec_naive"
	case opt.Layout == Packed && codes.Bits != 6: // whose scales are of three kinds
		k.name, k.layout, k.encode = "metal-simd", split, encodeSIMD
		p.function = "matvec_simd"
	}
	return k, p, nil
}

// shape is Shape of matvec.metal.
type shape struct {
	Rows, Cols, RowBytes, Stride, Groups, ActColumns uint32
	Scale                                            float32
}

// shape returns that of a product with m.
func (m *matrix) shape(in *activations) shape {
	return shape{uint32(m.Rows), uint32(m.Cols), uint32(m.rowBytes), uint32(in.stride), uint32(in.groups), uint32(in.groupLen), m.scale}
}

// encodeNaive multiplies a column at a time.
func encodeNaive(s *stream, m *matrix, in *activations, dst *metal.Buffer, from, n int) {
	for c := from; c < from+n; c++ {
		s.threads(m.kernel.pipeline, line(m.Rows), line(productThreads),
			m.codes, at(in.floats, 4*c*m.Cols), at(dst, 4*c*m.Rows), value(m.shape(in)))
	}
}

func encodeRows(s *stream, m *matrix, in *activations, dst *metal.Buffer, from, n int) {
	s.threads(m.kernel.pipeline, plane(m.Rows, n), line(productThreads),
		m.codes, at(in.codes, from*in.stride), at(in.scales, 4*from*in.groups), at(dst, 4*from*m.Rows), value(m.shape(in)))
}

func encodeSIMD(s *stream, m *matrix, in *activations, dst *metal.Buffer, from, n int) {
	const rows = productThreads / 32 * simdRows
	s.groups(m.kernel.pipeline, plane((m.Rows+rows-1)/rows, n), line(productThreads),
		m.codes, at(m.scales, 0), at(in.codes, from*in.stride), at(in.scales, 4*from*in.groups), at(dst, 4*from*m.Rows), value(m.shape(in)))
}

func encodeDense(s *stream, m *matrix, in *activations, dst *metal.Buffer, from, n int) {
	s.groups(m.kernel.pipeline, plane((m.Rows+denseRows-1)/denseRows, n), line(productThreads),
		m.codes, at(in.floats, 4*from*m.Cols), at(dst, 4*from*m.Rows), value([2]uint32{uint32(m.Rows), uint32(m.Cols)}))
}
