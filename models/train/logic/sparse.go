package logic

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"onebit/internal/aligned"
	"onebit/models/train"
)

// A Sparse is NanoLogic's network (src/model/sparse_logic.py), at any width: from a
// state's bits to logits for the next state's. One block is applied several times,
//
//	x ← x + tanh(gate)·block(x)        gate is 0 at first
//	block(x) = a + mlp(norm(a)),  a = x + W·gather(norm(x))
//	mlp(x) = W₂·silu(conv(W₁·x))       W₁ to 4 times the width, conv depthwise, 3 taps
//
// with products of a BitLinear. The convolution, the norms and the embeddings of bits
// and of places have float weights.
type Sparse struct {
	Width, Loops int

	bits, places *train.Embedding
	loops        []*loop
	gate         *train.Param
	norm         *train.Norm
	head         *train.BitLinear

	ids, at []int32
	x       []float32
	grad    []float32
}

// A loop is one application of the block: its own buffers, the others' parameters.
type loop struct {
	gate        *train.Param
	norm1       *train.Norm
	gather      *gather
	project     *train.BitLinear
	norm2       *train.Norm
	expand      *train.BitLinear
	convolution *convolution
	silu        *train.Pointwise
	contract    *train.BitLinear

	x, a, block, y []float32 // x is the caller's
	ga, gx         []float32
}

// NewSparse returns a network of that width, with the options for its products.
func NewSparse(b *train.Builder, width, loops int, opt train.Options) (*Sparse, error) {
	if width < 1 || loops < 1 {
		return nil, fmt.Errorf("a network of width %d with %d loops is empty", width, loops)
	}
	opt.Bias = true
	for _, shape := range [][2]int{{gathers * width, width}, {width, 4 * width}, {4 * width, width}, {width, 1}} {
		if err := opt.Check(shape[0], shape[1]); err != nil {
			return nil, err
		}
	}
	s := &Sparse{
		Width: width, Loops: loops,
		bits:   b.Embedding("bits", 2, width, 1),
		places: b.Embedding("places", Bits, width, 1),
		gate:   train.NewParam("gate", 1),
		norm:   b.LayerNorm("norm", width, 1e-5),
		head:   b.BitLinear("head", width, 1, opt),
	}
	first := &loop{
		gate:        s.gate,
		norm1:       b.LayerNorm("block.norm1", width, 1e-5),
		gather:      &gather{width: width, builder: b},
		project:     b.BitLinear("block.project", gathers*width, width, opt),
		norm2:       b.LayerNorm("block.norm2", width, 1e-5),
		expand:      b.BitLinear("block.expand", width, 4*width, opt),
		convolution: newConvolution(b, "block.convolution", 4*width),
		silu:        b.Pointwise(train.SiLU),
		contract:    b.BitLinear("block.contract", 4*width, width, opt),
	}
	s.loops = []*loop{first}
	for range loops - 1 {
		s.loops = append(s.loops, first.tied(b))
	}
	return s, nil
}

func (l *loop) tied(b *train.Builder) *loop {
	return &loop{
		gate: l.gate, norm1: l.norm1.Tied(), gather: &gather{width: l.gather.width, builder: b}, project: l.project.Tied(),
		norm2: l.norm2.Tied(), expand: l.expand.Tied(), convolution: l.convolution.tied(), silu: b.Pointwise(train.SiLU), contract: l.contract.Tied(),
	}
}

// Params returns the parameters: those of the block once, however often it is
// applied.
func (s *Sparse) Params() (all []*train.Param) {
	l := s.loops[0]
	all = append(s.bits.Params(), s.places.Params()...)
	all = append(all, s.gate)
	for _, layer := range []train.Layer{l.norm1, l.project, l.norm2, l.expand, l.convolution, l.contract, s.norm, s.head} {
		all = append(all, layer.Params()...)
	}
	return all
}

// Products returns the layers whose weights are rounded.
func (s *Sparse) Products() []*train.BitLinear {
	l := s.loops[0]
	return []*train.BitLinear{l.project, l.expand, l.contract, s.head}
}

// Forward returns 256 logits for each state.
func (s *Sparse) Forward(states []State) []float32 {
	s.ids, s.at = s.ids[:0], s.at[:0]
	for k := range states {
		for i := range Bits {
			s.ids, s.at = append(s.ids, int32(states[k].At(i))), append(s.at, int32(i))
		}
	}
	s.x = sum(s.x, s.bits.Forward(s.ids), s.places.Forward(s.at))
	x := s.x
	for _, l := range s.loops {
		x = l.forward(x)
	}
	return s.head.Forward(s.norm.Forward(x))
}

// backward adds the gradients of the parameters, given that of the logits.
func (s *Sparse) backward(grad []float32) {
	grad = s.norm.Backward(s.head.Backward(grad))
	for i := len(s.loops) - 1; i >= 0; i-- {
		grad = s.loops[i].backward(grad)
	}
	s.bits.Backward(grad)
	s.places.Backward(grad)
}

