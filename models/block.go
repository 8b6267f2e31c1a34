package models

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/engine"
)

// A Block is one transformer block, its weights ready to multiply. What an
// architecture lacks is nil; what only it has is found by its name in gains and
// linears.
type Block struct {
	Index int

	AttnNorm    engine.Weight // attn_norm
	Q           *Linear       // attn_q
	K           *Linear       // attn_k
	V           *Linear       // attn_v
	QNorm       engine.Weight // attn_q_norm: one gain for all heads
	KNorm       engine.Weight // attn_k_norm
	AttnSubNorm engine.Weight // attn_sub_norm
	Output      *Linear       // attn_output

	FFNNorm    engine.Weight // ffn_norm
	Gate       *Linear       // ffn_gate
	Up         *Linear       // ffn_up
	FFNSubNorm engine.Weight // ffn_sub_norm
	Down       *Linear       // ffn_down

	forward func(b *Block, s *Session)
	gains   map[string]engine.Weight // by name in the table
	linears map[string]*Linear       // likewise
	order   []*Linear                // the table's
}

// newBlock takes a block's weights, in the order of the architecture's table.
func (m *Model) newBlock(n int, declared []arch.Declaration, weights []engine.Weight) *Block {
	a := m.Arch
	g, l := map[string]engine.Weight{}, map[string]*Linear{}
	b := &Block{Index: n, forward: a.forward, gains: g, linears: l}
	for i, d := range declared {
		if !d.Role.Multiplies() {
			g[d.Name] = weights[i]
			continue
		}
		l[d.Name] = newLinear(weights[i])
		l[d.Name].rotation = m.rotations.layer(l[d.Name], m.Config, d.Name == a.grouped)
		b.order = append(b.order, l[d.Name])
	}
	b.AttnNorm, b.QNorm, b.KNorm, b.AttnSubNorm = g["attn_norm"], g["attn_q_norm"], g["attn_k_norm"], g["attn_sub_norm"]
	b.Q, b.K, b.V, b.Output = l["attn_q"], l["attn_k"], l["attn_v"], l["attn_output"]
	b.FFNNorm, b.FFNSubNorm = g["ffn_norm"], g["ffn_sub_norm"]
	b.Gate, b.Up, b.Down = l["ffn_gate"], l["ffn_up"], l["ffn_down"]
	return b
}

// Forward takes the residual stream of the batch that s has started through
// the block, and adds the batch to what the block keeps of the text.
func (b *Block) Forward(s *Session) {
	s.stream.Enter(b.Index)
	b.forward(b, s)
	s.stream.Enter(engine.Outside)
}

// Linears returns the block's projections in the order of the architecture's
// table, which is that in which it uses them.
func (b *Block) Linears() []*Linear { return b.order }

// A Linear is a layer y = W·x.
type Linear struct {
	Name       string // of its tensor
	Rows, Cols int    // out and in features
	Type       *formats.Type

	weight   engine.Weight
	rotation *engine.Rotation // that its input goes through; nil: none
}

func newLinear(w engine.Weight) *Linear {
	info := w.Info()
	return &Linear{Name: info.Tensor, Rows: info.Rows, Cols: info.Cols, Type: info.Type, weight: w}
}

// Kernel returns what multiplies the layer now, as an engine calls it.
func (l *Linear) Kernel() string { return l.weight.Info().Kernel }

// Variant returns what multiplies the layer now, nil on an engine that has no
// variants of package kernels.
func (l *Linear) Variant() *kernels.Variant {
	if w, ok := l.weight.(interface{ Variant() *kernels.Variant }); ok {
		return w.Variant()
	}
	return nil
}

// Bytes returns the size of the weights as they are multiplied now.
func (l *Linear) Bytes() int { return l.weight.Info().Bytes }
