package cpu

import (
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/engine"
)

// A column is computed by one thread, or cut the same way whatever the number
// of threads, so that results do not depend on it.

// each calls task for every column, on all threads if that is worth a dispatch. It is
// told how many nanoseconds the tasks take together.
func (s *stream) each(n int, nanoseconds float64, task func(c int)) {
	if s.engine.pool.Worth(nanoseconds) {
		s.engine.pool.ForEach(n, task)
		return
	}
	for c := range n {
		task(c)
	}
}

func (s *stream) Embed(op string, dst engine.Buffer, w engine.Weight, ids []int) {
	start := s.begin()
	d, t := dst.(*buffer), w.(*table)
	rows, _ := t.Dims()
	d.resize(len(ids))
	for c, id := range ids {
		if err := t.Matrix().DequantizeRows(d.column(c), id, id+1); err != nil {
			s.failed = s.engine.source.Fault(t.Name, err)
		}
	}
	s.end(start, op, work{bytes: len(ids) * len(t.Data) / rows, moved: floatBytes(len(d.data))}, d)
}

func (s *stream) Norm(op string, dst, x engine.Buffer, w engine.Weight, eps float32) {
	start := s.begin()
	d, in, gain := dst.(*buffer), x.(*buffer), w.(*gain).values
	d.resize(in.n)
	if in.n == 1 {
		s.vec.norm(d.data, in.data, gain, eps)
	} else {
		s.each(in.n, normsCost(len(in.data), len(gain)), func(c int) { s.vec.norm(d.column(c), in.column(c), gain, eps) })
	}
	s.end(start, op, work{bytes: floatBytes(len(gain)), moved: floatBytes(len(in.data), len(d.data))}, d)
}

// norm is Norm of one column's runs. dst may be x.
func (v *Vectors) norm(dst, x, gain []float32, eps float32) {
	n := len(gain)
	for ; len(x) >= n; dst, x = dst[n:], x[n:] {
		v.RMSNorm(dst[:n], dst[:n], x[:n], gain, float64(eps))
	}
}

// Multiply quantizes the input once for all products that take it the same way,
// and dispatches them together.
func (s *stream) Multiply(op string, x engine.Buffer, products []engine.Product) {
	start := s.begin()
	in := x.(*buffer)
	var w work
	for len(products) > 0 {
		w.moved += floatBytes(len(in.data))
		s.gather(in, products)
		s.submit(in.data, in.n, &w)
		if s.looking {
			s.look()
		}
		if s.observer != nil {
			for i, p := range s.products {
				s.results = append(s.results, engine.Result{Name: s.multiplied[i].name, Values: p.Dst})
			}
		}
		products = products[len(s.products):]
	}
	if s.observer != nil {
		s.report(start, op, w, in.n, s.results)
	}
}

// submit multiplies x, so many columns, with s.products, and counts their work.
func (s *stream) submit(x []float32, columns int, w *work) {
	if s.engine.pool.Worth(productsCost(s.products)) {
		s.engine.pool.Do(x, columns, s.products...)
	} else {
		s.engine.pool.DoAlone(x, columns, s.products...)
	}
	for _, p := range s.products {
		w.bytes += len(p.Matrix.Data)
		w.moved += floatBytes(len(p.Dst))
		w.macs += len(p.Dst) * p.Matrix.Cols
	}
}

// gather puts the products of one scheme at the head of products into
// s.products.
func (s *stream) gather(in *buffer, products []engine.Product) {
	s.products, s.multiplied = s.products[:0], s.multiplied[:0]
	for _, p := range products {
		m, dst := p.Weight.(*matrix), p.Dst.(*buffer)
		if len(s.products) > 0 && m.Variant().Scheme != s.products[0].Variant.Scheme {
			return
		}
		now, err := s.engine.pin(m)
		if err != nil {
			s.failed = err
		}
		dst.resize(in.n)
		s.products = append(s.products, kernels.Product{Variant: now.variant, Matrix: now.matrix, Dst: dst.data})
		s.multiplied = append(s.multiplied, m)
		if s.engine.options.Packing == Stream && s.block != engine.Outside {
			s.touched = append(s.touched, m)
		}
	}
}

