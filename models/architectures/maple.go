package architectures

import (
	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/forward"
)

// Maple is the architecture of DeepGrove's Maple: ternary experts, of which a router
// chooses some for each token. Of four blocks three look at a window and turn half of
// each head by its position; the fourth looks at the whole text and knows no positions
// but their order. Names, keys and computation: ggml-org/llama.cpp src/models/maple.cpp and
// conversion/maple.py.
var _ = forward.Register(&forward.Architecture{Table: arch.Table{
	Name:       "maple",
	Summary:    "Maple, ternary experts and sliding windows",
	Activation: arch.SiLU,
	Types: map[arch.Role]*formats.Type{
		arch.Norm: formats.F32, arch.Embedding: formats.F16, arch.Head: formats.Q4_K, arch.Projection: formats.TQ2_0,
	},
	Keys: []string{
		arch.KeyVocabSize, arch.KeyBlockCount, arch.KeyContextLength, arch.KeyEmbeddingLength,
		arch.KeyHeadCount, arch.KeyHeadCountKV, arch.KeyKeyLength, arch.KeyValueLength, arch.KeyRMSEpsilon,
		arch.KeySlidingWindow, arch.KeySlidingPattern, arch.KeyExpertCount, arch.KeyExpertUsed, arch.KeyExpertFFN,
		arch.KeyExpertNormalized, arch.KeyExpertGating, arch.KeyRopeDimensionCount, arch.KeyRopeFreqBase, arch.KeyGateLimit,
	},
	Global: arch.Outside(),
	Block: append([]arch.Declaration{
		arch.Vector("attn_norm", arch.Norm, arch.Hidden),
		arch.Matrix("attn_q", arch.Projection, arch.Query, arch.Hidden),
		arch.Matrix("attn_k", arch.Projection, arch.KV, arch.Hidden),
		arch.Matrix("attn_v", arch.Projection, arch.KV, arch.Hidden),
		arch.Vector("attn_q_norm", arch.Norm, arch.HeadDim),
		arch.Vector("attn_k_norm", arch.Norm, arch.HeadDim),
		arch.Matrix("attn_output", arch.Projection, arch.Hidden, arch.Query),
		arch.Vector("ffn_norm", arch.Norm, arch.Hidden),
	}, arch.RoutedFeedForward()...),
	Text: arch.Text{Chat: arch.ChatML},
	// Every row of its ternary weights has a scale of its own, and the limit of gates is
	// the program's: modeling_maple.py beside the checkpoint.
	Classes: []arch.Class{{
		Name: "MapleForCausalLM", Activation: arch.SiLU, Context: 131072, Eps: 1e-6, RopeBase: 1e4, RotaryFactor: 0.5, GateLimit: 7, ByRow: formats.TQ2_0,
		Names: map[string][]string{
			"token_embd": {"word_embeddings"}, "attn_q_norm": {"self_attn.q_norm"}, "attn_k_norm": {"self_attn.k_norm"}, "ffn_gate_inp": {"mlp.gate"},
			"ffn_gate_exps": {"mlp.experts.*.gate_proj"}, "ffn_up_exps": {"mlp.experts.*.up_proj"}, "ffn_down_exps": {"mlp.experts.*.down_proj"},
		},
	}},
	Presets: []*arch.Preset{
		// Of deepgrove/maple-preview's config.json.
		{Name: "maple-preview", Summary: "Maple-Preview 20B-A1B, ternary in 2 bits, 4-bit head", ModelName: "Maple-Preview", Tokenizer: "qwen2",
			Config: arch.Config{
				Layers: 24, Hidden: 2048, FFN: 512, Heads: 16, KVHeads: 4, HeadDim: 128, Vocab: 151936, Context: 131072,
				RopeBase: 1e4, RopeDim: 64, Eps: 1e-6, GateLimit: 7,
				Experts: arch.Experts{Count: 256, Used: 8, Normalized: true}, Sliding: arch.Sliding{Window: 512, Interval: 4},
			},
			Published: []arch.Edition{
				{Format: "TQ2_0", Repository: "deepgrove/maple-preview-GGUF"},
				{Format: "TQ1_0", Repository: "deepgrove/maple-preview-GGUF", Types: map[arch.Role]*formats.Type{
					arch.Projection: formats.TQ1_0, arch.Expert: formats.TQ1_0,
				}},
			}},
		{Name: "tiny-maple", Summary: "a small maple for tests, ternary", ModelName: "tiny-maple", Tokenizer: "qwen2",
			Types: map[arch.Role]*formats.Type{arch.Embedding: formats.F16, arch.Head: formats.F16},
			Config: arch.Config{
				Layers: 2, Hidden: 256, FFN: 256, Heads: 4, KVHeads: 2, HeadDim: 64, Vocab: 512, Context: 512,
				RopeBase: 1e4, RopeDim: 32, Eps: 1e-6, GateLimit: 7,
				Experts: arch.Experts{Count: 16, Used: 4, Normalized: true}, Sliding: arch.Sliding{Window: 6, Interval: 2},
			}},
	},
}, Forward: mapleForward})

// mapleForward is the block of ggml-org/llama.cpp src/models/maple.cpp: queries and keys
// are normalized head by head, whole, before a part of them is rotated.
func mapleForward(b *forward.Block, p *forward.Pass) {
	p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
	p.Multiply("attn_qkv", p.H, b.Q.To(p.Q), b.K.To(p.K), b.V.To(p.V))
	p.Norm("attn_q_norm", p.Q, p.Q, b.QNorm)
	p.Norm("attn_k_norm", p.K, p.K, b.KNorm)
	if p.Config.Window(b.Index) > 0 {
		p.Rotate("rope", p.Q, p.K)
	}
	p.Attend("attn") // p.Att, from p.Q, p.K, p.V and the cache
	p.Multiply("attn_output", p.Att, b.Output.To(p.H))
	p.Add("attn_residual", p.X, p.H)

	p.RoutedFeedForward(b, b.FFNNorm)
}
