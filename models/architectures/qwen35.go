package architectures

import (
	"math"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/models/arch"
	"onebit/models/engine"
	"onebit/models/forward"
)

// Qwen35 is the architecture of Qwen3.5 to 3.8, and of the Bonsai 27B models
// made of them: of four blocks three are gated delta nets, whose memory of the
// text is a matrix for each value head, and the fourth is attention with an
// output gate. Names, keys and the order of value heads: PrismML-Eng/llama.cpp
// and ggml-org/llama.cpp, src/models/qwen35.cpp and conversion/qwen.py.
var _ = forward.Register(&forward.Architecture{
	Table: arch.Table{
		Name:       "qwen35",
		Summary:    "Qwen3.5 and Bonsai 27B, gated delta nets and attention",
		Activation: arch.SiLU,
		Types: map[arch.Role]*formats.Type{
			arch.Norm:       formats.F32,
			arch.Embedding:  formats.Q1_0_g128,
			arch.Head:       formats.Q1_0_g128,
			arch.Projection: formats.Q1_0_g128,
		},
		Keys: []string{
			arch.KeyBlockCount, arch.KeyContextLength, arch.KeyEmbeddingLength, arch.KeyFeedForwardLength,
			arch.KeyHeadCount, arch.KeyHeadCountKV, arch.KeyRopeSections, arch.KeyRopeFreqBase, arch.KeyRMSEpsilon,
			arch.KeyKeyLength, arch.KeyValueLength, arch.KeyTaps, arch.KeyStateSize, arch.KeyKeyHeads,
			arch.KeyValueHeads, arch.KeyInnerSize, arch.KeyAttentionInterval, arch.KeyRopeDimensionCount,
		},
		Global:  arch.Outside(),
		Block:   qwen35Block(),
		Text:    arch.Text{Chat: qwen35Chat, Others: []*arch.Chat{qwen38Chat}},
		Classes: qwen35Classes(),
		Presets: qwen35Presets(),
	},
	Forward: qwen35Forward,
	Grouped: "ssm_out",
	State: func(c arch.Config, block int) engine.State {
		if c.Attends(block) {
			return engine.KV{Heads: c.KVHeads, Dim: c.HeadDim}
		}
		d := c.Delta
		return engine.Delta{
			KeyHeads: d.KeyHeads, ValueHeads: d.ValueHeads, KeyDim: d.HeadDim, ValueDim: d.HeadDim,
			Channels: d.Channels(), Taps: d.Taps, Tiled: true,
		}
	},
})

// qwen35Block are the tensors of both kinds of block. Of the attention's, attn_q
// has a head's queries and behind them its gates; of the delta net's, attn_qkv
// has all queries, keys and values, in this order.
func qwen35Block() []arch.Declaration {
	gates := func(c arch.Config) int { return 2 * arch.Query(c) }
	out := []arch.Declaration{arch.Vector("attn_norm", arch.Norm, arch.Hidden)}
	out = append(out, arch.In(arch.Config.Attends,
		arch.Matrix("attn_q", arch.Projection, gates, arch.Hidden),
		arch.Matrix("attn_k", arch.Projection, arch.KV, arch.Hidden),
		arch.Matrix("attn_v", arch.Projection, arch.KV, arch.Hidden),
		arch.Vector("attn_q_norm", arch.Norm, arch.HeadDim),
		arch.Vector("attn_k_norm", arch.Norm, arch.HeadDim),
		arch.Matrix("attn_output", arch.Projection, arch.Hidden, arch.Query),
	)...)
	out = append(out, arch.In(func(c arch.Config, block int) bool { return !c.Attends(block) },
		arch.Matrix("attn_qkv", arch.Projection, deltaChannels, arch.Hidden),
		arch.Matrix("attn_gate", arch.Projection, deltaValues, arch.Hidden),
		arch.Matrix("ssm_alpha", arch.Control, deltaHeads, arch.Hidden),
		arch.Matrix("ssm_beta", arch.Control, deltaHeads, arch.Hidden),
		arch.Matrix("ssm_conv1d", arch.Taps, deltaChannels, func(c arch.Config) int { return c.Delta.Taps }),
		arch.Whole(arch.Vector("ssm_dt.bias", arch.Bias, deltaHeads)),
		arch.Whole(arch.Vector("ssm_a", arch.Rate, deltaHeads)),
		arch.Vector("ssm_norm", arch.Norm, deltaWidth),
		arch.Matrix("ssm_out", arch.Projection, arch.Hidden, deltaValues),
	)...)
	return append(append(out, arch.Vector("post_attention_norm", arch.Norm, arch.Hidden)), arch.FeedForward()...)
}

