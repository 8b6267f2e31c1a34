package metal

import (
	"slices"

	"onebit/formats"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
)

// activations are columns as a kernel takes them: floats, int8, or planes of
// their bits.
type activations struct {
	values, sums, scales     *metal.Buffer
	valueBytes, sumBytes     int // of a column
	stride, groups, groupLen int // values, scales and values with one scale of a column

	valuesMemory, sumsMemory, scalesMemory memory
}

func (a *activations) close() {
	closeAll(a.valuesMemory.buffer, a.sumsMemory.buffer, a.scalesMemory.buffer)
}

// An arrangement is what activations differ by.
type arrangement struct {
	scheme kernels.Scheme
	kernel string // that made them
	// format is that of the weights where planes follow them.
	format *formats.Type
}

func (m *matrix) arrangement(columns int) arrangement {
	v := m.by(columns)
	a := arrangement{scheme: m.scheme, kernel: v.Quantization}
	if a.kernel == shaders.QuantizePlanes && v.Layout == shaders.Native {
		a.format = m.packed
	}
	return a
}

// activate arranges columns for a matrix.
func (s *stream) activate(in *buffer, m *matrix) *activations {
	how := m.arrangement(in.n)
	if how.kernel == "" {
		return &activations{values: in.buffer, valueBytes: 4 * in.width}
	}
	a := s.quantized[how]
	if a == nil {
		a = &activations{}
		s.quantized[how] = a
	}
	a.stride, a.groupLen = (in.width+255)/256*256, how.scheme.GroupLen(in.width)
	a.groups = (in.width + a.groupLen - 1) / a.groupLen
	a.valueBytes, a.sumBytes = a.stride, a.stride/8
	if s.grow(&a.valuesMemory, in.n*a.valueBytes) && s.grow(&a.sumsMemory, in.n*a.sumBytes) && s.grow(&a.scalesMemory, 4*in.n*a.groups) {
		a.values, a.sums, a.scales = a.valuesMemory.buffer, a.sumsMemory.buffer, a.scalesMemory.buffer
		s.quantize(in, m, a)
	}
	return a
}

func (s *stream) quantize(in *buffer, m *matrix, a *activations) {
	scheme := uint32(slices.Index(quantizers, m.scheme))
	grid, threads := plane(a.groups, in.n), reducing(a.groupLen)
	if m.by(in.n).Quantization == shaders.QuantizeInt8 {
		s.groups(s.engine.operations.quantize[scheme], grid, threads, at(in.buffer, 0), out(a.values, 0), out(a.scales, 0),
			value([4]uint32{uint32(in.width), uint32(a.stride), uint32(a.groups), uint32(a.groupLen)}))
		return
	}
	s.groups(m.planes, grid, threads, at(in.buffer, 0), out(a.values, 0), out(a.sums, 0), out(a.scales, 0),
		value([3]uint32{uint32(in.width), uint32(a.stride), uint32(a.groups)}), value(scheme))
}
