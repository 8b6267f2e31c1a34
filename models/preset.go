package models

import (
	"fmt"
	"slices"
	"strings"
)

// A Preset is a real model's configuration under a short name.
type Preset struct {
	Name      string // on the command line: "bonsai-1.7b"
	Summary   string // one line for people
	ModelName string // general.name
	Tokenizer string // family of its vocabulary: "qwen2", "llama-bpe" or "llama"
	Config    Config
}

// bonsai returns what the Bonsai models share; the numbers are those of the
// model cards and of the Qwen3 configurations that they are built on.
func bonsai(layers, hidden, ffn, heads, context int, tied bool) Config {
	return Config{
		Arch: "qwen3", Layers: layers, Hidden: hidden, FFN: ffn,
		Heads: heads, KVHeads: 8, HeadDim: 128,
		Vocab: 151936, Context: context,
		RopeBase: 1e6, Eps: 1e-6, TiedHead: tied,
	}
}

var presets = []*Preset{
	{
		Name: "bonsai-1.7b", Summary: "Bonsai 1.7B, 1 bit", ModelName: "Bonsai-1.7B", Tokenizer: "qwen2",
		Config: bonsai(28, 2048, 6144, 16, 32768, true),
	},
	{
		Name: "bonsai-4b", Summary: "Bonsai 4B, 1 bit", ModelName: "Bonsai-4B", Tokenizer: "qwen2",
		Config: bonsai(36, 2560, 9728, 32, 32768, true),
	},
	{
		Name: "bonsai-8b", Summary: "Bonsai 8B, 1 bit, head of its own", ModelName: "Bonsai-8B", Tokenizer: "qwen2",
		Config: bonsai(36, 4096, 12288, 32, 65536, false),
	},
	{
		// The official GGUF of microsoft/bitnet-b1.58-2B-4T.
		Name: "bitnet-2b-4t", Summary: "BitNet b1.58 2B-4T, ternary, fp16 embedding", ModelName: "bitnet2b", Tokenizer: "llama-bpe",
		Config: Config{
			Arch: "bitnet-b1.58", Layers: 30, Hidden: 2560, FFN: 6912,
			Heads: 20, KVHeads: 5, HeadDim: 128,
			Vocab: 128256, Context: 4096,
			RopeBase: 5e5, Eps: 1e-5, TiedHead: true,
		},
	},
	{
		// 1bitLLM/bitnet_b1_58-large, config.json.
		Name: "bitnet-large", Summary: "bitnet_b1_58-large (0.7B), ternary, fp16 embedding", ModelName: "bitnet_b1_58-large", Tokenizer: "llama",
		Config: Config{
			Arch: "bitnet", Layers: 24, Hidden: 1536, FFN: 4096,
			Heads: 16, KVHeads: 16, HeadDim: 96,
			Vocab: 32002, Context: 2048,
			RopeBase: 1e4, Eps: 1e-5, TiedHead: true,
		},
	},
	{
		Name: "tiny", Summary: "a small qwen3 for tests, 1 bit", ModelName: "tiny", Tokenizer: "qwen2",
		Config: Config{
			Arch: "qwen3", Layers: 2, Hidden: 256, FFN: 512,
			Heads: 4, KVHeads: 2, HeadDim: 64,
			Vocab: 512, Context: 512,
			RopeBase: 1e6, Eps: 1e-6, TiedHead: true,
		},
	},
	{
		Name: "tiny-bitnet", Summary: "a small bitnet-b1.58 for tests, ternary", ModelName: "tiny-bitnet", Tokenizer: "llama-bpe",
		Config: Config{
			Arch: "bitnet-b1.58", Layers: 2, Hidden: 256, FFN: 512,
			Heads: 4, KVHeads: 2, HeadDim: 64,
			Vocab: 768, Context: 512,
			RopeBase: 5e5, Eps: 1e-5, TiedHead: true,
		},
	},
}

// LookupPreset returns the preset of that name.
func LookupPreset(name string) (*Preset, error) {
	var known []string
	for _, p := range presets {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return nil, fmt.Errorf("unknown preset %q (known: %s)", name, strings.Join(known, ", "))
}

// Presets returns every preset, real models first.
func Presets() []*Preset { return slices.Clone(presets) }

// Architecture returns the preset's architecture.
func (p *Preset) Architecture() *Architecture { return architectures[p.Config.Arch] }

// Tensors returns every tensor of the preset.
func (p *Preset) Tensors() []TensorSpec { return p.Architecture().Tensors(p.Config) }

// ProjectionShapes returns the distinct shapes of the projections in a
// transformer block of a preset.
func ProjectionShapes(preset string) ([]Shape, error) {
	p, err := LookupPreset(preset)
	if err != nil {
		return nil, err
	}
	return p.Architecture().ProjectionShapes(p.Config), nil
}
