package verify

import (
	"fmt"
	"math"
	"slices"

	"onebit/formats"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/engine"
)

// An altered opener makes an engine that does what a variation says, out of one that
// is right.
type altered struct {
	engine.Opener
	v *Variation
	m *model
}

func (a altered) Open(src engine.Source) (engine.Engine, error) {
	scales := make(map[string]float64)
	e, err := a.Opener.Open(alteredSource{src, a, scales})
	if err != nil {
		return nil, err
	}
	return alteredEngine{e, a, scales}, nil
}

// An alteredSource has the tensors that a variation reads.
type alteredSource struct {
	engine.Source
	altered
	scales map[string]float64 // of tensors with one
}

func (s alteredSource) Tensor(name string) (formats.Tensor, error) {
	from := name
	if s.v.tied && name == arch.HeadTensor {
		from = arch.EmbeddingTensor
	}
	t, err := s.Source.Tensor(from)
	if err != nil {
		return t, err
	}
	t.Name = name
	switch {
	case s.v.read[t.Type] != nil:
		t, err = readAs(t, s.v.read[t.Type])
	case s.v.reorder && s.m.rotated(name):
		t, err = s.m.reordered(t)
	case s.v.wrap && oneScale(t.Type):
		var scale float32
		scale, err = t.Matrix().TensorScale()
		s.scales[t.Name] = float64(scale)
	}
	if err != nil {
		err = s.Fault(name, err)
	}
	return t, err
}

// InPlace is false: tensors are made.
func (s alteredSource) InPlace() bool { return false }

// readAs takes a tensor's bytes for those of another format, with zeros behind them
// if that one wants more.
func readAs(t formats.Tensor, to *formats.Type) (formats.Tensor, error) {
	rows, cols := t.Dims()
	m, err := to.NewMatrix(rows, cols)
	if err != nil {
		return t, err
	}
	copy(m.Data, t.Data)
	t.Type, t.Data = to, m.Data
	return t, nil
}

// reordered has the rows of each head in the order that the other pairing of the
// rotary embedding wants.
func (m *model) reordered(t formats.Tensor) (formats.Tensor, error) {
	values, err := t.Floats()
	if err != nil {
		return t, err
	}
	rows, cols := t.Dims()
	half := m.RotaryDim() / 2
	out := slices.Clone(values)
	for head := 0; head+m.HeadDim <= rows; head += m.HeadDim {
		for i := range half {
			side, apart := [2]int{head + 2*i, head + 2*i + 1}, [2]int{head + i, head + i + half}
			to, from := side, apart
			if m.table.AdjacentPairs {
				to, from = apart, side
			}
			for k := range to {
				copy(out[to[k]*cols:][:cols], values[from[k]*cols:][:cols])
			}
		}
	}
	made, err := formats.F32.NewMatrix(rows, cols)
	if err != nil {
		return t, err
	}
	t.Type, t.Data = made.Type, made.Data
	return t, made.Quantize(out)
}

// oneScale reports whether all weights of a tensor have one scale, so that sums run
// over whole rows.
func oneScale(t *formats.Type) bool {
	m, err := t.NewMatrix(1, someColumns)
	if err == nil {
		_, err = m.TensorScale()
	}
	return err == nil
}

// someColumns is a row that every format has.
const someColumns = 4096

type alteredEngine struct {
	engine.Engine
	altered
	scales map[string]float64
}

func (e alteredEngine) NewStream(opt engine.StreamOptions) (engine.Stream, error) {
	if e.v.otherPairs {
		opt.Rope.Adjacent = !opt.Rope.Adjacent
	}
	s, err := e.Engine.NewStream(opt)
	if err != nil {
		return nil, err
	}
	return &alteredStream{Stream: s, v: e.v, scales: e.scales, states: opt.States, seen: make([]seen, len(opt.States)), rounded: make(map[int]engine.Buffer)}, nil
}

// An alteredStream does some operations in its own way.
type alteredStream struct {
	engine.Stream
	v       *Variation
	scales  map[string]float64
	states  []engine.State
	block   int
	seen    []seen                // by block
	rounded map[int]engine.Buffer // by width
}

// seen is keys and values of the tokens so far.
type seen struct{ keys, values [][]float32 }

func (s *alteredStream) Enter(block int) {
	s.block = block
	s.Stream.Enter(block)
}

// read is what is in a buffer, to keep. What is wrong with it is wrong with the
// logits, which say so.
func (s *alteredStream) read(b engine.Buffer) []float32 {
	values, _ := s.Read(b)
	return slices.Clone(values)
}

func (s *alteredStream) Norm(op string, dst, x engine.Buffer, gain engine.Weight, eps float32) {
	if !slices.Contains(s.v.without, op) {
		s.Stream.Norm(op, dst, x, gain, eps)
	} else if dst != x {
		s.Write(dst, s.read(x))
	}
}

func (s *alteredStream) Gate(op string, gate, up engine.Buffer, f arch.Activation) {
	if s.v.gate != "" && f != arch.Sigmoid {
		f = s.v.gate
	}
	s.Stream.Gate(op, gate, up, f)
}