func (s *stream) Rotate(op string, q, k engine.Buffer) {
	start := s.begin()
	qs, ks := q.(*buffer), k.(*buffer)
	if s.n == 1 {
		s.vec.rotate(qs.data, s.cos, s.sin, &s.rope)
		s.vec.rotate(ks.data, s.cos, s.sin, &s.rope)
	} else {
		half := len(s.rope.Freq)
		s.each(s.n, ropeCost*float64(len(qs.data)+len(ks.data)), func(c int) {
			cos, sin := s.cos[c*half:][:half], s.sin[c*half:][:half]
			s.vec.rotate(qs.column(c), cos, sin, &s.rope)
			s.vec.rotate(ks.column(c), cos, sin, &s.rope)
		})
	}
	s.end(start, op, work{moved: 2 * floatBytes(len(qs.data), len(ks.data))}, qs)
}

// Attend makes heads that share keys and values one task, unless threads would
// go without.
func (s *stream) Attend(op string, dst, q, k, v engine.Buffer) {
	start := s.begin()
	w, tasks := s.beginAttend(1, dst.(*buffer), q.(*buffer), k.(*buffer), v.(*buffer))
	s.each(tasks, attendCost*float64(w.macs), s.attendTask)
	for s.to < s.n { // a ring has room for so many columns at a time
		more, tasks := s.attendNext(1)
		s.each(tasks, attendCost*float64(more.macs), s.attendTask)
		w.bytes, w.macs = w.bytes+more.bytes, w.macs+more.macs
	}
	s.end(start, op, w, s.dst)
}

// AttendEach implements engine.Attender: what Attend does for each text is shared
// among threads for all of them at once.
func (s *stream) AttendEach(op string, texts []engine.Stream, dst, q, k, v engine.Buffer) {
	start := s.begin()
	d := dst.(*buffer)
	d.resize(len(texts))
	column := func(b engine.Buffer, c int) *buffer { return s.Column(b, c).(*buffer) }
	var all work
	s.attending, s.attendEach = s.attending[:0], 0
	for c, t := range texts {
		t := t.(*stream)
		w, tasks := t.beginAttend(len(texts), column(d, c), column(q, c), column(k, c), column(v, c))
		all.bytes, all.moved, all.macs, all.int8 = all.bytes+w.bytes, all.moved+w.moved, all.macs+w.macs, w.int8
		s.attending, s.attendEach = append(s.attending, t), tasks
	}
	s.each(len(texts)*s.attendEach, attendCost*float64(all.macs), s.attendingTask)
	s.end(start, op, all, d)
}

// attendOne is a task of one of the texts of AttendEach.
func (s *stream) attendOne(i int) { s.attending[i/s.attendEach].attendRuns(i % s.attendEach) }

// beginAttend stores the batch's keys and values and returns what is to be done, and
// in how many tasks, beside those of so many texts.
func (s *stream) beginAttend(texts int, dst, q, k, v *buffer) (w work, tasks int) {
	s.dst, s.q, s.k, s.v = dst, q, k, v
	s.dst.resize(s.n)
	for len(s.attentions) < cap(s.attentions) {
		s.attentions <- s.newAttention()
	}
	s.to = 0
	return s.attendNext(texts)
}

// attendNext is beginAttend for the columns behind s.to: all or, where a block has a ring,
// as many as that has room for.
func (s *stream) attendNext(texts int) (w work, tasks int) {
	s.from, s.to = s.to, s.n
	if s.windows[s.block] > 0 {
		s.to = min(s.from+max(1, s.batch), s.n)
		s.ring.write(s.position + s.to)
	}
	n := s.to - s.from
	if stores := storeTasks(s.position+s.from, n); stores == 1 {
		s.storeColumns(0)
	} else {
		s.each(stores, storeCost*float64(n*(s.k.width+s.v.width)), s.storeTask)
	}
	run := attendRun(s.group())
	runs := (n + run - 1) / run
	s.attendHeads = s.group()
	if texts*s.cache.heads*runs < s.engine.pool.Threads() {
		s.attendHeads = 1
	}
	return s.attention(), s.heads() / s.attendHeads * runs
}

// heads is the number of query heads, group of those that share keys and
// values.
func (s *stream) heads() int { return s.q.width / s.cache.dim }
func (s *stream) group() int { return s.heads() / s.cache.heads }

// attention is the work of Attend. Every head has a column's query meet the
// keys of all positions up to its own, or in its window, and their values.
func (s *stream) attention() work {
	n, position := s.to-s.from, s.position+s.from
	positions, seen := n*position+n*(n+1)/2, position+n
	if window := s.windows[s.block]; window > 0 && seen > window {
		seen, positions = min(seen, window+n-1), 0
		for c := range n {
			positions += min(position+c+1, window)
		}
	}
	return work{
		bytes: s.cache.bytes(seen), moved: floatBytes(len(s.q.data), len(s.k.data), len(s.v.data), len(s.dst.data)),
		macs: 2 * positions * s.q.width, int8: s.cache.int8,
	}
}