func (l *loop) forward(x []float32) []float32 {
	l.x = x
	l.a = sum(l.a, x, l.project.Forward(l.gather.Forward(l.norm1.Forward(x))))
	mlp := l.contract.Forward(l.silu.Forward(l.convolution.Forward(l.expand.Forward(l.norm2.Forward(l.a)))))
	l.block = sum(l.block, l.a, mlp)
	l.y = aligned.Grow(l.y, len(x), nil)
	open := l.open()
	for i, v := range x {
		l.y[i] = v + open*l.block[i]
	}
	return l.y
}

// open returns how far the gate is.
func (l *loop) open() float32 { return float32(math.Tanh(float64(l.gate.W[0]))) }

func (l *loop) backward(grad []float32) []float32 {
	open := l.open()
	var slope float64
	l.ga = aligned.Grow(l.ga, len(grad), nil)
	for i, g := range grad {
		slope += float64(g) * float64(l.block[i])
		l.ga[i] = open * g
	}
	l.gate.Grad[0] += float32(slope) * (1 - open*open)
	mlp := l.expand.Backward(l.convolution.Backward(l.silu.Backward(l.contract.Backward(l.ga))))
	l.ga = sum(l.ga, l.ga, l.norm2.Backward(mlp))
	block := l.norm1.Backward(l.gather.Backward(l.project.Backward(l.ga)))
	l.gx = aligned.Grow(l.gx, len(grad), nil)
	for i, g := range grad {
		l.gx[i] = g + l.ga[i] + block[i]
	}
	return l.gx
}

// sum writes a + b to dst, which it grows.
func sum(dst, a, b []float32) []float32 {
	dst = aligned.Grow(dst, len(a), nil)
	for i, v := range a {
		dst[i] = v + b[i]
	}
	return dst
}

// A Batch is states, and those after the next round.
type Batch struct{ States, Next []State }

// NewBatch draws n states of random messages, each before a random one of the first
// so many rounds.
func NewBatch(r *rand.Rand, n, firstRounds int) (b Batch) {
	for range n {
		block := randomBlock(r)
		trace := Trace(block[:])
		t := r.IntN(firstRounds)
		b.States, b.Next = append(b.States, trace[t]), append(b.Next, trace[t+1])
	}
	return b
}

// Train takes a step on a batch and returns its mean loss in nats per bit.
func (s *Sparse) Train(o *train.Optimizer, b *train.Builder, step int, rate float64, batch Batch) (float64, error) {
	train.ZeroGrad(s.Params())
	logits := s.Forward(batch.States)
	targets := make([]float32, 0, len(logits))
	for k := range batch.Next {
		for i := range Bits {
			targets = append(targets, float32(batch.Next[k].At(i)))
		}
	}
	s.grad = aligned.Grow(s.grad, len(logits), nil)
	loss := train.BinaryCrossEntropy(b.Pool, s.grad, logits, targets)
	s.backward(s.grad)
	_, err := o.Step(step, rate, loss)
	return loss, err
}

// A Predictor says what it takes the next states to be.
type Predictor func(states []State) []State

// Predict is the network's, a bit being 1 where its logit is above 0.
func (s *Sparse) Predict(states []State) []State {
	logits := s.Forward(states)
	out := make([]State, len(states))
	for k := range out {
		for i := range Bits {
			out[k][i/32] |= uint32(bit(logits[k*Bits+i] > 0)) << (31 - i%32)
		}
	}
	return out
}

// PredictCopy is what is known without learning: [State.Copy].
func PredictCopy(states []State) (out []State) {
	for _, s := range states {
		out = append(out, s.Copy())
	}
	return out
}

// An Accuracy is the share of bits that a predictor gets right in each round, of all
// words and of each.
type Accuracy struct {
	Rounds [rounds]float64
	Words  [8]float64 // over all rounds
}

// Mean returns the share over all rounds.
func (a *Accuracy) Mean() (mean float64) {
	for _, v := range a.Rounds {
		mean += v / rounds
	}
	return mean
}

// Measure returns the accuracy over n random messages.
func Measure(p Predictor, r *rand.Rand, n int) *Accuracy {
	var right [rounds][8]int
	for range n {
		block := randomBlock(r)
		trace := Trace(block[:])
		for t, guess := range p(trace[:rounds]) {
			for w, word := range guess {
				right[t][w] += 32 - bits.OnesCount32(word^trace[t+1][w])
			}
		}
	}
	a := &Accuracy{}
	var words [8]int
	for t := range right {
		all := 0
		for w, count := range right[t] {
			all += count
			words[w] += count
		}
		a.Rounds[t] = float64(all) / float64(n*Bits)
	}
	for w, count := range words {
		a.Words[w] = float64(count) / float64(n*rounds*32)
	}
	return a
}