// Dimensions of gated delta nets.
func deltaHeads(c arch.Config) int    { return c.Delta.ValueHeads }
func deltaWidth(c arch.Config) int    { return c.Delta.HeadDim }
func deltaValues(c arch.Config) int   { return c.Delta.Values() }
func deltaChannels(c arch.Config) int { return c.Delta.Channels() }

// qwen35Classes are the classes of checkpoints, which see pictures but for their
// text's part, and the text's alone. Defaults: huggingface/transformers
// models/qwen3_5/configuration_qwen3_5.py. Changes: ggml-org/llama.cpp conversion/qwen.py.
func qwen35Classes() []arch.Class {
	text := arch.Class{
		Name: "Qwen3_5ForCausalLM", Activation: arch.SiLU, Context: 32768, HeadDim: 256, Eps: 1e-6, RopeBase: 1e4, RotaryFactor: 0.25,
		Delta:     arch.Delta{Interval: 4, KeyHeads: 16, ValueHeads: 32, HeadDim: 128, Taps: 4},
		LeftAlone: []arch.LeftAlone{{Prefix: "mtp.", What: "predicts further tokens (MTP)"}},
		Names: map[string][]string{
			"attn_q_norm": {"self_attn.q_norm"}, "attn_k_norm": {"self_attn.k_norm"}, "post_attention_norm": {"post_attention_layernorm"},
			"attn_qkv": {"linear_attn.in_proj_qkv"}, "attn_gate": {"linear_attn.in_proj_z"}, "ssm_alpha": {"linear_attn.in_proj_a"},
			"ssm_beta": {"linear_attn.in_proj_b"}, "ssm_conv1d": {"linear_attn.conv1d"}, "ssm_dt.bias": {"linear_attn.dt_bias"},
			"ssm_a": {"linear_attn.A_log"}, "ssm_norm": {"linear_attn.norm"}, "ssm_out": {"linear_attn.out_proj"},
		},
		Changes: qwen35Changes(),
	}
	all := text
	all.Name, all.Within = "Qwen3_5ForConditionalGeneration", "language_model."
	all.LeftAlone = append(slices.Clip(text.LeftAlone), arch.LeftAlone{Prefix: "model.visual.", What: "sees pictures"})
	return []arch.Class{all, text}
}

// qwen35Changes: gains are stored less 1 but for the delta nets', rates as the
// logarithms of what they are less the sign, and value heads by their key heads.
func qwen35Changes() map[string]arch.Change {
	nothing := func(arch.Config) int { return 0 }
	one := func(arch.Config) int { return 1 }
	keys := func(c arch.Config) int { return 2 * c.Delta.Keys() }
	each, wide := arch.Tiled(nothing, one), arch.Tiled(nothing, deltaWidth)
	out := map[string]arch.Change{
		"attn_qkv": {Rows: arch.Tiled(keys, deltaWidth)}, "ssm_conv1d": {Rows: arch.Tiled(keys, deltaWidth)},
		"attn_gate": {Rows: wide}, "ssm_out": {Cols: wide}, "ssm_alpha": {Rows: each}, "ssm_beta": {Rows: each},
		"ssm_dt.bias": {Cols: each},
		"ssm_a":       {Cols: each, Value: func(x float32) float32 { return float32(-math.Exp(float64(x))) }},
	}
	for _, norm := range []string{"output_norm", "attn_norm", "post_attention_norm", "attn_q_norm", "attn_k_norm"} {
		out[norm] = arch.Change{Value: func(x float32) float32 { return x + 1 }}
	}
	return out
}

