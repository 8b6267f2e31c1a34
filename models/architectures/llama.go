package architectures

import (
	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/forward"
)

// Llama is LLaMA's architecture, of which there are ternary models without norms
// between a block's projections: Llama3-8B-1.58, Falcon3 in 1.58 bits, Falcon-E and
// TriLM. Names and keys: ggml-org/llama.cpp, gguf-py/gguf/constants.py and
// convert_hf_to_gguf.py (LlamaModel), which brings the rows of attn_q and attn_k
// into the order of LLaMA's own code: the pairs that the rotary embedding turns
// lie side by side.
var _ = forward.Register(&forward.Architecture{Table: arch.Table{
	Name:          "llama",
	Summary:       "ternary Llama 3, Falcon3, Falcon-E and TriLM",
	Activation:    arch.SiLU,
	AdjacentPairs: true,
	Types: map[arch.Role]*formats.Type{
		arch.Norm:       formats.F32,
		arch.Embedding:  formats.F16,
		arch.Head:       formats.F16,
		arch.Projection: formats.I2_S,
	},
	Keys: llamaKeys,
	Global: arch.Outside(arch.In(func(c arch.Config, _ int) bool { return c.RopeScaling.Type == arch.Llama3 },
		arch.Vector("rope_freqs", arch.Divisors, rotaryPairs),
	)...),
	Block: llamaBlock(),
	// Llama3-8B-1.58 is no chat model, and names no splitter in some files.
	Text: arch.Text{Others: []*arch.Chat{falcon3Chat}, Splitter: "llama-bpe"},
	// Defaults: huggingface/transformers models/llama/configuration_llama.py. A
	// checkpoint that does not say that it is ternary is not made so: TriLM's has floats
	// that are ternary with several scales to a matrix.
	Classes: []arch.Class{{Name: "LlamaForCausalLM", Activation: arch.SiLU, Context: 2048, Eps: 1e-6, RopeBase: 1e4, SaysTernary: true, Changes: llamaChanges}},
	// The configurations of HF1BitLLM/Llama3-8B-1.58-100B-tokens and of tiiuae's
	// Falcon3 models.
	Presets: []*arch.Preset{
		{Name: "llama3-8b-1.58", Summary: "Llama3-8B-1.58, ternary, fp16 embedding and head", ModelName: "Llama3-8B-1.58-100B-tokens", Tokenizer: "llama-bpe",
			Config: llama(32, 4096, 14336, 32, 8, 128, 128256, 8192, 5e5, 1e-5), Published: inDirectory("HF1BitLLM/Llama3-8B-1.58-100B-tokens")},
		{Name: "falcon3-1b-1.58", Summary: "Falcon3 1B in 1.58 bits, fp16 embedding and head", ModelName: "Falcon3-1B-Instruct-1.58bit", Tokenizer: "llama-bpe",
			Config: llama(18, 2048, 8192, 8, 4, 256, 131072, 8192, 1000042, 1e-6), Published: inI2S("tiiuae/Falcon3-1B-Instruct-1.58bit-GGUF")},
		{Name: "falcon3-3b-1.58", Summary: "Falcon3 3B in 1.58 bits, fp16 embedding and head", ModelName: "Falcon3-3B-Instruct-1.58bit", Tokenizer: "llama-bpe",
			Config: llama(22, 3072, 9216, 12, 4, 256, 131072, 32768, 1000042, 1e-6), Published: inI2S("tiiuae/Falcon3-3B-Instruct-1.58bit-GGUF")},
		{Name: "falcon3-7b-1.58", Summary: "Falcon3 7B in 1.58 bits, fp16 embedding and head", ModelName: "Falcon3-7B-Instruct-1.58bit", Tokenizer: "llama-bpe",
			Config: llama(28, 3072, 23040, 12, 4, 256, 131072, 32768, 1000042, 1e-6), Published: inI2S("tiiuae/Falcon3-7B-Instruct-1.58bit-GGUF")},
		{Name: "falcon3-10b-1.58", Summary: "Falcon3 10B in 1.58 bits, fp16 embedding and head", ModelName: "Falcon3-10B-Instruct-1.58bit", Tokenizer: "llama-bpe",
			Config: llama(40, 3072, 23040, 12, 4, 256, 131072, 32768, 1000042, 1e-6), Published: inI2S("tiiuae/Falcon3-10B-Instruct-1.58bit-GGUF")},
		// Widths that give the sizes of tiiuae's files; context and base are
		// taken to be Falcon3's.
		{Name: "falcon-e-1b", Summary: "Falcon-E 1B, ternary, fp16 embedding and head", ModelName: "Falcon-E-1B-Instruct", Tokenizer: "llama-bpe",
			Config: llama(24, 2048, 9216, 16, 2, 128, 32768, 32768, 1000042, 1e-6), Published: inI2S("tiiuae/Falcon-E-1B-Instruct-GGUF")},
		{Name: "falcon-e-3b", Summary: "Falcon-E 3B, ternary, fp16 embedding and head", ModelName: "Falcon-E-3B-Instruct", Tokenizer: "llama-bpe",
			Config: llama(32, 2048, 13312, 16, 2, 128, 32768, 32768, 1000042, 1e-6), Published: inI2S("tiiuae/Falcon-E-3B-Instruct-GGUF")},
		// The widths are those of SpectraSuite's TriLM_1.5B_Unpacked and TriLM_3.9B_Unpacked,
		// the formats those of llama.cpp's quantize to TQ2_0.
		{Name: "trilm-1.5b", Summary: "TriLM 1.5B, ternary in 2 bits, 4-bit embedding, 6-bit head", ModelName: "TriLM_1.5B_Unpacked", Tokenizer: "gpt-neox",
			Types: inTQ2_0(), Config: llama(24, 2048, 6144, 32, 32, 64, 50432, 2048, 1e4, 1e-5)},
		{Name: "trilm-3.9b", Summary: "TriLM 3.9B, ternary in 2 bits, 4-bit embedding, 6-bit head", ModelName: "TriLM_3.9B_Unpacked", Tokenizer: "gpt-neox",
			Types: inTQ2_0(), Config: llama(30, 3072, 9216, 24, 24, 128, 50688, 2048, 1e4, 1e-5)},
		{Name: "tiny-llama", Summary: "a small llama for tests, ternary", ModelName: "tiny-llama", Tokenizer: "llama-bpe",
			Config: llama(3, 256, 512, 4, 2, 64, 768, 512, 5e5, 1e-5)},
	},
}, Forward: llamaForward})

