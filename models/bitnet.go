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

// The classes of checkpoints at Hugging Face: microsoft's, with the defaults of
// huggingface/transformers models/bitnet/configuration_bitnet.py, and
// 1bitLLM's, made from LLaMA's and with the defaults of
// models/llama/configuration_llama.py.
var (
	bitnetActivations = map[Activation]*Architecture{ReLU2: BitNetB158, SiLU: BitNet}

	_ = registerHF("BitNetForCausalLM", hfClass{activations: bitnetActivations, activation: ReLU2, context: 2048, eps: 1e-5, ropeBase: 5e5})
	_ = registerHF("BitnetForCausalLM", hfClass{activations: bitnetActivations, activation: SiLU, context: 2048, eps: 1e-6, ropeBase: 1e4})
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
		forward: bitnetForward,
	}
}

// bitnetForward is the block of huggingface/transformers modular_bitnet.py
// and of 1bitLLM's modeling_bitnet.py: LLaMA's, with a norm before each of
// the two projections that end in the residual stream. The activation is the
// architecture's: squared ReLU for 2B-4T, SiLU for 1bitLLM's models.
func bitnetForward(b *Block, s *Session) {
	s.rmsNorm("attn_norm", s.h, s.x, b.AttnNorm)
	s.multiply("attn_qkv", s.h, into{b.Q, s.q}, into{b.K, s.k}, into{b.V, s.v})
	s.rotate("rope", s.q, s.k)
	s.attend("attn") // s.att, from s.q, s.k, s.v and the cache
	s.rmsNorm("attn_sub_norm", s.att, s.att, b.AttnSubNorm)
	s.multiply("attn_output", s.att, into{b.Output, s.h})
	s.add("attn_residual", s.x, s.h)

	s.rmsNorm("ffn_norm", s.h, s.x, b.FFNNorm)
	s.multiply("ffn_gate_up", s.h, into{b.Gate, s.gate}, into{b.Up, s.up})
	s.activate("ffn_act") // s.gate, with s.up
	s.rmsNorm("ffn_sub_norm", s.gate, s.gate, b.FFNSubNorm)
	s.multiply("ffn_down", s.gate, into{b.Down, s.h})
	s.add("ffn_residual", s.x, s.h)
}
