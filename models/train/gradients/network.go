package gradients

import (
	"fmt"
	"math/rand/v2"

	"onebit/models/train"
)

const (
	symbols      = 256
	contextBytes = 8    // that a byte is predicted from
	symbolWidth  = 16   // numbers for each of them
	heldOutBatch = 4096 // bytes that the result is measured on
)

// A sampler draws places of a text.
type sampler struct {
	text []byte
	rand *rand.Rand
}

func newSampler(text []byte, seed uint64) *sampler {
	return &sampler{text, rand.New(rand.NewPCG(seed, 0x6772616469656e74))}
}

// next returns n runs of contextBytes, and the byte after each.
func (s *sampler) next(n int) (ids, targets []int32) {
	for range n {
		at := s.rand.IntN(len(s.text) - contextBytes)
		for _, b := range s.text[at : at+contextBytes] {
			ids = append(ids, int32(b))
		}
		targets = append(targets, int32(s.text[at+contextBytes]))
	}
	return ids, targets
}

// A network predicts the next byte of a text: the embeddings of the last ones side
// by side, then products with SiLU between them.
type network struct {
	embedding *train.Embedding
	layers    train.Sequence
	products  []*train.BitLinear
	grad      []float32
}

func (c *Config) network(t Trial) (*network, error) {
	opt := train.Options{Form: c.Form, Bias: true}
	switch t.Gradient {
	case "float":
		opt.Form = train.Float
	case train.InverseScale.String():
		opt.Gradient = train.InverseScale
	case train.Exact.String():
	default:
		return nil, fmt.Errorf("unknown gradient %q", t.Gradient)
	}
	b := train.NewBuilder(nil, t.Seed)
	n := &network{embedding: b.Embedding("embedding", symbols, symbolWidth, 1)}
	in := contextBytes * symbolWidth
	for i := range c.Depth + 2 {
		out := c.Width
		if i == c.Depth+1 {
			out = symbols
		}
		if err := opt.Check(in, out); err != nil {
			return nil, err
		}
		if i > 0 {
			n.layers = append(n.layers, b.Pointwise(train.SiLU))
		}
		if t.Normed {
			n.layers = append(n.layers, b.LayerNorm(fmt.Sprintf("norm.%d", i), in, 1e-5))
		}
		product := b.BitLinear(fmt.Sprintf("product.%d", i), in, out, opt)
		n.layers, n.products = append(n.layers, product), append(n.products, product)
		in = out
	}
	return n, nil
}

func (n *network) params() []*train.Param { return append(n.embedding.Params(), n.layers.Params()...) }

// loss returns the mean loss of a batch, and leaves its gradient for the logits.
func (n *network) loss(ids, targets []int32) float64 {
	logits := n.layers.Forward(n.embedding.Forward(ids))
	if len(n.grad) < len(logits) {
		n.grad = make([]float32, len(logits))
	}
	n.grad = n.grad[:len(logits)]
	return train.CrossEntropy(nil, n.grad, logits, targets, symbols)
}

// backward returns the mean loss of a batch, and leaves the gradients of the
// parameters.
func (n *network) backward(ids, targets []int32) float64 {
	train.ZeroGrad(n.params())
	loss := n.loss(ids, targets)
	n.embedding.Backward(n.layers.Backward(n.grad))
	return loss
}

// weightNorms returns the norm of each product's gradient, and its scale.
func (n *network) weightNorms() (norms, scales []float64) {
	for _, l := range n.products {
		norms = append(norms, train.GradNorm(nil, []*train.Param{l.Weight}))
		scales = append(scales, float64(l.Scale()))
	}
	return norms, scales
}
