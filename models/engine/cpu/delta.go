package cpu

import (
	"fmt"
	"math"

	"onebit/internal/math32"
	"onebit/models/engine"
)

// A delta is the state of a block that is a gated delta net, and what its
// operations compute, in float32 as they are specified.
type delta struct {
	engine.Delta
	// slabs are the matrices of the value heads, in slabs of slabWidth columns,
	// the last of a head as many as are left: [head][slab][key][column].
	slabs []float32
	// window has the last Taps-1 inputs of all channels, the oldest at oldest,
	// in a ring.
	window []float32
	oldest int
	tokens int  // that the state has taken in
	begun  bool // a batch has changed the state and not ended
	marked deltaMark
}

// A deltaMark is a copy of a state after so many tokens; 0: there is none.
type deltaMark struct {
	slabs, window  []float32
	oldest, tokens int
}

// slabWidth is how many columns of a matrix are one task: few enough for those
// of 128 keys to stay in a first-level cache while a batch goes through them,
// and rows of whole cache lines. No column reads another.
const slabWidth = 32

func newDelta(d engine.Delta) *delta {
	return &delta{
		Delta:  d,
		slabs:  make([]float32, d.ValueHeads*d.KeyDim*d.ValueDim),
		window: make([]float32, d.Channels*max(d.Taps-1, 0)),
	}
}

// slabsOfHead returns how many slabs a matrix has.
func (d *delta) slabsOfHead() int { return (d.ValueDim + slabWidth - 1) / slabWidth }

func (d *delta) advance(n int) {
	if d != nil {
		d.tokens, d.begun = d.tokens+n, false
	}
}

// mark copies the state.
func (d *delta) mark() {
	if d == nil {
		return
	}
	m := &d.marked
	m.slabs, m.window = append(m.slabs[:0], d.slabs...), append(m.window[:0], d.window...)
	m.oldest, m.tokens = d.oldest, d.tokens
}

// truncate goes back to the start or to the mark, or stays. Behind a mark that
// is gone back beyond there will be another text.
func (d *delta) truncate(n int) error {
	switch {
	case d == nil || n == d.tokens && !d.begun:
	case n == 0:
		clear(d.slabs)
		clear(d.window)
		d.tokens, d.begun, d.marked.tokens = 0, false, 0
	case n == d.marked.tokens:
		copy(d.slabs, d.marked.slabs)
		copy(d.window, d.marked.window)
		d.oldest, d.tokens, d.begun = d.marked.oldest, n, false
	default:
		return fmt.Errorf("%w to %d of %d tokens", engine.ErrNoRollback, n, d.tokens)
	}
	return nil
}

func (d *delta) bytes() int {
	if d == nil {
		return 0
	}
	return floatBytes(len(d.slabs), len(d.window))
}

// A deltaCall is the arguments of an operation in progress.
type deltaCall struct {
	*delta
	dst, q, k, v, decay, beta *buffer
	taps                      []float32 // Taps × Channels
}

// convolveTask is how many channels are one task: enough for what a call costs
// to be little of it, few enough for the last inputs and taps of the channels to
// stay in a first-level cache.
const convolveTask = 256

func (s *stream) Convolve(op string, x engine.Buffer, w engine.Weight) {
	start := s.begin()
	in, d := x.(*buffer), s.deltas[s.block]
	d.begun = true
	s.delta = deltaCall{delta: d, dst: in, taps: w.(*gain).columns()}
	s.latest = grow(s.latest, len(d.window))
	s.each((in.width+convolveTask-1)/convolveTask, convolveCost*float64(len(in.data)), s.convolveTask)
	if past := d.Taps - 1; past > 0 {
		d.oldest = (d.oldest + in.n) % past
	}
	taps := len(s.delta.taps)
	s.end(start, op, work{bytes: floatBytes(taps, 2*len(d.window)), moved: 2 * floatBytes(len(in.data)), macs: in.n * taps}, in)
}

// convolveChannels takes some channels through the batch:
//
//	x = silu(x·taps[last] + oldest·taps[0] + …)
//
// The last token comes first: those before it still have their inputs then, and
// the results take the inputs' place.
func (s *stream) convolveChannels(i int) {
	c, vec := &s.delta, s.vec
	from := i * convolveTask
	width, past := c.dst.width, c.Taps-1
	n := min(convolveTask, width-from)
	column := func(t int) []float32 { return c.dst.column(t)[from:][:n] }
	place := func(ring []float32, t int) []float32 { return ring[(c.oldest+t)%past*width+from:][:n] }
	for t := max(0, c.dst.n-past); t < c.dst.n; t++ {
		copy(place(s.latest, t), column(t))
	}
	for t := c.dst.n - 1; t >= 0; t-- {
		x := column(t)
		vec.Mul(x, x, c.taps[past*width+from:][:n])
		for i := range past {
			var input []float32
			if before := t - past + i; before < 0 {
				input = place(c.window, before+past)
			} else {
				input = column(before)
			}
			vec.MulAdd(x, input, c.taps[i*width+from:][:n])
		}
		vec.SiLU(x, x)
	}
	for t := max(0, c.dst.n-past); t < c.dst.n; t++ {
		copy(place(c.window, t), place(s.latest, t))
	}
}