// inI2S is a repository with bitnet.cpp's file of a model.
func inI2S(repository string) []arch.Edition {
	return []arch.Edition{{Format: "I2_S", Repository: repository, File: "ggml-model-i2_s.gguf"}}
}

// inDirectory is a repository of packed ternary weights, which are read as I2_S.
func inDirectory(repository string) []arch.Edition {
	return []arch.Edition{{Format: "packed", Repository: repository, Directory: true}}
}

// llamaKeys, llamaBlock and llamaChanges are those of LLaMA's kind.
var llamaKeys = []string{
	arch.KeyVocabSize, arch.KeyContextLength, arch.KeyEmbeddingLength, arch.KeyBlockCount,
	arch.KeyFeedForwardLength, arch.KeyRopeDimensionCount, arch.KeyHeadCount,
	arch.KeyHeadCountKV, arch.KeyRMSEpsilon, arch.KeyRopeFreqBase,
}

func llamaBlock() []arch.Declaration {
	return append([]arch.Declaration{
		arch.Vector("attn_norm", arch.Norm, arch.Hidden),
		arch.Matrix("attn_q", arch.Projection, arch.Query, arch.Hidden),
		arch.Matrix("attn_k", arch.Projection, arch.KV, arch.Hidden),
		arch.Matrix("attn_v", arch.Projection, arch.KV, arch.Hidden),
		arch.Matrix("attn_output", arch.Projection, arch.Hidden, arch.Query),
		arch.Vector("ffn_norm", arch.Norm, arch.Hidden),
	}, arch.FeedForward()...)
}

var llamaChanges = map[string]arch.Change{"attn_q": {Rows: arch.Paired}, "attn_k": {Rows: arch.Paired}}

func llama(layers, hidden, ffn, heads, kvHeads, dim, vocab, context int, base, eps float32) arch.Config {
	return arch.Config{
		Layers: layers, Hidden: hidden, FFN: ffn, Heads: heads, KVHeads: kvHeads, HeadDim: dim,
		Vocab: vocab, Context: context, RopeBase: base, Eps: eps,
	}
}

// falcon3Chat is that of Falcon3-Instruct. Source: ggml-org/llama.cpp
// src/llama-chat.cpp, LLM_CHAT_TEMPLATE_FALCON_3.
var falcon3Chat = &arch.Chat{
	Name:  "falcon3",
	About: "<|role|> and a line for each turn (Falcon3)",
	Marks: []string{"<|user|>", "<|assistant|>"},
	Turns: map[string]arch.Turn{
		arch.System:    {Before: "<|system|>\n", After: "\n"},
		arch.User:      {Before: "<|user|>\n", After: "\n"},
		arch.Assistant: {Before: "<|assistant|>\n", After: "\n"},
	},
	Reply: "<|assistant|>\n",
}

// llamaForward is the block of huggingface/transformers
// models/llama/modeling_llama.py.
func llamaForward(b *forward.Block, p *forward.Pass) {
	p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
	p.Multiply("attn_qkv", p.H, b.Q.To(p.Q), b.K.To(p.K), b.V.To(p.V))
	p.Rotate("rope", p.Q, p.K)
	p.Attend("attn") // p.Att, from p.Q, p.K, p.V and the cache
	p.Multiply("attn_output", p.Att, b.Output.To(p.H))
	p.Add("attn_residual", p.X, p.H)

	p.FeedForward(b, b.FFNNorm)
}
