package models

import (
	"onebit/kernels"
	"onebit/models/arch"
)

// The operations that architectures are written in. Each takes the batch's
// columns from one buffer of the session to another and reports itself to the
// observer. A column is computed by one thread, or cut the same way whatever
// the number of threads, so that results do not depend on it.

// into is a layer and where its output goes.
type into struct {
	layer *Linear
	dst   []float32
}

// multiply is dst = W·x for several layers of the same input: one submission,
// in which the input is quantized once, for all that take it the same way.
func (s *Session) multiply(name string, x []float32, layers ...into) {
	start := s.begin()
	var w work
	for len(layers) > 0 {
		w.moved += floatBytes(len(x))
		s.products = s.products[:0]
		for _, l := range layers {
			now := l.layer.weights.Load()
			if len(s.products) > 0 && now.variant.Scheme != s.products[0].Variant.Scheme {
				break
			}
			s.products = append(s.products, kernels.Product{Variant: now.variant, Matrix: now.matrix, Dst: l.dst})
			w.bytes += len(now.matrix.Data)
			w.moved += floatBytes(len(l.dst))
			w.macs += len(l.dst) * l.layer.Cols
		}
		s.model.pool.Do(x, s.n, s.products...)
		if s.looking {
			s.look(layers[:len(s.products)])
		}
		if s.observer != nil {
			s.collect(layers[:len(s.products)])
		}
		layers = layers[len(s.products):]
	}
	if s.observer != nil {
		s.report(start, name, w, s.results)
	}
}

// look remembers whether a product was not finite. One column of each tells.
func (s *Session) look(layers []into) {
	for _, l := range layers {
		if !allFinite(l.dst[:l.layer.Rows]) {
			s.doubtful = true
		}
	}
}

func (s *Session) collect(layers []into) {
	for _, l := range layers {
		s.results = append(s.results, Result{l.layer.Name, l.dst})
	}
}

// rmsNorm normalizes every run of len(gain) values.
func (s *Session) rmsNorm(name string, dst, x, gain []float32) {
	start := s.begin()
	eps, width := s.model.Config.Eps, len(x)/s.n
	if s.n == 1 {
		rmsNorm(dst, x, gain, eps)
	} else {
		s.model.pool.ForEach(s.n, func(c int) {
			rmsNorm(dst[c*width:][:width], x[c*width:][:width], gain, eps)
		})
	}
	s.end(start, name, work{bytes: floatBytes(len(gain)), moved: floatBytes(len(x), len(dst))}, dst)
}

// rotate applies the rotary embedding to queries and keys.
func (s *Session) rotate(name string, q, k []float32) {
	start := s.begin()
	if s.n == 1 {
		rotate(q, s.cos, s.sin)
		rotate(k, s.cos, s.sin)
	} else {
		half, widthQ, widthK := len(s.cos)/s.n, len(q)/s.n, len(k)/s.n
		s.model.pool.ForEach(s.n, func(c int) {
			cos, sin := s.cos[c*half:][:half], s.sin[c*half:][:half]
			rotate(q[c*widthQ:][:widthQ], cos, sin)
			rotate(k[c*widthK:][:widthK], cos, sin)
		})
	}
	s.end(start, name, work{moved: 2 * floatBytes(len(q), len(k))}, q)
}

// attend stores the batch's keys s.k and values s.v, and answers every
// column's queries s.q, in s.att, from all positions up to its own.
func (s *Session) attend(name string) {
	start := s.begin()
	if s.n == 1 {
		s.storeColumn(0)
	} else {
		s.model.pool.ForEach(s.n, s.storeTask)
	}
	// Heads that share keys and values are one task, unless threads would go
	// without.
	kvHeads, runs := s.model.Config.KVHeads, (s.n+attendRun-1)/attendRun
	s.attendHeads = s.group()
	if kvHeads*runs < s.model.pool.Threads() {
		s.attendHeads = 1
	}
	s.model.pool.ForEach(s.model.Config.Heads/s.attendHeads*runs, s.attendTask)
	s.end(start, name, s.attention(), s.att)
}

// attention is the work of attend. Every head has a column's query meet the
// keys of all positions up to its own, and their values.
func (s *Session) attention() work {
	positions := s.n*s.position + s.n*(s.n+1)/2
	return work{
		bytes: s.cache.bytes(s.position + s.n), moved: floatBytes(len(s.q), len(s.k), len(s.v), len(s.att)),
		macs: 2 * positions * s.model.Config.Heads * s.model.Config.HeadDim,
	}
}

// storeColumn stores the keys and values of a column.
func (s *Session) storeColumn(c int) {
	a := <-s.attentions
	width := len(s.k) / s.n
	s.cache.put(s.block, s.position+c, s.k[c*width:][:width], s.v[c*width:][:width], &a.acts)
	s.attentions <- a
}

// attendRuns is task i of attend: some heads of a run of columns.
func (s *Session) attendRuns(i int) {
	a := <-s.attentions
	tasks := s.model.Config.Heads / s.attendHeads
	head, from := i%tasks*s.attendHeads, i/tasks*attendRun
	a.answer(s, head, s.attendHeads, from, min(from+attendRun, s.n))
	s.attentions <- a
}

// activate multiplies s.gate, activated, with s.up, in place.
func (s *Session) activate(name string) {
	start := s.begin()
	s.model.pool.ForEach((len(s.gate)+activateLen-1)/activateLen, s.activateTask)
	s.end(start, name, work{moved: floatBytes(2*len(s.gate), len(s.up))}, s.gate)
}

// activateLen is how many values of the gate are one task: few enough for the
// gate of one column to be shared evenly.
const activateLen = 512

func (s *Session) activateChunk(i int) {
	from, end := i*activateLen, min((i+1)*activateLen, len(s.gate))
	activateGate(s.model.Arch.Activation, s.gate[from:end], s.up[from:end])
}

// add adds to the residual stream.
func (s *Session) add(name string, x, y []float32) {
	start := s.begin()
	if s.n == 1 {
		add(x, y)
	} else {
		width := len(x) / s.n
		s.model.pool.ForEach(s.n, func(c int) { add(x[c*width:][:width], y[c*width:][:width]) })
	}
	s.end(start, name, work{moved: floatBytes(2*len(x), len(y))}, x)
}

// activateGate multiplies the gate's activation with up, in place: SwiGLU's inner
// part (Shazeer, arXiv:2002.05202) or its like with squared ReLU (So et al.,
// arXiv:2109.08668).
func activateGate(a arch.Activation, gate, up []float32) {
	if a == arch.ReLU2 {
		relu2(gate, up)
		return
	}
	silu(gate, up)
}
