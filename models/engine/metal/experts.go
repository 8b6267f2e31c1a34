package metal

import (
	"fmt"

	"onebit/formats"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
	"onebit/models/engine"
)

// chosen is Chosen of matvec.metal.
type chosen struct{ Used, Share, Experts uint32 }

// expertKernels are what multiplies experts, of codes and of floats: a thread a row, of
// the file's bytes.
var expertKernels = [2]shaders.Variant{
	{Name: "metal-experts", Source: shaders.MatVec, Kernel: "matvec_experts", Layout: shaders.Native, Quantization: shaders.QuantizeInt8},
	{Name: "metal-experts", Source: shaders.Heads, Kernel: "dense_experts", Layout: shaders.Native},
}

// experts makes a tensor's matrices ready, which lie one behind the other in the file and
// are multiplied there: a token meets few of them.
func (e *Engine) experts(t *formats.Tensor, inPlace bool) (*matrix, error) {
	if len(t.Shape) != 3 {
		return nil, fmt.Errorf("has shape %v, want that of a matrix for each expert", t.Shape)
	}
	packed, err := shaders.Pack(t)
	if err != nil {
		return nil, err
	}
	m := &matrix{packed: packed.Type, WeightInfo: engine.WeightInfo{Tensor: t.Name, Rows: t.Shape[1], Cols: t.Shape[2], Experts: t.Shape[0], Type: t.Type}}
	var constants metal.Constants
	if codes, err := shaders.CodesOf(packed.Type); err == nil {
		if codes.BlockColumns == 0 {
			return nil, fmt.Errorf("is %s, whose scale is one of the whole tensor: experts want a format of blocks, such as tq2_0", t.Type.Name)
		}
		m.variant, m.rowBytes, constants = &expertKernels[0], codes.RowBytes(m.Cols), codes.Constants()
	} else if constants, err = shaders.FloatConstants(packed.Type, 1); err != nil || m.Cols%4 != 0 {
		return nil, fmt.Errorf("is %s in %d columns, of which no Metal shader multiplies experts; the engine cpu multiplies every format", t.Type.Name, m.Cols)
	} else {
		m.variant = &expertKernels[1]
	}
	m.scheme = schemeOf(m.variant, t.Type)
	m.Kernel = fmt.Sprintf("%s/%s/%s", t.Type.Name, m.variant.Name, m.scheme)
	if m.experts, err = e.pipeline(m.variant.Source, m.variant.Kernel, constants, 1); err != nil {
		return nil, err
	}
	if err := e.whole(m, packed, inPlace && packed == t); err != nil {
		return nil, tooLarge(err)
	}
	return m, nil
}

// MultiplyExperts quantizes the input once for all products that take it the same way.
func (s *stream) MultiplyExperts(op string, x, choice engine.Buffer, products []engine.Product) {
	in, numbers := x.(*buffer), choice.(*buffer)
	used := numbers.width / 2
	w := work{moved: 4 * in.len()}
	var results []result
	for _, p := range products {
		m := p.Weight.(*matrix)
		w.bytes += m.Bytes / m.Experts * min(in.n*used, m.Experts)
		w.moved += 4 * in.n * used * m.Rows
		w.macs += in.n * used * m.Rows * m.Cols
		results = append(results, result{m.Tensor, p.Dst.(*buffer)})
	}
	s.do(op, w, func() {
		done := map[arrangement]*activations{}
		for _, p := range products {
			m, dst := p.Weight.(*matrix), p.Dst.(*buffer)
			from, share := in, used
			if in.width > m.Cols { // each has its own
				from, share = &buffer{memory: in.memory, width: m.Cols, n: in.n * used}, 1
			}
			how := m.arrangement(from.n)
			if done[how] == nil {
				done[how] = s.activate(from, m)
			}
			if s.resize(dst, in.n) {
				s.multiplyExperts(m, done[how], numbers, dst, chosen{uint32(used), uint32(share), uint32(m.Experts)})
			}
		}
	}, results...)
}

func (s *stream) multiplyExperts(m *matrix, in *activations, numbers, dst *buffer, c chosen) {
	shape := value(shaders.Shape{
		Rows: uint32(m.Rows), Cols: uint32(m.Cols), RowBytes: uint32(m.rowBytes), Stride: uint32(in.stride),
		Groups: uint32(in.groups), ActColumns: uint32(in.groupLen), Scale: 1,
	})
	used := int(c.Used)
	s.runs(dst.n, used*m.Rows*m.Cols, func(from, n int) {
		column := from * used / int(c.Share)
		args := []argument{m.codes, at(numbers.buffer, 4*from*numbers.width), at(in.values, column*in.valueBytes)}
		if m.scheme != kernels.F32 {
			args = append(args, at(in.scales, 4*column*in.groups))
		}
		args = append(args, out(dst.buffer, 4*from*dst.width), shape, value(c))
		s.threads(m.experts, plane(m.Rows, n*used), line(vectorThreads), args...)
	})
}

// mostUsed is how many experts of a column the shader chooses at most.
const mostUsed = 256

func (s *stream) Route(op string, dst, logits engine.Buffer, r engine.Routing) {
	to, in := dst.(*buffer), logits.(*buffer)
	if r.Used > mostUsed {
		s.fail(fmt.Errorf("%d experts are used of a token, and the shader chooses %d at most", r.Used, mostUsed))
		return
	}
	routing := struct {
		Experts, Used, Sigmoid, Normalized uint32
		Scale                              float32
	}{Experts: uint32(in.width), Used: uint32(r.Used), Scale: r.Factor()}
	if r.Sigmoid {
		routing.Sigmoid = 1
	}
	if r.Normalized {
		routing.Normalized = 1
	}
	s.do(op, work{moved: 4 * (in.len() + in.n*to.width)}, func() {
		if s.resize(to, in.n) {
			s.groups(s.engine.operations.route, line(in.n), reducing(in.width), at(in.buffer, 0), out(to.buffer, 0), value(routing))
		}
	}, result{op, to})
}

func (s *stream) Combine(op string, dst, x, choice engine.Buffer) {
	to, in, numbers := dst.(*buffer), x.(*buffer), choice.(*buffer)
	s.do(op, work{moved: 4 * (in.len() + in.n*to.width)}, func() {
		if s.resize(to, in.n) {
			s.threads(s.engine.operations.combine, plane(to.width, to.n), line(vectorThreads), out(to.buffer, 0), at(in.buffer, 0), at(numbers.buffer, 0),
				value([2]uint32{uint32(to.width), uint32(numbers.width / 2)}))
		}
	}, result{op, to})
}

func (s *stream) Clamp(op string, x engine.Buffer, least, most float32) {
	b := x.(*buffer)
	s.do(op, work{moved: 8 * b.len()}, func() {
		s.threads(s.engine.operations.clamp, line(b.len()), line(vectorThreads), out(b.buffer, 0), value([2]float32{least, most}), value(uint32(b.len())))
	}, result{op, b})
}
