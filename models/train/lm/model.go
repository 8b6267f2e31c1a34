package lm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"onebit/internal/aligned"
	"onebit/kernels"
	"onebit/kernels/vectors"
	"onebit/models/arch"
	"onebit/models/train"
)

// A Model is a transformer with its weights in float32, which are rounded in each
// pass. Its rows are tokens of whole windows.
type Model struct {
	Table  *arch.Table
	Config arch.Config
	Time   *Stopwatch

	shape   Shape
	build   *train.Builder
	tied    *tied
	blocks  []*block
	norm    *train.Norm // before the head
	teacher *teacher    // nil: none
	params  []*train.Param
	layers  []*train.BitLinear // all that round weights

	grad []float32 // of the logits
}

// Shape is what a model is made of.
type Shape struct {
	Table     *arch.Table
	Config    arch.Config
	Form      *train.Form // of the projections
	Embedding *train.Form // of the embedding, which is the head too
	Length    int         // of a window, in tokens
}

// check says what of the shape cannot be trained.
func (s Shape) check() error {
	c := s.Config
	if bad := c.Check(); bad != nil {
		return fmt.Errorf("%s: %s", bad.Key, bad.Msg)
	}
	switch {
	case !c.TiedHead:
		return fmt.Errorf("a head of its own is not trained: the embedding is the head")
	case c.RopeScaling.Type != "" && c.RopeScaling.Type != "none":
		return fmt.Errorf("a stretched RoPE (%s) is not trained", c.RopeScaling.Type)
	case s.Length < 2 || s.Length > c.Context:
		return fmt.Errorf("windows of %d tokens are not between 2 and the context of %d", s.Length, c.Context)
	case activations[s.Table.Activation].value == nil:
		return fmt.Errorf("activation %s of %s is not trained", s.Table.Activation, s.Table.Name)
	}
	for _, t := range s.Table.Tensors(c) {
		form := s.formOf(t.Role)
		if form == nil {
			continue
		}
		rows, cols := t.Dims()
		if err := (train.Options{Form: form}).Check(cols, rows); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
		if form.Type == nil {
			continue
		}
		if _, err := form.Type.Bytes(rows, cols); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
	}
	return nil
}

// formOf returns that of a role's matrices; nil for norms.
func (s Shape) formOf(r arch.Role) *train.Form {
	switch r {
	case arch.Projection:
		return s.Form
	case arch.Embedding, arch.Head:
		return s.Embedding
	}
	return nil
}

// NewModel returns one with random weights, whose passes run on pool.
func NewModel(s Shape, pool *kernels.Pool, seed uint64) (*Model, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	m := &Model{Table: s.Table, Config: s.Config, Time: &Stopwatch{}, shape: s, build: train.NewBuilder(pool, seed)}
	c := s.Config
	m.tied = &tied{head: m.linear(s, arch.EmbeddingTensor, c.Vocab, c.Hidden), build: m.build}
	scale(m.tied.head.Weight.W, math.Sqrt(3)) // a deviation of 1/√Hidden: logits of 1 at first
	m.norm = m.build.RMSNorm(layerName(arch.OutputNormTensor), c.Hidden, float64(c.Eps))
	m.params = append(m.params, m.norm.Params()...)
	turn := newRope(m.build, c.HeadDim, s.Length, float64(c.RopeBase))
	for n := range c.Layers {
		m.blocks = append(m.blocks, m.block(s, n, turn))
	}
	return m, nil
}

func layerName(tensor string) string { return strings.TrimSuffix(tensor, ".weight") }

func (m *Model) linear(s Shape, tensor string, out, in int) *train.BitLinear {
	role := arch.Projection
	if tensor == arch.EmbeddingTensor {
		role = arch.Embedding
	}
	l := m.build.BitLinear(layerName(tensor), in, out, train.Options{Form: s.formOf(role)})
	m.params = append(m.params, l.Params()...)
	m.layers = append(m.layers, l)
	return l
}

