package architectures

import (
	"strings"

	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/forward"
)

// Qwen3 is the architecture of the Bonsai models, unchanged from Qwen3:
// grouped-query attention with an RMSNorm per head on queries and keys before
// RoPE, and a SiLU-gated feed-forward network. Bonsai stores embeddings,
// projections and head in 1 bit. Names and keys: ggml-org/llama.cpp,
// gguf-py/gguf/constants.py and convert_hf_to_gguf.py (Qwen3Model).
var _ = forward.Register(&forward.Architecture{Table: arch.Table{
	Name:       "qwen3",
	Summary:    "Qwen3 and Bonsai",
	Activation: arch.SiLU,
	Types: map[arch.Role]*formats.Type{
		arch.Norm:       formats.F32,
		arch.Embedding:  formats.Q1_0_g128,
		arch.Head:       formats.Q1_0_g128,
		arch.Projection: formats.Q1_0_g128,
	},
	Keys: []string{
		arch.KeyBlockCount, arch.KeyContextLength, arch.KeyEmbeddingLength, arch.KeyFeedForwardLength,
		arch.KeyHeadCount, arch.KeyHeadCountKV, arch.KeyRopeFreqBase, arch.KeyRMSEpsilon,
		arch.KeyKeyLength, arch.KeyValueLength,
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
	}, arch.FeedForward()...),
	Text:    arch.Text{Chat: qwen3Chat},
	InCellm: true,
	// Defaults: huggingface/transformers models/qwen3/configuration_qwen3.py.
	Classes: []arch.Class{
		{Name: "Qwen3ForCausalLM", Activation: arch.SiLU, Context: 32768, HeadDim: 128, Eps: 1e-6, RopeBase: 1e4,
			Names: map[string][]string{"attn_q_norm": {"self_attn.q_norm"}, "attn_k_norm": {"self_attn.k_norm"}}},
	},
	Presets: []*arch.Preset{
		{Name: "bonsai-1.7b", Summary: "Bonsai 1.7B, 1 bit", ModelName: "Bonsai-1.7B", Tokenizer: "qwen2",
			Config:    bonsai(28, 2048, 6144, 16, 32768, true),
			Published: []arch.Edition{{Format: "Q1_0", Repository: "prism-ml/Bonsai-1.7B-gguf"}}},
		{Name: "bonsai-4b", Summary: "Bonsai 4B, 1 bit", ModelName: "Bonsai-4B", Tokenizer: "qwen2",
			Config:    bonsai(36, 2560, 9728, 32, 32768, true),
			Published: []arch.Edition{{Format: "Q1_0"}}},
		{Name: "bonsai-8b", Summary: "Bonsai 8B, 1 bit, head of its own", ModelName: "Bonsai-8B", Tokenizer: "qwen2",
			Config:    bonsai(36, 4096, 12288, 32, 65536, false),
			Published: []arch.Edition{{Format: "Q1_0"}}},
		{Name: "tiny", Summary: "a small qwen3 for tests, 1 bit", ModelName: "tiny", Tokenizer: "qwen2",
			Config: arch.Config{
				Layers: 2, Hidden: 256, FFN: 512, Heads: 4, KVHeads: 2, HeadDim: 64,
				Vocab: 512, Context: 512, RopeBase: 1e6, Eps: 1e-6, TiedHead: true,
			}},
	},
}, Forward: qwen3Forward})

// bonsai returns what the Bonsai models share; the numbers are those of the
// model cards and of the Qwen3 configurations that they are built on.
func bonsai(layers, hidden, ffn, heads, context int, tied bool) arch.Config {
	return arch.Config{
		Layers: layers, Hidden: hidden, FFN: ffn, Heads: heads, KVHeads: 8, HeadDim: 128,
		Vocab: 151936, Context: context, RopeBase: 1e6, Eps: 1e-6, TiedHead: tied,
	}
}

// qwen3Chat is ChatML with an empty block of thoughts before the reply. Source:
// tokenizer_config.json of Qwen/Qwen3-8B with enable_thinking false, which also
// leaves the thinking out of earlier replies.
var qwen3Chat = &arch.Chat{
	Name:     "qwen3",
	About:    "ChatML with an empty <think> block before the reply: enable_thinking is false (Bonsai)",
	Marks:    []string{"<|im_start|>", "<think>"},
	Turns:    arch.ChatMLTurns(withoutThinking),
	Reply:    qwenSilent,
	Thinking: &arch.Thinking{On: "<|im_start|>assistant\n", Off: qwenSilent},
}

// qwenSilent begins a reply with thoughts that are empty.
const qwenSilent = "<|im_start|>assistant\n<think>\n\n</think>\n\n"

// withoutThinking leaves out what an earlier reply was thought from.
func withoutThinking(reply string) string {
	const end = "</think>"
	if i := strings.LastIndex(reply, end); i >= 0 {
		return strings.TrimLeft(reply[i+len(end):], "\n")
	}
	return reply
}

// qwen3Forward is the block of the Qwen3 report (arXiv:2505.09388) and
// huggingface/transformers modeling_qwen3.py: pre-norm attention and
// feed-forward network, queries and keys normalized head by head before RoPE.
func qwen3Forward(b *forward.Block, p *forward.Pass) {
	p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
	p.Multiply("attn_qkv", p.H, b.Q.To(p.Q), b.K.To(p.K), b.V.To(p.V))
	p.Norm("attn_q_norm", p.Q, p.Q, b.QNorm)
	p.Norm("attn_k_norm", p.K, p.K, b.KNorm)
	p.Rotate("rope", p.Q, p.K)
	p.Attend("attn") // p.Att, from p.Q, p.K, p.V and the cache
	p.Multiply("attn_output", p.Att, b.Output.To(p.H))
	p.Add("attn_residual", p.X, p.H)

	p.FeedForward(b, b.FFNNorm)
}
