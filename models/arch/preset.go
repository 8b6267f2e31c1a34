package arch

import "onebit/formats"

// A Preset is a real model's configuration under a short name.
type Preset struct {
	Name      string // on the command line: "bonsai-1.7b"
	Summary   string // one line for people
	ModelName string // general.name
	Tokenizer string // family of its vocabulary: "qwen2", "qwen35", "llama-bpe" or "sentencepiece"
	Config    Config
	// Types are the formats of this model by role, where it is published in
	// others than those of its table.
	Types map[Role]*formats.Type
	// Rotation is the block of the Hadamard transform that its weights are
	// stored behind; 0: they are not.
	Rotation int
	// Table is the architecture's. Package models sets it, and Config.Arch,
	// when the architecture is registered.
	Table *Table
}

// Tensors returns every tensor of the preset.
func (p *Preset) Tensors() []TensorSpec {
	out := p.Table.Tensors(p.Config)
	for i, t := range out {
		if typ := p.Types[t.Role]; typ != nil {
			out[i].Type = typ
		}
	}
	return out
}
