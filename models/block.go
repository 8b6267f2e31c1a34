package models

// A Block is one transformer block, its weights ready to multiply. What an
// architecture lacks is nil.
type Block struct {
	Index int

	AttnNorm    []float32 // attn_norm
	Q           *Linear   // attn_q
	K           *Linear   // attn_k
	V           *Linear   // attn_v
	QNorm       []float32 // attn_q_norm: one gain for all heads
	KNorm       []float32 // attn_k_norm
	AttnSubNorm []float32 // attn_sub_norm
	Output      *Linear   // attn_output

	FFNNorm    []float32 // ffn_norm
	Gate       *Linear   // ffn_gate
	Up         *Linear   // ffn_up
	FFNSubNorm []float32 // ffn_sub_norm
	Down       *Linear   // ffn_down

	forward func(b *Block, s *Session)
}

// Forward takes the residual stream of the batch that s has started through
// the block, and adds the batch's keys and values to the block's cache.
func (b *Block) Forward(s *Session) {
	s.block = b.Index
	b.forward(b, s)
	s.block = Outside
	if s.model.options.Packing == Stream {
		s.model.releaseBlock(b)
	}
}

// norms and linears give the fields their names in a file.
func (b *Block) norms() map[string]*[]float32 {
	return map[string]*[]float32{
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
