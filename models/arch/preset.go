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
	// Published are the formats that the model is published in, those of Types
	// first; nil: the preset is of no published model.
	Published []Edition
	// Rotation is the block of the Hadamard transform that its weights are
	// stored behind; 0: they are not.
	Rotation int
	// Table is the architecture's. Package models sets it, and Config.Arch,
	// when the architecture is registered.
	Table *Table
}

// An Edition is a model in one of the formats that it is published in.
type Edition struct {
	Format     string // as its publisher calls it: "Q1_0", "I2_S"
	Repository string // at Hugging Face; "": not known
	// File is its name there, without a directory; "": not known, or the repository is
	// a directory of Hugging Face, which onebit reads as it is.
	File      string
	Directory bool
	// Types are its formats by role, where they are others than the preset's.
	Types map[Role]*formats.Type
}

// Tensors returns every tensor of the preset.
func (p *Preset) Tensors() []TensorSpec { return p.TensorsOf(Edition{}) }

// TensorsOf returns every tensor of an edition.
func (p *Preset) TensorsOf(e Edition) []TensorSpec {
	out := p.Table.Tensors(p.Config)
	for i, t := range out {
		for _, types := range []map[Role]*formats.Type{p.Types, e.Types} {
			if typ := types[t.Role]; typ != nil {
				out[i].Type = typ
			}
		}
	}
	return out
}