// qwen35Forward is the block of huggingface/transformers
// models/qwen3_next/modeling_qwen3_next.py, whose norms' gains files have with 1
// added.
func qwen35Forward(b *forward.Block, p *forward.Pass) {
	p.Norm("attn_norm", p.H, p.X, b.AttnNorm)
	if p.Config.Attends(b.Index) {
		qwen35Attention(b, p)
	} else {
		qwen35Delta(b, p)
	}
	p.Add("attn_residual", p.X, p.H)

	p.FeedForward(b, b.Gain("post_attention_norm"))
}

// qwen35Attention is attention whose heads' results are gated, from p.H to p.H.
func qwen35Attention(b *forward.Block, p *forward.Pass) {
	dim := p.Config.HeadDim
	both, gate := p.Buffer("q and gate", 2*p.Q.Width()), p.Buffer("gate", p.Q.Width())
	p.Multiply("attn_qkv", p.H, b.Q.To(both), b.K.To(p.K), b.V.To(p.V))
	p.Stream.Select("attn_q", p.Q, both, 0, dim, 2*dim)
	p.Stream.Select("attn_gate", gate, both, dim, dim, 2*dim)
	p.Norm("attn_q_norm", p.Q, p.Q, b.QNorm)
	p.Norm("attn_k_norm", p.K, p.K, b.KNorm)
	p.Rotate("rope", p.Q, p.K)
	p.Attend("attn") // p.Att, from p.Q, p.K, p.V and the cache
	p.Stream.Gate("attn_gated", gate, p.Att, arch.Sigmoid)
	p.Multiply("attn_output", gate, b.Output.To(p.H))
}

// lengthEps is what keeps keys and queries of length 0 from dividing by it
// (l2norm of modeling_qwen3_next.py).
const lengthEps = 1e-6

// qwen35Delta is a gated delta net (arXiv:2412.06464), from p.H to p.H.
func qwen35Delta(b *forward.Block, p *forward.Pass) {
	d := p.Config.Delta
	keys, values, channels := d.Keys(), d.Values(), d.Channels()
	qkv, z := p.Buffer("channels", channels), p.Buffer("z", values)
	q, k, v := p.Buffer("delta q", keys), p.Buffer("delta k", keys), p.Buffer("delta v", values)
	decay, beta, out := p.Buffer("decay", d.ValueHeads), p.Buffer("beta", d.ValueHeads), p.Buffer("delta out", values)
	p.Multiply("ssm_in", p.H, b.Linear("attn_qkv").To(qkv), b.Linear("attn_gate").To(z))
	p.Multiply("ssm_control", p.H, b.Linear("ssm_alpha").To(decay), b.Linear("ssm_beta").To(beta))

	p.Stream.Convolve("ssm_conv", qkv, b.Gain("ssm_conv1d"))
	p.Stream.Select("ssm_q", q, qkv, 0, keys, channels)
	p.Stream.Select("ssm_k", k, qkv, keys, keys, channels)
	p.Stream.Select("ssm_v", v, qkv, 2*keys, values, channels)
	p.Stream.Normalize("ssm_q_norm", q, d.HeadDim, lengthEps, float32(1/math.Sqrt(float64(d.HeadDim))))
	p.Stream.Normalize("ssm_k_norm", k, d.HeadDim, lengthEps, 1)
	p.Stream.DeltaGates("ssm_gates", decay, beta, b.Gain("ssm_a"), b.Gain("ssm_dt.bias"))
	p.Stream.DeltaRule("ssm_delta", out, q, k, v, decay, beta)

	p.Norm("ssm_norm", out, out, b.Gain("ssm_norm"))
	p.Stream.Gate("ssm_gated", z, out, arch.SiLU)
	p.Multiply("ssm_out", z, b.Linear("ssm_out").To(p.H))
}

