package forward

import (
	"onebit/models/arch"
	"onebit/models/engine"
)

// An Architecture is a family of models: what one consists of, and a block's
// computation. Each is one file that registers it.
type Architecture struct {
	arch.Table

	// Forward takes the residual stream of a batch through a block.
	Forward func(b *Block, p *Pass)
	// State is what a block keeps of a text; nil: keys and values.
	State func(c arch.Config, block int) engine.State
	// Grouped is the projection that takes the values of a gated delta net's
	// heads, by its name in the table.
	Grouped string
}

var architectures = map[*arch.Table]*Architecture{}

// Register adds a to [arch.Tables], and makes it what Of returns for its table. It is for
// init functions.
func Register(a *Architecture) *Architecture {
	arch.Register(&a.Table)
	architectures[&a.Table] = a
	return a
}

// Of returns the architecture of a registered table.
func Of(t *arch.Table) *Architecture { return architectures[t] }

// States are what the blocks of a model keep of a text.
func (a *Architecture) States(c arch.Config) []engine.State {
	out := make([]engine.State, c.Layers)
	for i := range out {
		out[i] = engine.KV{Heads: c.KVHeads, Dim: c.HeadDim, Window: c.Window(i)}
		if a.State != nil {
			out[i] = a.State(c, i)
		}
	}
	return out
}
