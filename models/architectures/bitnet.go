package architectures

import (
	"strings"

	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/forward"
)

// The BitNet b1.58 family: ternary projections, a half-precision embedding
// tied to the head, and an RMSNorm before the attention's output projection
// (attn_sub_norm) and before the feed-forward network's down projection
// (ffn_sub_norm). Names and keys: microsoft/BitNet,
// utils/convert-hf-to-gguf-bitnet.py, and the official 2B-4T file.
var (
	// BitNetB158 is the architecture of bitnet-b1.58-2B-4T. Its network is
	// gated by squared ReLU (huggingface/transformers, modular_bitnet.py).
	_ = forward.Register(bitnet("bitnet-b1.58", "BitNet b1.58 2B-4T", arch.ReLU2, bitnetText, bitnetClasses,
		// The official GGUF of microsoft/bitnet-b1.58-2B-4T.
		&arch.Preset{Name: "bitnet-2b-4t", Summary: "BitNet b1.58 2B-4T, ternary, fp16 embedding", ModelName: "bitnet2b", Tokenizer: "llama-bpe",
			Published: inI2S("microsoft/bitnet-b1.58-2B-4T-gguf"),
			Config: arch.Config{
				Layers: 30, Hidden: 2560, FFN: 6912, Heads: 20, KVHeads: 5, HeadDim: 128,
				Vocab: 128256, Context: 4096, RopeBase: 5e5, Eps: 1e-5, TiedHead: true,
			}},
		&arch.Preset{Name: "tiny-bitnet", Summary: "a small bitnet-b1.58 for tests, ternary", ModelName: "tiny-bitnet", Tokenizer: "llama-bpe",
			Config: arch.Config{
				Layers: 2, Hidden: 256, FFN: 512, Heads: 4, KVHeads: 2, HeadDim: 64,
				Vocab: 768, Context: 512, RopeBase: 5e5, Eps: 1e-5, TiedHead: true,
			}},
	))

	// BitNet25 is the name that the first upload of 2B-4T gave itself.
	_ = forward.Register(bitnet("bitnet-25", "BitNet b1.58 2B-4T, first upload", arch.ReLU2, bitnetText, nil))

	// BitNet is the architecture of 1bitLLM's bitnet_b1_58 models, which are
	// gated by SiLU.
	_ = forward.Register(bitnet("bitnet", "bitnet_b1_58-large, xl and 3B", arch.SiLU, arch.Text{Chat: instChat}, bitnetClasses,
		// 1bitLLM/bitnet_b1_58-large, config.json.
		&arch.Preset{Name: "bitnet-large", Summary: "bitnet_b1_58-large (0.7B), ternary, fp16 embedding", ModelName: "bitnet_b1_58-large", Tokenizer: "sentencepiece",
			Config: arch.Config{
				Layers: 24, Hidden: 1536, FFN: 4096, Heads: 16, KVHeads: 16, HeadDim: 96,
				Vocab: 32002, Context: 2048, RopeBase: 1e4, Eps: 1e-5, TiedHead: true,
			}},
	))
)

// bitnetClasses are the classes of checkpoints at Hugging Face: microsoft's, with
// the defaults of huggingface/transformers models/bitnet/configuration_bitnet.py,
// and 1bitLLM's, made from LLaMA's and with the defaults of
// models/llama/configuration_llama.py. Both may have either activation.
var bitnetClasses = []arch.Class{
	{Name: "BitNetForCausalLM", Activation: arch.ReLU2, Context: 2048, Eps: 1e-5, RopeBase: 5e5, Names: bitnetNames},
	{Name: "BitnetForCausalLM", Activation: arch.SiLU, Context: 2048, Eps: 1e-6, RopeBase: 1e4, Names: bitnetNames},
}

// The second names are 1bitLLM's.
var bitnetNames = map[string][]string{
	"attn_sub_norm": {"self_attn.attn_sub_norm", "self_attn.inner_attn_ln"},
	"ffn_sub_norm":  {"mlp.ffn_sub_norm", "mlp.ffn_layernorm"},
}