func (s *stream) DeltaRule(op string, dst, q, k, v, decay, beta engine.Buffer) {
	start := s.begin()
	d := s.deltas[s.block]
	s.delta = deltaCall{d, dst.(*buffer), q.(*buffer), k.(*buffer), v.(*buffer), decay.(*buffer), beta.(*buffer), nil}
	c := &s.delta
	c.dst.resize(c.q.n)
	d.begun = true
	s.each(d.ValueHeads*d.slabsOfHead(), deltaCost*float64(c.q.n*len(d.slabs)), s.deltaTask)
	s.end(start, op, work{
		bytes: 2 * floatBytes(len(d.slabs)), macs: 3 * c.q.n * len(d.slabs),
		moved: floatBytes(len(c.q.data), len(c.k.data), len(c.v.data), len(c.dst.data)),
	}, c.dst)
}

// deltaSlab takes a slab of a matrix through the batch.
func (s *stream) deltaSlab(i int) {
	c := &s.delta
	head, from := i/c.slabsOfHead(), i%c.slabsOfHead()*slabWidth
	n := min(slabWidth, c.ValueDim-from)
	slab := c.slabs[(head*c.ValueDim+from)*c.KeyDim:][:n*c.KeyDim]
	key, value := c.KeyHead(head)*c.KeyDim, head*c.ValueDim+from
	for t := range c.q.n {
		s.vec.deltaRule(slab, c.q.column(t)[key:][:c.KeyDim], c.k.column(t)[key:][:c.KeyDim],
			c.v.column(t)[value:][:n], c.dst.column(t)[value:][:n], c.decay.column(t)[head], c.beta.column(t)[head])
	}
}

// deltaRuleScalar takes a token into columns of a matrix, and answers its query:
// the prediction is that of the decayed state.
func deltaRuleScalar(matrix, q, k, v, out []float32, decay, beta float32) {
	n := len(out)
	clear(out)
	for i, x := range k {
		row := matrix[i*n:][:n]
		for j := range row {
			row[j] *= decay
			out[j] += float32(row[j] * x)
		}
	}
	var by [slabWidth]float32
	for j := range out {
		by[j] = float32(v[j]-out[j]) * beta
	}
	clear(out)
	for i, x := range k {
		row := matrix[i*n:][:n]
		for j := range row {
			row[j] += float32(x * by[j])
			out[j] += float32(row[j] * q[i])
		}
	}
}

// A gatesCall is the arguments of DeltaGates.
type gatesCall struct {
	decay, beta *buffer
	rate, bias  []float32
}

func (s *stream) DeltaGates(op string, decay, beta engine.Buffer, rate, bias engine.Weight) {
	start := s.begin()
	a, b := decay.(*buffer), beta.(*buffer)
	s.gates = gatesCall{a, b, rate.(*gain).values, bias.(*gain).values}
	s.each(a.n, deltaGateCost*float64(len(a.data)+len(b.data)), s.gatesTask)
	if s.observer != nil {
		s.report(start, op, work{moved: 2 * floatBytes(len(a.data), len(b.data))}, a.n,
			append(s.results[:0], engine.Result{Name: "decay", Values: a.data}, engine.Result{Name: "beta", Values: b.data}))
	}
}

func (s *stream) gatesColumn(i int) {
	c := &s.gates
	decay, beta := c.decay.column(i), c.beta.column(i)
	for h, z := range decay {
		decay[h] = math32.Exp(float32(c.rate[h] * math32.Softplus(z+c.bias[h])))
	}
	for h, z := range beta {
		beta[h] = math32.Sigmoid(z)
	}
}

func (s *stream) Normalize(op string, x engine.Buffer, run int, eps, scale float32) {
	start := s.begin()
	b := x.(*buffer)
	s.normalize = normalizeCall{b, run, eps, scale}
	s.each(b.n, normsCost(len(b.data), run), s.normalizeTask)
	s.end(start, op, work{moved: 2 * floatBytes(len(b.data))}, b)
}

type normalizeCall struct {
	x          *buffer
	run        int
	eps, scale float32
}

func (s *stream) normalizeColumn(c int) {
	a := &s.normalize
	for x := a.x.column(c); len(x) > 0; x = x[a.run:] {
		run := x[:a.run]
		s.vec.Scale(run, float32(float64(a.scale)/math.Sqrt(s.vec.Dot(run, run)+float64(a.eps))), run)
	}
}

// A selectCall is the arguments of Select.
type selectCall struct {
	dst, x            *buffer
	from, run, stride int
}

func (s *stream) Select(op string, dst, x engine.Buffer, from, run, stride int) {
	start := s.begin()
	s.selected = selectCall{dst.(*buffer), x.(*buffer), from, run, stride}
	to, in := s.selected.dst, s.selected.x
	to.resize(in.n)
	s.each(in.n, addCost*float64(len(to.data)), s.selectTask)
	s.end(start, op, work{moved: 2 * floatBytes(len(to.data))}, to)
}

func (s *stream) selectColumn(i int) {
	c := &s.selected
	out, column := c.dst.column(i), c.x.column(i)
	for ; len(out) > 0; out = out[c.run:] {
		copy(out[:c.run], column[c.from:][:c.run])
		column = column[min(c.stride, len(column)):]
	}
}