func (s *alteredStream) Multiply(op string, x engine.Buffer, products []engine.Product) {
	if s.v.Scheme == "" && !s.v.wrap || !coded(products[0].Weight.Info().Type) {
		s.Stream.Multiply(op, x, products)
		return
	}
	if s.rounded[x.Width()] == nil {
		s.rounded[x.Width()] = s.Buffer(x.Width())
	}
	q, values := s.rounded[x.Width()], s.read(x)
	scales := make([]float64, len(values)/x.Width())
	for c := range scales {
		column := values[c*x.Width():][:x.Width()]
		scales[c] = roundColumn(column, s.v.Scheme, s.v.wrap)
	}
	s.Write(q, values)
	s.Stream.Multiply(op, q, products)
	if s.v.wrap {
		for _, p := range products {
			s.wrapAround(p, scales)
		}
	}
}

// roundColumn rounds values to 8 bits with a scale for each group of a scheme, or for
// all of them, which it returns; codes leaves the codes.
func roundColumn(x []float32, scheme kernels.Scheme, codes bool) float64 {
	group := map[kernels.Scheme]int{kernels.Q8Per128: 128, kernels.Q8Per32: 32}[scheme]
	if group == 0 || group > len(x) {
		group = len(x)
	}
	var scale float64
	for part := range slices.Chunk(x, group) {
		var most float64
		for _, v := range part {
			most = max(most, math.Abs(float64(v)))
		}
		if scale = most / 127; scale == 0 {
			continue
		}
		for i, v := range part {
			q := math.RoundToEven(float64(v) / scale)
			if !codes {
				q *= scale
			}
			part[i] = float32(q)
		}
	}
	return scale
}

// wrapAround takes sums of integers for what 16 bits hold of them.
func (s *alteredStream) wrapAround(p engine.Product, scales []float64) {
	y, unit := s.read(p.Dst), s.scales[p.Weight.Info().Tensor]
	rows := p.Dst.Width()
	for i := range y {
		if unit > 0 {
			y[i] = float32(float64(int16(int64(math.Round(float64(y[i])/unit)))) * unit)
		}
		y[i] *= float32(scales[i/rows])
	}
	s.Write(p.Dst, y)
}

// Attend is the definition, of the tokens that the variation sees.
func (s *alteredStream) Attend(op string, dst, q, k, v engine.Buffer) {
	if s.v.sees == nil {
		s.Stream.Attend(op, dst, q, k, v)
		return
	}
	state, at := s.states[s.block].(engine.KV), s.Position()
	width := state.Heads * state.Dim
	kept := &s.seen[s.block]
	kept.keys = slices.AppendSeq(kept.keys[:at], slices.Chunk(s.read(k), width))
	kept.values = slices.AppendSeq(kept.values[:at], slices.Chunk(s.read(v), width))
	queries := s.read(q)
	out := make([]float32, len(queries))
	heads := q.Width() / state.Dim
	for i := range len(queries) / state.Dim {
		token, shared := at+i/heads, i%heads*state.Heads/heads*state.Dim
		s.attend(out[i*state.Dim:][:state.Dim], queries[i*state.Dim:][:state.Dim], kept, token, shared)
	}
	s.Write(dst, out)
}

// attend answers a head's query at a token; its keys and values lie at an offset.
func (s *alteredStream) attend(out, query []float32, kept *seen, token, offset int) {
	weights, most, total := make([]float64, token+1), math.Inf(-1), 0.0
	for u := range weights {
		weights[u] = math.Inf(-1)
		if s.v.sees(token, u) {
			weights[u] = 0
			for e, x := range query {
				weights[u] += float64(x) * float64(kept.keys[u][offset+e])
			}
			weights[u] /= math.Sqrt(float64(len(query)))
			most = max(most, weights[u])
		}
	}
	for u := range weights {
		weights[u] = math.Exp(weights[u] - most)
		total += weights[u]
	}
	for e := range out {
		var sum float64
		for u, w := range weights {
			sum += w * float64(kept.values[u][offset+e])
		}
		out[e] = float32(sum / total)
	}
}

// coded reports whether weights of a format are ternary or 1-bit codes, of less than 3
// bits each, whose products round the activations.
func coded(t *formats.Type) bool {
	n, err := t.Bytes(1, someColumns)
	return err == nil && n < someColumns*3/8
}

// text is a text as a variation takes it in, and by how many tokens it is shorter.
func (v *Variation) text(t Text) (tokens []int, shorter int) {
	switch {
	case !v.noBOS:
		return t.Tokens, 0
	case t.Instead >= 0:
		return append([]int{t.Instead}, t.Tokens[1:]...), 0
	}
	return t.Tokens[1:], 1
}

// A model is what variations ask of one.
type model struct {
	arch.Config
	table *arch.Table
	bos   bool
	types map[*formats.Type]bool
	names []string
}

func (m *model) hasNorms(ops []string) bool {
	return !slices.ContainsFunc(ops, func(op string) bool { return !slices.Contains(m.names, fmt.Sprintf("blk.0.%s.weight", op)) })
}

func (m *model) hasAny(of func(*formats.Type) bool) bool {
	for t := range m.types {
		if of(t) {
			return true
		}
	}
	return false
}

// rotated reports whether a tensor's outputs are rotated by the rotary embedding.
func (m *model) rotated(name string) bool {
	var block int
	var rest string
	_, err := fmt.Sscanf(name, "blk.%d.%s", &block, &rest)
	return err == nil && (rest == "attn_q.weight" || rest == "attn_k.weight")
}