// storeTogether is how many positions are stored by one task: values of four in q4_0
// share bytes.
const storeTogether = 4

// storeTasks returns how many tasks store n columns from a position on.
func storeTasks(position, n int) int {
	return roundUp(position%storeTogether+n, storeTogether) / storeTogether
}

// storedBy returns the columns [from, to) that a task stores.
func storedBy(task, position, n int) (from, to int) {
	from = task*storeTogether - position%storeTogether
	return max(from, 0), min(from+storeTogether, n)
}

// storeColumns is task i of storing keys and values.
func (s *stream) storeColumns(i int) {
	a := <-s.attentions
	kv := s.kept()
	from, to := storedBy(i, s.position+s.from, s.to-s.from)
	for c := s.from + from; c < s.from+to; c++ {
		kv.put(s.block, s.position+c, s.k.column(c), s.v.column(c), &a.writer)
	}
	s.attentions <- a
}

// attendRuns is task i of Attend: some heads of a run of columns.
func (s *stream) attendRuns(i int) {
	a := <-s.attentions
	tasks := s.heads() / s.attendHeads
	run := attendRun(s.group())
	head, from := i%tasks*s.attendHeads, s.from+i/tasks*run
	a.answer(s, head, s.attendHeads, from, min(from+run, s.to))
	s.attentions <- a
}

// Gate is SwiGLU's inner part (Shazeer, arXiv:2002.05202) or its like with
// squared ReLU (So et al., arXiv:2109.08668).
func (s *stream) Gate(op string, gate, up engine.Buffer, f arch.Activation) {
	start := s.begin()
	s.dst, s.v = gate.(*buffer), up.(*buffer)
	s.activation = f
	s.each((len(s.dst.data)+gateLen-1)/gateLen, gateCost(f)*float64(len(s.dst.data)), s.gateTask)
	s.end(start, op, work{moved: floatBytes(2*len(s.dst.data), len(s.v.data))}, s.dst)
}

// gateLen is how many values of the gate are one task: few enough for the
// gate of one column to be shared evenly.
const gateLen = 512

func (s *stream) gateChunk(i int) {
	from, end := i*gateLen, min((i+1)*gateLen, len(s.dst.data))
	s.vec.gate(s.dst.data[from:end], s.v.data[from:end], s.activation)
}

// gate is Gate of some values.
func (v *Vectors) gate(gate, up []float32, f arch.Activation) {
	switch f {
	case arch.ReLU2: // whose squares overflow fp16, which is why all of this is float32
		v.SquaredReLU(gate, gate)
	case arch.Sigmoid:
		v.Sigmoid(gate, gate)
	default:
		v.SiLU(gate, gate)
	}
	v.Mul(gate, gate, up)
}

func (s *stream) Clamp(op string, x engine.Buffer, least, most float32) {
	start := s.begin()
	b := x.(*buffer)
	s.each(b.n, clampCost*float64(len(b.data)), func(c int) {
		column := b.column(c)
		for i, v := range column {
			column[i] = min(max(v, least), most)
		}
	})
	s.end(start, op, work{moved: floatBytes(2 * len(b.data))}, b)
}

func (s *stream) Add(op string, x, y engine.Buffer) {
	start := s.begin()
	a, b := x.(*buffer), y.(*buffer)
	if a.n == 1 {
		s.vec.Add(a.data, b.data)
	} else {
		s.each(a.n, addCost*float64(len(a.data)), func(c int) { s.vec.Add(a.column(c), b.column(c)) })
	}
	s.end(start, op, work{moved: floatBytes(2*len(a.data), len(b.data))}, a)
}

func (s *stream) Scale(op string, x engine.Buffer, by float32) {
	start := s.begin()
	b := x.(*buffer)
	s.vec.Scale(b.data, by, b.data)
	s.end(start, op, work{moved: floatBytes(2 * len(b.data))}, b)
}

func (s *stream) Take(dst, x engine.Buffer, from, end int) {
	d, in := dst.(*buffer), x.(*buffer)
	d.resize(end - from)
	copy(d.data, in.data[from*in.width:end*in.width])
}
