package metal

import (
	"fmt"

	"onebit/metal"
	"onebit/metal/shaders"
	"onebit/models/arch"
	"onebit/models/engine"
)

// operations are the kernels that every model needs.
type operations struct {
	norm, rotate, add, scale, take *metal.Pipeline
	topSlices, top                 *metal.Pipeline
	route, combine, clamp          *metal.Pipeline // of experts
	gates                          map[arch.Activation]*metal.Pipeline
	quantize                       []*metal.Pipeline // by the index in quantizers
}

func (e *Engine) newOperations() (o operations, err error) {
	get := func(source, kernel string, constants metal.Constants, threads int) (p *metal.Pipeline) {
		if err == nil {
			p, err = e.pipeline(source, kernel, constants, threads)
		}
		return p
	}
	alone := func(kernel string) *metal.Pipeline { return get(shaders.Operations, kernel, nil, 1) }
	o = operations{
		norm: get(shaders.Operations, "rms_norm", nil, reducingThreads), rotate: alone("rotate"),
		add: alone("add"), scale: alone("scale"), take: alone("take"),
		topSlices: get(shaders.Top, "top_slices", nil, reducingThreads), top: get(shaders.Top, "top", nil, reducingThreads),
		route: get(shaders.Experts, "route", nil, reducingThreads), combine: get(shaders.Experts, "combine", nil, 1),
		clamp: get(shaders.Experts, "clamp_values", nil, 1),
		gates: map[arch.Activation]*metal.Pipeline{
			arch.SiLU: alone("gate_silu"), arch.ReLU2: alone("gate_relu2"), arch.Sigmoid: alone("gate_sigmoid"),
		},
	}
	for i := range quantizers {
		o.quantize = append(o.quantize, get(shaders.Quantize, shaders.QuantizeInt8, metal.Constants{0: uint32(i)}, reducingThreads))
	}
	return o, err
}

// line is so many threads, or threadgroups, in one dimension.
func line(n int) metal.Size { return metal.Size{Width: uint(n), Height: 1, Depth: 1} }

func plane(width, height int) metal.Size {
	return metal.Size{Width: uint(width), Height: uint(height), Depth: 1}
}

// vectorThreads is a threadgroup's size where threads have nothing to do with
// each other.
const vectorThreads = 256

// reducingThreads is how many threads the kernels take at most that reduce.
const reducingThreads = 256

// reducing returns a threadgroup's size for a kernel that reduces n values: a
// power of two, no less than a simdgroup, with eight values a thread if there
// are as many.
func reducing(n int) metal.Size {
	threads := 32
	for threads < reducingThreads && 8*threads < n {
		threads *= 2
	}
	return line(threads)
}

// Embed decodes the rows on the processor: they are few.
func (s *stream) Embed(op string, dst engine.Buffer, w engine.Weight, ids []int) {
	to, t := dst.(*buffer), w.(*table)
	rows, cols := t.Dims()
	to.n = len(ids)
	s.do(op, work{bytes: len(ids) * len(t.Data) / rows, moved: 4 * to.len()}, func() {
		if !s.fresh(&to.memory, 4*to.len()) {
			return
		}
		for c, id := range ids {
			if err := t.Matrix().DequantizeRows(to.values()[c*cols:][:cols], id, id+1); err != nil {
				s.fail(s.engine.source.Fault(t.Name, err))
			}
		}
	}, result{op, to})
}

func (s *stream) Norm(op string, dst, x engine.Buffer, w engine.Weight, eps float32) {
	to, in, g := dst.(*buffer), x.(*buffer), w.(*gain)
	norm := struct {
		Width   uint32
		Epsilon float32
	}{uint32(g.len()), eps}
	s.do(op, work{bytes: 4 * g.len(), moved: 8 * in.len()}, func() {
		if s.resize(to, in.n) {
			s.groups(s.engine.operations.norm, line(in.len()/g.len()), reducing(g.len()),
				at(in.buffer, 0), at(g.values, 0), out(to.buffer, 0), value(norm))
		}
	}, result{op, to})
}

// Multiply quantizes the input once for all products that take it the same way.
func (s *stream) Multiply(op string, x engine.Buffer, products []engine.Product) {
	in := x.(*buffer)
	var w work
	var results []result
	for _, p := range products {
		m := p.Weight.(*matrix)
		w.bytes += m.Bytes
		w.moved += 4 * in.n * m.Rows
		w.macs += in.n * m.Rows * m.Cols
		results = append(results, result{m.Tensor, p.Dst.(*buffer)})
	}
	w.moved += 4 * in.len()
	s.do(op, w, func() {
		done := map[arrangement]*activations{}
		for _, p := range products {
			m, dst := p.Weight.(*matrix), p.Dst.(*buffer)
			how := m.arrangement(in.n)
			if done[how] == nil {
				done[how] = s.activate(in, m)
			}
			if s.resize(dst, in.n) {
				s.multiply(m, done[how], dst)
			}
		}
	}, results...)
}

