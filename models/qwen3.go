package models

import "onebit/formats"

// Qwen3 is the architecture of the Bonsai models, unchanged from Qwen3:
// grouped-query attention with an RMSNorm per head on queries and keys before
// RoPE, and a SiLU-gated feed-forward network. Bonsai stores embeddings,
// projections and head in 1 bit. Names and keys: ggml-org/llama.cpp,
// gguf-py/gguf/constants.py and convert_hf_to_gguf.py (Qwen3Model).
var Qwen3 = register(&Architecture{
	Name:       "qwen3",
	Summary:    "Qwen3 and Bonsai",
	Activation: SiLU,
	types: map[Role]*formats.Type{
		Norm:       formats.F32,
		Embedding:  formats.Q1_0_g128,
		Head:       formats.Q1_0_g128,
		Projection: formats.Q1_0_g128,
	},
	keys: []string{
		keyBlockCount, keyContextLength, keyEmbeddingLength, keyFeedForwardLength,
		keyHeadCount, keyHeadCountKV, keyRopeFreqBase, keyRMSEpsilon,
		keyKeyLength, keyValueLength,
	},
	global: []declaration{
		{"token_embd", Embedding, vocab, hidden},
		{"output_norm", Norm, nil, hidden},
		{"output", Head, vocab, hidden},
	},
	block: []declaration{
		{"attn_norm", Norm, nil, hidden},
		{"attn_q", Projection, query, hidden},
		{"attn_k", Projection, kv, hidden},
		{"attn_v", Projection, kv, hidden},
		{"attn_q_norm", Norm, nil, head},
		{"attn_k_norm", Norm, nil, head},
		{"attn_output", Projection, hidden, query},
		{"ffn_norm", Norm, nil, hidden},
		{"ffn_gate", Projection, ffn, hidden},
		{"ffn_up", Projection, ffn, hidden},
		{"ffn_down", Projection, hidden, ffn},
	},
	forward: qwen3Forward,
})

// Defaults: huggingface/transformers models/qwen3/configuration_qwen3.py.
var _ = registerHF("Qwen3ForCausalLM", hfClass{
	activations: map[Activation]*Architecture{SiLU: Qwen3}, activation: SiLU,
	context: 32768, headDim: 128, eps: 1e-6, ropeBase: 1e4,
})

// qwen3Forward is the block of the Qwen3 report (arXiv:2505.09388) and
// huggingface/transformers modeling_qwen3.py: pre-norm attention and
// feed-forward network, queries and keys normalized head by head before RoPE.
func qwen3Forward(b *Block, s *Session) {
	s.rmsNorm("attn_norm", s.h, s.x, b.AttnNorm)
	s.multiply("attn_qkv", s.h, into{b.Q, s.q}, into{b.K, s.k}, into{b.V, s.v})
	s.rmsNorm("attn_q_norm", s.q, s.q, b.QNorm)
	s.rmsNorm("attn_k_norm", s.k, s.k, b.KNorm)
	s.rotate("rope", s.q, s.k)
	s.attend("attn") // s.att, from s.q, s.k, s.v and the cache
	s.multiply("attn_output", s.att, into{b.Output, s.h})
	s.add("attn_residual", s.x, s.h)

	s.rmsNorm("ffn_norm", s.h, s.x, b.FFNNorm)
	s.multiply("ffn_gate_up", s.h, into{b.Gate, s.gate}, into{b.Up, s.up})
	s.activate("ffn_act") // s.gate, with s.up
	s.multiply("ffn_down", s.gate, into{b.Down, s.h})
	s.add("ffn_residual", s.x, s.h)
}