// qwen35Presets are the real models, from what loaders print of their files, and
// a small one.
func qwen35Presets() []*arch.Preset {
	small := qwen35Config(24, 1024, 3584, 8, 2, 16, true)
	two, four, nine := qwen35Config(24, 2048, 6144, 8, 2, 16, true), qwen35Config(32, 2560, 9216, 16, 4, 32, true), qwen35Config(32, 4096, 12288, 16, 4, 32, false)
	bonsai := qwen35Config(64, 5120, 17408, 24, 4, 48, false)
	tiny := arch.Config{
		Layers: 2, Hidden: 256, FFN: 512, Heads: 4, KVHeads: 2, HeadDim: 64, Vocab: 512, Context: 512,
		Delta:    arch.Delta{Interval: 2, KeyHeads: 2, ValueHeads: 4, HeadDim: 64, Taps: 4},
		RopeBase: 1e7, RopeDim: 32, Eps: 1e-6, TiedHead: true,
	}
	return []*arch.Preset{
		{Name: "bonsai-27b", Summary: "Bonsai 27B, 1 bit", ModelName: "Bonsai-27B", Tokenizer: "qwen35", Config: bonsai,
			Published: []arch.Edition{{Format: "Q1_0", Repository: "prism-ml/Bonsai-27B-gguf", File: "Bonsai-27B-Q1_0.gguf"}}},
		{Name: "ternary-bonsai-27b", Summary: "Ternary Bonsai 27B, 2 bits", ModelName: "Ternary-Bonsai-27B", Tokenizer: "qwen35", Config: bonsai,
			Types: inTwoBits(formats.Q2_0_g128, formats.Q2_0_g128),
			Published: []arch.Edition{
				{Format: "Q2_0", Repository: "prism-ml/Ternary-Bonsai-27B-gguf", File: "Ternary-Bonsai-27B-Q2_0.gguf"},
				{Format: "PQ2_0", Repository: "prism-ml/Ternary-Bonsai-27B-gguf", File: "Ternary-Bonsai-27B-PQ2_0.gguf", Types: inTwoBits(formats.PQ2_0, formats.PQ2_0)},
				{Format: "Q2_g64", Repository: "prism-ml/Ternary-Bonsai-27B-gguf", File: "Ternary-Bonsai-27B-Q2_g64.gguf", Types: inTwoBits(formats.Q2_0, formats.Q2_0)},
			}},
		{Name: "bonsai-2-27b", Summary: "Bonsai 2 27B, ternary in 2 bits, rotated", ModelName: "Ternary-Bonsai-2-27B", Tokenizer: "qwen35", Config: bonsai,
			Types: inTwoBits(formats.PQ2_0, formats.BF16), Rotation: 1024,
			Published: []arch.Edition{
				{Format: "PQ2_0", Repository: "prism-ml/Ternary-Bonsai-2-27B-gguf", File: "Ternary-Bonsai-2-27B-PQ2_0.gguf"},
				{Format: "PTQ1_0", Repository: "prism-ml/Ternary-Bonsai-2-27B-gguf", File: "Ternary-Bonsai-2-27B-PTQ1_0.gguf", Types: inTwoBits(formats.PTQ1_0, formats.BF16)},
			}},
		{Name: "qwen3.5-0.8b", Summary: "Qwen3.5 0.8B as it would be in 1 bit", ModelName: "Qwen3.5-0.8B", Tokenizer: "qwen35", Config: small},
		{Name: "qwen3.5-2b", Summary: "Qwen3.5 2B as it would be in 1 bit", ModelName: "Qwen3.5-2B", Tokenizer: "qwen35", Config: two},
		{Name: "qwen3.5-4b", Summary: "Qwen3.5 4B as it would be in 1 bit", ModelName: "Qwen3.5-4B", Tokenizer: "qwen35", Config: four},
		{Name: "qwen3.5-9b", Summary: "Qwen3.5 9B as it would be in 1 bit", ModelName: "Qwen3.5-9B", Tokenizer: "qwen35", Config: nine},
		{Name: "tiny-qwen35", Summary: "a small qwen35 for tests, 1 bit", ModelName: "tiny-qwen35", Tokenizer: "qwen35", Config: tiny},
	}
}