// bitnetText is that of 2B-4T. Its chat does not go by the file's template: the
// official GGUF file's, with "Human:" and "BITNETAssistant:", is a leftover of
// its converter and contradicts the model's own in tokenizer_config.json, where
// contents are trimmed. Nor does that file name Llama 3's splitter, without
// which ggml-org/llama.cpp falls back to another one.
var bitnetText = arch.Text{
	Chat: &arch.Chat{
		Name:  "bitnet",
		About: "User: …<|eot_id|>Assistant: (BitNet b1.58 2B4T)",
		Marks: []string{"<|eot_id|>", "capitalize"}, // of the role, to User and Assistant
		Turns: map[string]arch.Turn{
			arch.System:    {Before: "System: ", After: "<|eot_id|>", Content: strings.TrimSpace},
			arch.User:      {Before: "User: ", After: "<|eot_id|>", Content: strings.TrimSpace},
			arch.Assistant: {Before: "Assistant: ", After: "<|eot_id|>", Content: strings.TrimSpace},
		},
		Reply: "Assistant: ",
	},
	IgnoreTemplate: true,
	Splitter:       "llama-bpe",
}

// instChat is LLaMA's. Source: openfluke/loom poly/templates.go.
var instChat = &arch.Chat{
	Name:  "inst",
	About: "[INST] … [/INST] (1bitLLM)",
	Marks: []string{"[INST]"},
	Turns: map[string]arch.Turn{
		arch.User:      {Before: "[INST] ", After: " [/INST]"},
		arch.Assistant: {Before: " ", After: " </s><s>"},
	},
}

func bitnet(name, summary string, act arch.Activation, text arch.Text, classes []arch.Class, presets ...*arch.Preset) *forward.Architecture {
	return &forward.Architecture{Table: arch.Table{
		Name:       name,
		Summary:    summary,
		Activation: act,
		Types: map[arch.Role]*formats.Type{
			arch.Norm:       formats.F32,
			arch.Embedding:  formats.F16,
			arch.Head:       formats.F16,
			arch.Projection: formats.I2_S,
		},
		Keys:   llamaKeys,
		Global: arch.Outside(),
		Block: append([]arch.Declaration{
			arch.Vector("attn_norm", arch.Norm, arch.Hidden),
			arch.Matrix("attn_q", arch.Projection, arch.Query, arch.Hidden),
			arch.Matrix("attn_k", arch.Projection, arch.KV, arch.Hidden),
			arch.Matrix("attn_v", arch.Projection, arch.KV, arch.Hidden),
			arch.Vector("attn_sub_norm", arch.Norm, arch.Query),
			arch.Matrix("attn_output", arch.Projection, arch.Hidden, arch.Query),
			arch.Vector("ffn_norm", arch.Norm, arch.Hidden),
		}, arch.FeedForward(arch.Vector("ffn_sub_norm", arch.Norm, arch.FFN))...),
		Text:    text,
		Classes: classes,
		Presets: presets,
	}, Forward: bitnetForward}
}

// bitnetForward is the block of huggingface/transformers modular_bitnet.py
// and of 1bitLLM's modeling_bitnet.py: LLaMA's, with a norm before each of
// the two projections that end in the residual stream. The activation is the
// architecture's: squared ReLU for 2B-4T, SiLU for 1bitLLM's models.
func bitnetForward(b *forward.Block, p *forward.Pass) {
	p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
	p.Multiply("attn_qkv", p.H, b.Q.To(p.Q), b.K.To(p.K), b.V.To(p.V))
	p.Rotate("rope", p.Q, p.K)
	p.Attend("attn") // p.Att, from p.Q, p.K, p.V and the cache
	p.Norm("attn_sub_norm", p.Att, p.Att, b.AttnSubNorm)
	p.Multiply("attn_output", p.Att, b.Output.To(p.H))
	p.Add("attn_residual", p.X, p.H)

	p.Norm("ffn_norm", p.H, p.X, b.FFNNorm)
	p.Multiply("ffn_gate_up", p.H, b.Gate.To(p.Gate), b.Up.To(p.Up))
	p.Activate("ffn_act") // p.Gate, with p.Up
	p.Norm("ffn_sub_norm", p.Gate, p.Gate, b.FFNSubNorm)
	p.Multiply("ffn_down", p.Gate, b.Down.To(p.H))
	p.Add("ffn_residual", p.X, p.H)
}
