package forward

import (
	"onebit/formats"
	"onebit/kernels"
	"onebit/models/arch"
	"onebit/models/engine"
)

// A Block is one transformer block, its weights ready to multiply. What an
// architecture lacks is nil; what only it has is found by its name, by Gain
// and Linear.
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

	gains   map[string]engine.Weight // by name in the table
	linears map[string]*Linear       // likewise
	order   []*Linear                // the table's
}

// NewBlock takes a block's weights, in the order of the architecture's declarations.
func NewBlock(n int, a *Architecture, c arch.Config, r *Rotations, weights []engine.Weight) *Block {
	g, l := map[string]engine.Weight{}, map[string]*Linear{}
	b := &Block{Index: n, gains: g, linears: l}
	for i, d := range a.BlockDeclarations(c, n) {
		if !d.Role.Multiplies() {
			g[d.Name] = weights[i]
			continue
		}
		l[d.Name] = r.Linear(weights[i], c, d.Name == a.Grouped)
		b.order = append(b.order, l[d.Name])
	}
	b.AttnNorm, b.QNorm, b.KNorm, b.AttnSubNorm = g["attn_norm"], g["attn_q_norm"], g["attn_k_norm"], g["attn_sub_norm"]
	b.Q, b.K, b.V, b.Output = l["attn_q"], l["attn_k"], l["attn_v"], l["attn_output"]
	b.FFNNorm, b.FFNSubNorm = g["ffn_norm"], g["ffn_sub_norm"]
	b.Gate, b.Up, b.Down = l["ffn_gate"], l["ffn_up"], l["ffn_down"]
	return b
}

// Gain returns the gain, or what else is no matrix, of that name in the table; nil: none.
func (b *Block) Gain(name string) engine.Weight { return b.gains[name] }

// Linear returns the projection of that name in the table; nil: none.
func (b *Block) Linear(name string) *Linear { return b.linears[name] }

// Linears returns the block's projections in the order of the architecture's
// table, which is that in which it uses them.
func (b *Block) Linears() []*Linear { return b.order }

// A Linear is a layer y = W·x, or one for each expert.
type Linear struct {
	Name       string // of its tensor
	Rows, Cols int    // out and in features
	Experts    int    // how many layers it is, of which a token meets Used; 0: one
	Used       int
	Type       *formats.Type

	// Weight is the engine's, Rotation what the input goes through first; nil: nothing.
	Weight   engine.Weight
	Rotation *engine.Rotation
}

// To is the layer's output in dst.
func (l *Linear) To(dst engine.Buffer) Projection { return Projection{l, dst} }

// A Projection is a layer and where its output goes.
type Projection struct {
	Layer *Linear
	Dst   engine.Buffer
}

// Kernel returns what multiplies the layer now, as an engine calls it.
func (l *Linear) Kernel() string { return l.Weight.Info().Kernel }

// Variant returns what multiplies the layer now, nil on an engine that has no
// variants of package kernels.
func (l *Linear) Variant() *kernels.Variant {
	if w, ok := l.Weight.(interface{ Variant() *kernels.Variant }); ok {
		return w.Variant()
	}
	return nil
}

// Bytes returns the size of the weights as they are multiplied now.
func (l *Linear) Bytes() int { return l.Weight.Info().Bytes }

// TokenBytes is Bytes of what a token meets.
func (l *Linear) TokenBytes() int {
	if l.Experts == 0 {
		return l.Bytes()
	}
	return l.Bytes() / l.Experts * l.Used
}

// MultiplyAdds returns the multiplications that a token takes.
func (l *Linear) MultiplyAdds() int { return l.Rows * l.Cols * max(1, l.Used) }
