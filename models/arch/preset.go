package arch

// A Preset is a real model's configuration under a short name.
type Preset struct {
	Name      string // on the command line: "bonsai-1.7b"
	Summary   string // one line for people
	ModelName string // general.name
	Tokenizer string // family of its vocabulary: "qwen2", "llama-bpe" or "llama"
	Config    Config
	// Table is the architecture's. Package models sets it, and Config.Arch,
	// when the architecture is registered.
	Table *Table
}

// Tensors returns every tensor of the preset.
func (p *Preset) Tensors() []TensorSpec { return p.Table.Tensors(p.Config) }
