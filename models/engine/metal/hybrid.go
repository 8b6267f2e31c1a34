package metal

import (
	"fmt"
	"math"

	"onebit/metal"
	"onebit/metal/shaders"
	"onebit/models/engine"
)

// hybrid are the kernels of models with gated delta nets, and of those whose
// weights are stored in another basis.
type hybrid struct {
	normalize, selectParts, deltaGates, hadamard *metal.Pipeline
}

func (e *Engine) newHybrid() (h hybrid, err error) {
	for _, k := range []struct {
		to             **metal.Pipeline
		source, kernel string
		threads        int
	}{
		{&h.normalize, shaders.Operations, "normalize", reducingThreads},
		{&h.selectParts, shaders.Operations, "select_parts", 1},
		{&h.deltaGates, shaders.Delta, "delta_gates", 1},
		{&h.hadamard, shaders.Hadamard, "rotate_hadamard", reducingThreads},
	} {
		if *k.to, err = e.pipeline(k.source, k.kernel, nil, k.threads); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (s *stream) Normalize(op string, x engine.Buffer, run int, eps, scale float32) {
	b := x.(*buffer)
	length := struct {
		Width          uint32
		Epsilon, Scale float32
	}{uint32(run), eps, scale}
	s.do(op, work{moved: 8 * b.len()}, func() {
		s.groups(s.engine.hybrid.normalize, line(b.len()/run), reducing(run), out(b.buffer, 0), value(length))
	}, result{op, b})
}

func (s *stream) Select(op string, dst, x engine.Buffer, from, run, stride int) {
	to, in := dst.(*buffer), x.(*buffer)
	s.do(op, work{moved: 8 * in.n * to.width}, func() {
		if s.resize(to, in.n) {
			s.threads(s.engine.hybrid.selectParts, line(to.len()), line(vectorThreads), out(to.buffer, 0), at(in.buffer, 0),
				value([4]uint32{uint32(from), uint32(run), uint32(stride), uint32(to.len())}))
		}
	}, result{op, to})
}

func (s *stream) DeltaGates(op string, decay, beta engine.Buffer, rate, bias engine.Weight) {
	a, b, rates, biases := decay.(*buffer), beta.(*buffer), rate.(*gain), bias.(*gain)
	s.do(op, work{moved: 16 * a.len()}, func() {
		s.threads(s.engine.hybrid.deltaGates, plane(a.width, a.n), line(32), out(a.buffer, 0), out(b.buffer, 0),
			at(rates.values, 0), at(biases.values, 0), value([2]uint32{uint32(a.width), uint32(a.n)}))
	}, result{"decay", a}, result{"beta", b})
}

// mostRotated is the longest block that rotate_hadamard takes.
const mostRotated = 4096

func (s *stream) Hadamard(op string, dst, x engine.Buffer, r *engine.Rotation) {
	to, in := dst.(*buffer), x.(*buffer)
	if r.Block > mostRotated {
		s.fail(fmt.Errorf("weights are rotated in blocks of %d, and the shader takes %d at most", r.Block, mostRotated))
		return
	}
	arguments := struct {
		Width, Block uint32
		By           float32
		Inverse      uint32
		Rows, Run    uint32
	}{uint32(to.width), uint32(r.Block), float32(1 / math.Sqrt(float64(r.Block))), 0, uint32(r.Rows), uint32(max(1, r.Run))}
	if r.Inverse {
		arguments.Inverse = 1
	}
	s.do(op, work{moved: 8 * in.len()}, func() {
		signs := s.signsOf(r)
		if signs == nil || !s.resize(to, in.n) {
			return
		}
		s.groups(s.engine.hybrid.hadamard, plane(to.width/r.Block, in.n), reducing(r.Block),
			at(in.buffer, 0), at(signs, 0), out(to.buffer, 0), value(arguments))
	}, result{op, to})
}

// signsOf returns a rotation's signs on the device, nil after an error.
func (s *stream) signsOf(r *engine.Rotation) *metal.Buffer {
	if s.signs[r] == nil && s.err == nil {
		b, err := s.device.NewBuffer(4 * len(r.Signs))
		if err != nil {
			s.fail(err)
			return nil
		}
		copy(floatsOf(b), r.Signs)
		s.signs[r] = b
	}
	return s.signs[r]
}
