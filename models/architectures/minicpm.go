package architectures

import (
	"math"
	"slices"

	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/forward"
)

// MiniCPM is LLaMA's architecture with three factors (Hu et al., arXiv:2404.06395;
// ggml-org/llama.cpp, src/models/minicpm.cpp): the embedding's rows are multiplied by one, what blocks add by another,
// and the logits are divided by the third. BitCPM 0.5B and 8B are of it, ternary;
// the 1B and the 3B are of llama's. Names and keys: ggml-org/llama.cpp,
// gguf-py/gguf/constants.py and convert_hf_to_gguf.py (MiniCPMModel), which brings
// attn_q and attn_k into the order that it does for LLaMA.
var _ = forward.Register(&forward.Architecture{Table: arch.Table{
	Name:          "minicpm",
	Summary:       "MiniCPM and BitCPM-CANN",
	Activation:    arch.SiLU,
	AdjacentPairs: true,
	Types:         inTQ2_0(),
	Keys:          append(slices.Clip(llamaKeys), arch.KeyEmbeddingScale, arch.KeyResidualScale, arch.KeyLogitScale),
	Global: arch.Outside(arch.In(func(c arch.Config, _ int) bool { return c.RopeScaling.Type == arch.LongRope },
		arch.Vector("rope_factors_long", arch.Divisors, rotaryPairs),
		arch.Vector("rope_factors_short", arch.Divisors, rotaryPairs),
	)...),
	Block: llamaBlock(),
	Text:  arch.Text{Chat: arch.ChatML},
	// Defaults: huggingface/transformers models/minicpm4/configuration_minicpm4.py, which
	// reads the class's later models.
	Classes: []arch.Class{{Name: "MiniCPMForCausalLM", Activation: arch.SiLU, Context: 32768, Eps: 1e-6, RopeBase: 1e4, Tied: true, Changes: llamaChanges}},
	// Of openbmb/BitCPM-CANN-8B-gguf what a third party's port takes for its
	// configuration; of the 0.5B that of MiniCPM4-0.5B, which it was made of.
	Presets: []*arch.Preset{
		{Name: "bitcpm-0.5b", Summary: "BitCPM 0.5B, ternary in 2 bits, 4-bit embedding", ModelName: "BitCPM-CANN-0.5B", Tokenizer: "sentencepiece",
			Config: minicpm(24, 1024, 4096, 16, 64, 73448, 32768, true), Published: []arch.Edition{{Format: "TQ2_0"}}},
		{Name: "bitcpm-8b", Summary: "BitCPM 8B, ternary in 2 bits, 4-bit embedding, 6-bit head", ModelName: "BitCPM-CANN-8B", Tokenizer: "sentencepiece",
			Config: minicpm(32, 4096, 16384, 32, 128, 73448, 32768, false), Published: []arch.Edition{{Format: "TQ2_0", Repository: "openbmb/BitCPM-CANN-8B-gguf"}}},
		{Name: "tiny-minicpm", Summary: "a small minicpm for tests, ternary", ModelName: "tiny-minicpm", Tokenizer: "sentencepiece",
			Types:  map[arch.Role]*formats.Type{arch.Embedding: formats.F16},
			Config: minicpm(2, 256, 512, 4, 64, 768, 512, true)},
	},
}, Forward: llamaForward})

// inTQ2_0 are the formats that llama.cpp's quantize gives a ternary model.
func inTQ2_0() map[arch.Role]*formats.Type {
	return map[arch.Role]*formats.Type{
		arch.Norm: formats.F32, arch.Embedding: formats.Q4_K, arch.Head: formats.Q6_K, arch.Projection: formats.TQ2_0,
	}
}

// rotaryPairs is the number of pairs that the rotary embedding rotates.
func rotaryPairs(c arch.Config) int { return c.RotaryDim() / 2 }

// minicpm returns what all sizes share: the factors are 12, 1.4/√blocks and
// hidden/256.
func minicpm(layers, hidden, ffn, heads, dim, vocab, context int, tied bool) arch.Config {
	c := llama(layers, hidden, ffn, heads, 2, dim, vocab, context, 1e4, 1e-6)
	c.TiedHead = tied
	c.RopeScaling = arch.RopeScaling{Type: arch.LongRope, OriginalContext: context}
	c.EmbeddingScale, c.ResidualScale, c.LogitScale = 12, float32(1.4/math.Sqrt(float64(layers))), float32(hidden)/256
	return c
}