// runs calls run for runs of columns, each of so much work.
func (s *stream) runs(columns, work int, run func(from, n int)) {
	most := max(1, s.limit/work)
	for from := 0; from < columns; from += most {
		n := min(most, columns-from)
		s.reserve(n * work)
		run(from, n)
	}
}

func (s *stream) Rotate(op string, q, k engine.Buffer) {
	queries, keys := q.(*buffer), k.(*buffer)
	s.do(op, work{moved: 8 * (queries.len() + keys.len())}, func() {
		s.rotate(queries)
		s.rotate(keys)
	}, result{op, queries})
}

func (s *stream) rotate(b *buffer) {
	pairs, dim := len(s.rope.Freq), s.rope.HeadDim()
	heads := b.width / dim
	step, apart := 1, pairs
	if s.rope.Adjacent {
		step, apart = 2, 1
	}
	s.threads(s.engine.operations.rotate, metal.Size{Width: uint(pairs), Height: uint(heads), Depth: uint(b.n)},
		metal.Size{Width: 32, Height: 4, Depth: 1}, out(b.buffer, 0), at(s.turns.buffer, 0),
		value([5]uint32{uint32(heads), uint32(dim), uint32(pairs), uint32(step), uint32(apart)}))
}

func (s *stream) Convolve(op string, x engine.Buffer, w engine.Weight) {
	b, taps := x.(*buffer), w.(*gain)
	d := s.states[s.block].(*delta)
	d.begun = true
	s.do(op, work{bytes: 4*taps.len() + 2*d.windowBytes(), moved: 8 * b.len(), macs: b.n * taps.len()}, func() {
		s.threads(d.convolve, line(d.Channels), line(vectorThreads), out(b.buffer, 0), at(taps.values, 0), out(d.window, 0),
			value([3]uint32{uint32(d.Channels), uint32(d.Taps), uint32(b.n)}))
	}, result{op, b})
}

func (s *stream) DeltaRule(op string, dst, q, k, v, decay, beta engine.Buffer) {
	to, queries, keys, values := dst.(*buffer), q.(*buffer), k.(*buffer), v.(*buffer)
	d := s.states[s.block].(*delta)
	d.begun = true
	var tiled uint32
	if d.Tiled {
		tiled = 1
	}
	macs := 3 * queries.n * d.matrixBytes() / 4
	w := work{bytes: 2 * d.matrixBytes(), macs: macs, moved: 4 * (queries.len() + keys.len() + 2*values.len())}
	s.do(op, w, func() {
		if !s.resize(to, queries.n) {
			return
		}
		s.reserve(macs)
		s.threads(d.rule, plane(d.ValueDim, d.ValueHeads), line(64), out(d.matrices, 0), at(queries.buffer, 0), at(keys.buffer, 0), at(values.buffer, 0),
			at(decay.(*buffer).buffer, 0), at(beta.(*buffer).buffer, 0), out(to.buffer, 0),
			value([6]uint32{uint32(d.KeyHeads), uint32(d.ValueHeads), uint32(d.KeyDim), uint32(d.ValueDim), uint32(queries.n), tiled}))
	}, result{op, to})
}

func (s *stream) Gate(op string, gate, up engine.Buffer, f arch.Activation) {
	g, u := gate.(*buffer), up.(*buffer)
	p := s.engine.operations.gates[f]
	if p == nil {
		s.fail(fmt.Errorf("there is no shader for the activation %s", f))
		return
	}
	s.do(op, work{moved: 12 * g.len()}, func() { s.vectors(p, g, u) }, result{op, g})
}

func (s *stream) Add(op string, x, y engine.Buffer) {
	a, b := x.(*buffer), y.(*buffer)
	s.do(op, work{moved: 12 * a.len()}, func() { s.vectors(s.engine.operations.add, a, b) }, result{op, a})
}

func (s *stream) Scale(op string, x engine.Buffer, by float32) {
	b := x.(*buffer)
	s.do(op, work{moved: 8 * b.len()}, func() {
		s.threads(s.engine.operations.scale, line(b.len()), line(vectorThreads), out(b.buffer, 0), value(by), value(uint32(b.len())))
	}, result{op, b})
}

// vectors runs a kernel of two vectors, whose result is the first.
func (s *stream) vectors(p *metal.Pipeline, x, y *buffer) {
	s.threads(p, line(x.len()), line(vectorThreads), out(x.buffer, 0), at(y.buffer, 0), value(uint32(x.len())))
}

func (s *stream) Take(dst, x engine.Buffer, from, end int) {
	to, in := dst.(*buffer), x.(*buffer)
	if s.resize(to, end-from) {
		s.threads(s.engine.operations.take, line(to.len()), line(vectorThreads), out(to.buffer, 0), at(in.buffer, 0),
			value(uint32(to.len())), value(uint32(from*in.width)))
	}
}