func (m *Model) block(s Shape, n int, turn *rope) *block {
	c, loops := s.Config, vectors.Best()
	b := &block{
		linears: map[string]*train.BitLinear{}, norms: map[string]*train.Norm{},
		qRope: turn.tied(), kRope: turn.tied(),
		attention: &attention{build: m.build, loops: loops, heads: c.Heads, kvHeads: c.KVHeads, width: c.HeadDim, length: s.Length},
		gate:      &gate{build: m.build, loops: loops, activation: activations[s.Table.Activation]},
		heads:     c.Heads, kv: c.KVHeads, build: m.build, time: m.Time, loops: loops,
	}
	for i, t := range s.Table.BlockTensors(c, n) {
		name := s.Table.Block[i].Name
		if t.Role == arch.Norm {
			b.norms[name] = m.build.RMSNorm(layerName(t.Name), t.Shape[0], float64(c.Eps))
			m.params = append(m.params, b.norms[name].Params()...)
			continue
		}
		b.linears[name] = m.linear(s, t.Name, t.Shape[0], t.Shape[1])
		if name == "attn_output" || name == "ffn_down" {
			// So that the residual stream does not grow with the blocks that add to it
			// (Radford et al., "Language Models are Unsupervised Multitask Learners", 2.3).
			scale(b.linears[name].Weight.W, 1/math.Sqrt(2*float64(c.Layers)))
		}
	}
	return b
}

func scale(w []float32, factor float64) {
	for i := range w {
		w[i] *= float32(factor)
	}
}

// Params returns all parameters, by the names of their tensors.
func (m *Model) Params() []*train.Param { return m.params }

// Weights returns how many there are.
func (m *Model) Weights() (n int) {
	for _, p := range m.params {
		n += len(p.W)
	}
	return n
}

// Freeze rounds all weights once for the passes until Thaw, in which they must not
// change.
func (m *Model) Freeze() { m.freeze((*train.BitLinear).Freeze) }

// Thaw ends that.
func (m *Model) Thaw() { m.freeze((*train.BitLinear).Thaw) }

func (m *Model) freeze(do func(*train.BitLinear)) {
	defer m.Time.start(Products)()
	for _, l := range m.layers {
		do(l)
	}
}

// Logits returns, for each token of whole windows, the logits of the next, valid
// until the next pass.
func (m *Model) Logits(ids []int32) []float32 {
	x := m.embed(ids)
	for _, b := range m.blocks {
		x = b.forward(x)
	}
	x = m.outputNorm(x)
	defer m.Time.start(Products)()
	return m.tied.head.Forward(x)
}

func (m *Model) embed(ids []int32) []float32 {
	defer m.Time.start(Other)()
	return m.tied.embed(ids)
}

func (m *Model) outputNorm(x []float32) []float32 {
	defer m.Time.start(Norms)()
	return m.norm.Forward(x)
}

// Pass returns the mean loss in nats of predicting targets, a token for each of ids,
// and adds its gradients to the parameters'. A teacher has its share in both.
func (m *Model) Pass(ids, targets []int32) float64 {
	logits := m.Logits(ids)
	m.grad = aligned.Grow(m.grad, len(logits), nil)
	stop := m.Time.start(Loss)
	loss := train.CrossEntropy(m.build.Pool, m.grad, logits, targets, m.Config.Vocab)
	stop()
	if m.teacher != nil {
		loss = m.teacher.distil(ids, targets, logits, m.grad, loss)
	}
	m.backward(m.grad)
	return loss
}

func (m *Model) backward(grad []float32) {
	stop := m.Time.start(Products)
	g := m.tied.head.Backward(grad)
	stop()
	stop = m.Time.start(Norms)
	g = m.norm.Backward(g)
	stop()
	for _, b := range slices.Backward(m.blocks) {
		g = b.backward(g)
	}
	defer m.Time.start(Other)()
	m.tied.embedBackward(g)
}
