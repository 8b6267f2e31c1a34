package forward

import (
	"math"

	"onebit/models/arch"
	"onebit/models/engine"
)

// A Pass is what forward passes are written in: the operations of a stream, with the
// buffers and numbers of a model.
type Pass struct {
	Stream     engine.Stream
	Config     arch.Config
	Activation arch.Activation

	X    engine.Buffer // Hidden: the residual stream
	H    engine.Buffer // Hidden: input or output of a projection
	Q    engine.Buffer // Heads·HeadDim
	K, V engine.Buffer // KVHeads·HeadDim
	Att  engine.Buffer // Heads·HeadDim
	Gate engine.Buffer // FFN, of each expert that a token has
	Up   engine.Buffer // FFN, likewise

	forward  func(b *Block, p *Pass)
	others   map[string]engine.Buffer           // of Buffer
	rotated  map[*engine.Rotation]engine.Buffer // inputs of layers
	products []engine.Product
}

// NewPass makes the buffers of a model on a stream.
func NewPass(stream engine.Stream, a *Architecture, c arch.Config) *Pass {
	q, kv, ffn := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim, c.FFN*max(1, c.Experts.Used)
	return &Pass{
		Stream: stream, Config: c, Activation: a.Activation, forward: a.Forward,
		X: stream.Buffer(c.Hidden), H: stream.Buffer(c.Hidden),
		Q: stream.Buffer(q), K: stream.Buffer(kv), V: stream.Buffer(kv), Att: stream.Buffer(q),
		Gate: stream.Buffer(ffn), Up: stream.Buffer(ffn),
		others: map[string]engine.Buffer{}, rotated: map[*engine.Rotation]engine.Buffer{},
	}
}

// Forward takes the residual stream of the batch in progress through a block, and adds
// the batch to what the block keeps of the text.
func (p *Pass) Forward(b *Block) {
	p.Stream.Enter(b.Index)
	p.forward(b, p)
	p.Stream.Enter(engine.Outside)
}

// Buffer returns one that only some architectures need, made at its first use.
func (p *Pass) Buffer(name string, width int) engine.Buffer {
	b := p.others[name]
	if b == nil {
		b = p.Stream.Buffer(width)
		p.others[name] = b
	}
	return b
}

// Rotated returns the input that layers behind a rotation multiplied last.
func (p *Pass) Rotated(r *engine.Rotation) engine.Buffer { return p.rotated[r] }

// Multiply is dst = W·x for several layers of the same input. Layers whose
// weights are stored in another basis get the input in that one, which is made
// once for all of them.
func (p *Pass) Multiply(op string, x engine.Buffer, layers ...Projection) {
	var rotation *engine.Rotation
	p.products = p.products[:0]
	for _, l := range layers {
		if r := l.Layer.Rotation; r != nil {
			rotation = r // the same of all: it follows from the width
		} else {
			p.products = append(p.products, engine.Product{Weight: l.Layer.Weight, Dst: l.Dst})
		}
	}
	if len(p.products) > 0 {
		p.Stream.Multiply(op, x, p.products)
	}
	if rotation == nil {
		return
	}
	p.products = p.products[:0]
	for _, l := range layers {
		if l.Layer.Rotation != nil {
			p.products = append(p.products, engine.Product{Weight: l.Layer.Weight, Dst: l.Dst})
		}
	}
	rotated := p.rotated[rotation]
	if rotated == nil {
		rotated = p.Stream.Buffer(len(rotation.Signs))
		p.rotated[rotation] = rotated
	}
	p.Stream.Hadamard("hadamard", rotated, x, rotation)
	p.Stream.Multiply(op, rotated, p.products)
}

// Norm is RMSNorm with the model's epsilon.
func (p *Pass) Norm(op string, dst, x engine.Buffer, gain engine.Weight) {
	p.Stream.Norm(op, dst, x, gain, p.Config.Eps)
}

// Rotate turns queries and keys by their positions.
func (p *Pass) Rotate(op string, q, k engine.Buffer) { p.Stream.Rotate(op, q, k) }

// Attend answers the queries p.Q, in p.Att, from the batch's keys p.K and
// values p.V and all before them.
func (p *Pass) Attend(op string) { p.Stream.Attend(op, p.Att, p.Q, p.K, p.V) }

// Activate multiplies p.Gate, activated, with p.Up, in place; both are clamped before, if
// the model has it so.
func (p *Pass) Activate(op string) {
	if limit := p.Config.GateLimit; limit != 0 {
		p.Stream.Clamp("ffn_gate_clamp", p.Gate, float32(math.Inf(-1)), limit)
		p.Stream.Clamp("ffn_up_clamp", p.Up, -limit, limit)
	}
	p.Stream.Gate(op, p.Gate, p.Up, p.Activation)
}

// Add adds what a part of a block has computed to the residual stream.
func (p *Pass) Add(op string, x, y engine.Buffer) {
	if by := p.Config.ResidualScale; by != 0 {
		p.Stream.Scale("residual_scale", y, by)
	}
	p.Stream.Add(op, x, y)
}

// FeedForward is the second half of a block of LLaMA's kind: the gated network,
// from the residual stream to it, behind a norm with that gain.
func (p *Pass) FeedForward(b *Block, gain engine.Weight) {
	p.Norm("ffn_norm", p.H, p.X, gain)
	p.Multiply("ffn_gate_up", p.H, b.Gate.To(p.Gate), b.Up.To(p.Up))
	p.Activate("ffn_act") // p.Gate, with p.Up
	p.Multiply("ffn_down", p.Gate, b.Down.To(p.H))
	p.Add("ffn_residual", p.X, p.H)
}

// RoutedFeedForward is FeedForward of experts: those that a router chooses for each
// token, by the same input.
func (p *Pass) RoutedFeedForward(b *Block, gain engine.Weight) {
	e := p.Config.Experts
	logits, chosen := p.Buffer("router", e.Count), p.Buffer("chosen", 2*e.Used)
	out := p.Buffer("experts", e.Used*p.H.Width())
	p.Norm("ffn_norm", p.H, p.X, gain)
	p.Multiply("ffn_router", p.H, b.Linear("ffn_gate_inp").To(logits))
	p.Stream.Route(RouteOp, chosen, logits, engine.Routing{Used: e.Used, Sigmoid: e.Sigmoid, Normalized: e.Normalized, Scale: e.Scale})
	p.MultiplyExperts("ffn_gate_up", p.H, chosen, b.Linear("ffn_gate_exps").To(p.Gate), b.Linear("ffn_up_exps").To(p.Up))
	p.Activate("ffn_act") // p.Gate, with p.Up
	p.MultiplyExperts("ffn_down", p.Gate, chosen, b.Linear("ffn_down_exps").To(out))
	p.Stream.Combine("ffn_combine", p.H, out, chosen)
	p.Add("ffn_residual", p.X, p.H)
}

// RouteOp is what observers know the choice of experts by.
const RouteOp = "ffn_route"

// MultiplyExperts is Multiply with the layers of the experts that columns have chosen.
func (p *Pass) MultiplyExperts(op string, x, chosen engine.Buffer, layers ...Projection) {
	p.products = p.products[:0]
	for _, l := range layers {
		p.products = append(p.products, engine.Product{Weight: l.Layer.Weight, Dst: l.Dst})
	}
	p.Stream.MultiplyExperts(op, x, chosen, p.products)
}