// qwen35Config returns what all sizes share.
func qwen35Config(layers, hidden, ffn, heads, kvHeads, valueHeads int, tied bool) arch.Config {
	return arch.Config{
		Layers: layers, Hidden: hidden, FFN: ffn, Heads: heads, KVHeads: kvHeads, HeadDim: 256,
		Vocab: 248320, Context: 262144, RopeBase: 1e7, RopeDim: 64, Eps: 1e-6, TiedHead: tied,
		Delta: arch.Delta{Interval: 4, KeyHeads: 16, ValueHeads: valueHeads, HeadDim: 128, Taps: 4},
	}
}

// inTwoBits are the formats of a model whose large matrices are in one.
func inTwoBits(all, control *formats.Type) map[arch.Role]*formats.Type {
	return map[arch.Role]*formats.Type{arch.Embedding: all, arch.Head: all, arch.Projection: all, arch.Control: control}
}

// qwenThinks begins a reply with thoughts that are the model's to finish.
const qwenThinks = "<|im_start|>assistant\n<think>\n"

// qwen35Chat is what Qwen3.5, 3.6 and Bonsai 27B were taught: they think unless
// told otherwise, and earlier replies lose what they were thought from. Source:
// chat_template.jinja of Qwen/Qwen3.5-27B.
var qwen35Chat = &arch.Chat{
	Name:     "qwen3.5",
	About:    "ChatML that begins a reply with <think>, and forgets earlier thoughts (Qwen3.5, Bonsai 27B)",
	Marks:    []string{"<|im_start|>", "<think>", "<function="},
	Turns:    qwenTurns(arch.Turn{Before: "<|im_start|>assistant\n", After: "<|im_end|>\n", Content: trimmedReply}),
	Reply:    qwenThinks,
	Thinking: &arch.Thinking{On: qwenThinks, Off: qwenSilent, Default: true},
}

// qwen38Chat is what Qwen3.8 and Bonsai 2 were taught: earlier thoughts stay, and
// a sentence says how much to think. Source: chat_template.jinja of
// Qwen/Qwen3.8-27B.
var qwen38Chat = &arch.Chat{
	Name:    "qwen3.8",
	About:   "ChatML that begins a reply with <think>, keeps thoughts, and knows efforts (Qwen3.8, Bonsai 2)",
	Marks:   []string{"<|im_start|>", "<think>", "<function=", "reasoning_effort"},
	Turns:   qwenTurns(arch.Turn{Before: qwenThinks, After: "<|im_end|>\n", Content: thoughtReply}),
	Reply:   qwenThinks,
	Preface: qwen38Efforts["xhigh"],
	Thinking: &arch.Thinking{
		On: qwenThinks, Off: qwenSilent, Default: true, Efforts: qwen38Efforts, Effort: "xhigh",
	},
}

// qwen38Efforts are the template's own words, which the models know.
var qwen38Efforts = map[string]string{
	"low": "Reasoning effort is set to low. Keep your thinking brief and focused, moving directly to the conclusion " +
		"without unnecessary elaboration.",
	"medium": "",
	"xhigh": "Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, " +
		"consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer.",
}

// qwenTurns are ChatML's, trimmed.
func qwenTurns(reply arch.Turn) map[string]arch.Turn {
	turns := arch.ChatMLTurns(nil)
	for _, role := range []string{arch.System, arch.User} {
		turn := turns[role]
		turn.Content = strings.TrimSpace
		turns[role] = turn
	}
	turns[arch.Assistant] = reply
	return turns
}

func trimmedReply(reply string) string { return strings.TrimSpace(withoutThinking(reply)) }

// thoughtReply is a reply behind <think>: the thoughts, none if it was made
// without, the end mark and the rest.
func thoughtReply(reply string) string {
	thoughts, rest, thought := strings.Cut(reply, "</think>")
	if !thought {
		thoughts, rest = "", reply
	}
	thoughts = strings.TrimPrefix(strings.TrimSpace(thoughts), "<think>")
	return strings.TrimSpace(thoughts) + "\n</think>\n\n" + strings.TrimSpace(rest)
}
