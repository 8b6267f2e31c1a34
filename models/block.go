package models

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/models/engine"
)

// A Block is one transformer block, its weights ready to multiply. What an
// architecture lacks is nil.
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
}

// Forward takes the residual stream of the batch that s has started through
// the block, and adds the batch to what the block keeps of the text.
func (b *Block) Forward(s *Session) {
	s.stream.Enter(b.Index)
	b.forward(b, s)
	s.stream.Enter(engine.Outside)
}

// norms and linears give the fields their names in a file.
func (b *Block) norms() map[string]*engine.Weight {
	return map[string]*engine.Weight{
		"attn_norm":     &b.AttnNorm,
		"attn_q_norm":   &b.QNorm,
		"attn_k_norm":   &b.KNorm,
		"attn_sub_norm": &b.AttnSubNorm,
		"ffn_norm":      &b.FFNNorm,
		"ffn_sub_norm":  &b.FFNSubNorm,
	}
}

func (b *Block) linears() map[string]**Linear {
	return map[string]**Linear{
		"attn_q":      &b.Q,
		"attn_k":      &b.K,
		"attn_v":      &b.V,
		"attn_output": &b.Output,
		"ffn_gate":    &b.Gate,
		"ffn_up":      &b.Up,
		"ffn_down":    &b.Down,
	}
}

// Linears returns the block's projections in the order in which it uses them.
func (b *Block) Linears() []*Linear {
	return []*Linear{b.Q, b.K, b.V, b.Output, b.Gate, b.Up, b.Down}
}

// A Linear is a layer y = W·x.
type Linear struct {
	Name       string // of its tensor
	Rows, Cols int    // out and in features
	Type       *formats.Type

	weight engine.Weight
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
