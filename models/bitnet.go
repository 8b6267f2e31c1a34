package models

import "onebit/formats"

// The BitNet b1.58 family: ternary projections, a half-precision embedding
// tied to the head, and an RMSNorm before the attention's output projection
// (attn_sub_norm) and before the feed-forward network's down projection
// (ffn_sub_norm). Names and keys: microsoft/BitNet,
// utils/convert-hf-to-gguf-bitnet.py, and the official 2B-4T file.
var (
	// BitNetB158 is the architecture of bitnet-b1.58-2B-4T. Its network is
	// gated by squared ReLU (huggingface/transformers, modular_bitnet.py).
	BitNetB158 = register(bitnet("bitnet-b1.58", "BitNet b1.58 2B-4T", ReLU2))

	// BitNet25 is the name that the first upload of 2B-4T gave itself.
	BitNet25 = register(bitnet("bitnet-25", "BitNet b1.58 2B-4T, first upload", ReLU2))

	// BitNet is the architecture of 1bitLLM's bitnet_b1_58 models, which are
	// gated by SiLU.
	BitNet = register(bitnet("bitnet", "bitnet_b1_58-large, xl and 3B", SiLU))
)

func bitnet(name, summary string, act Activation) *Architecture {
	return &Architecture{
		Name:       name,
		Summary:    summary,
		Activation: act,
		types: map[Role]*formats.Type{
			Norm:       formats.F32,
			Embedding:  formats.F16,
			Head:       formats.F16,
			Projection: formats.I2_S,
		},
		keys: []string{
			keyVocabSize, keyContextLength, keyEmbeddingLength, keyBlockCount,
			keyFeedForwardLength, keyRopeDimensionCount, keyHeadCount,
			keyHeadCountKV, keyRMSEpsilon, keyRopeFreqBase,
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
			{"attn_sub_norm", Norm, nil, query},
			{"attn_output", Projection, hidden, query},
			{"ffn_norm", Norm, nil, hidden},
			{"ffn_gate", Projection, ffn, hidden},
			{"ffn_up", Projection, ffn, hidden},
			{"ffn_sub_norm", Norm, nil, ffn},
			{"ffn_down", Projection, hidden, ffn},
		},
	}
}
