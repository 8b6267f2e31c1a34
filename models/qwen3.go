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
})
