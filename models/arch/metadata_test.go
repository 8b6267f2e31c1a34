package arch_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/source"
)

// fileOf returns a GGUF that has the metadata, an embedding of 8 tokens, and
// more tensors by name, none of which matter.
func fileOf(t *testing.T, meta []container.KV, tensors ...string) *gguf.File {
	t.Helper()
	infos := []container.TensorInfo{{Name: "token_embd.weight", Type: formats.F32, Shape: []int{8, 4}}}
	for _, name := range tensors {
		infos = append(infos, container.TensorInfo{Name: name, Type: formats.F32, Shape: []int{8, 4}})
	}
	var b bytes.Buffer
	w, err := gguf.NewWriter(&b, meta, infos)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if err := w.WriteTensor(info.Name, make([]byte, 8*4*4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Parse(b.Bytes(), "model.gguf", gguf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func metadataOf(t *testing.T, preset string) []container.KV {
	p := mustPreset(t, preset)
	meta := []container.KV{{Key: arch.KeyArchitecture, Value: container.Of(p.Config.Arch)}}
	return append(meta, p.Table.Metadata(p.Config)...)
}

func set(meta []container.KV, key string, v container.Value) []container.KV {
	meta = without(meta, key)
	return append(meta, container.KV{Key: key, Value: v})
}

func without(meta []container.KV, key string) []container.KV {
	return slices.DeleteFunc(slices.Clone(meta), func(kv container.KV) bool { return kv.Key == key })
}

func TestConfigFromGGUF(t *testing.T) {
	qwen, bitnet := metadataOf(t, "tiny"), metadataOf(t, "tiny-bitnet")
	qwenConfig, bitnetConfig := mustPreset(t, "tiny").Config, mustPreset(t, "tiny-bitnet").Config
	qwenConfig.Vocab = 8 // Qwen3 files say it with the embedding only
	changed := func(c arch.Config, change func(*arch.Config)) arch.Config {
		change(&c)
		return c
	}
	tests := []struct {
		name    string
		meta    []container.KV
		tensors []string
		want    arch.Config
	}{
		{"qwen3", qwen, []string{"a"}, qwenConfig},
		{"bitnet", bitnet, []string{"a"}, bitnetConfig},
		{"a head of its own", qwen, []string{"output.weight"}, changed(qwenConfig, func(c *arch.Config) { c.TiedHead = false })},
		{"no grouped heads", without(qwen, "qwen3.attention.head_count_kv"), []string{"a"},
			changed(qwenConfig, func(c *arch.Config) { c.KVHeads = c.Heads })},
		{"no rope base", without(qwen, "qwen3.rope.freq_base"), []string{"a"},
			changed(qwenConfig, func(c *arch.Config) { c.RopeBase = 10000 })},
		{"head width from the hidden size", without(without(qwen, "qwen3.attention.key_length"), "qwen3.attention.value_length"), []string{"a"}, qwenConfig},
		{"other integer and float kinds",
			set(set(qwen, "qwen3.block_count", container.Of(uint64(2))), "qwen3.rope.freq_base", container.Of(5e5)), []string{"a"},
			changed(qwenConfig, func(c *arch.Config) { c.RopeBase = 5e5 })},
		{"rope scaling",
			append(slices.Clone(qwen),
				container.KV{Key: "qwen3.rope.scaling.type", Value: container.Of("yarn")},
				container.KV{Key: "qwen3.rope.scaling.factor", Value: container.Of(float32(4))},
				container.KV{Key: "qwen3.rope.scaling.original_context_length", Value: container.Of(uint32(32768))},
				container.KV{Key: "qwen3.rope.scaling.attn_factor", Value: container.Of(float32(1))},
				container.KV{Key: "qwen3.rope.scaling.yarn_ext_factor", Value: container.Of(float32(-1))},
				container.KV{Key: "qwen3.rope.scaling.yarn_beta_fast", Value: container.Of(float32(32))}),
			[]string{"a"},
			changed(qwenConfig, func(c *arch.Config) { c.RopeScaling = arch.RopeScaling{"yarn", 4, 32768} })},
		{"what changes nothing", append(slices.Clone(qwen),
			container.KV{Key: "qwen3.attention.causal", Value: container.Of(true)},
			container.KV{Key: "qwen3.attention.sliding_window", Value: container.Of(uint32(512))},
			container.KV{Key: "qwen3.attention.scale", Value: container.Of(float32(0.125))},
			container.KV{Key: "qwen3.attention.clamp_kqv", Value: container.Of(float32(0))},
			container.KV{Key: "qwen3.expert_count", Value: container.Of(uint32(0))},
			container.KV{Key: "qwen3.logit_scale", Value: container.Of(float32(1))}), []string{"a"}, qwenConfig},
		{"rope scaling without a type", set(qwen, "qwen3.rope.scaling.factor", container.Of(float32(2))), []string{"a"},
			changed(qwenConfig, func(c *arch.Config) { c.RopeScaling = arch.RopeScaling{"linear", 2, 0} })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, got, err := source.ConfigFromGGUF(fileOf(t, tt.meta, tt.tensors...))
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if a.Name != got.Arch {
				t.Errorf("architecture %s of a config of %s", a.Name, got.Arch)
			}
		})
	}
}

// Every key that must be there is missed by name, and every number that no
// model has is refused under its key.
func TestConfigFromGGUFErrors(t *testing.T) {
	qwen := metadataOf(t, "tiny")
	yarn := func(key string, x float32) []container.KV {
		return append(slices.Clone(qwen),
			container.KV{Key: "qwen3.rope.scaling.type", Value: container.Of("yarn")},
			container.KV{Key: "qwen3.rope.scaling.factor", Value: container.Of(float32(4))},
			container.KV{Key: "qwen3.rope.scaling." + key, Value: container.Of(x)})
	}
	tests := []struct {
		name string
		meta []container.KV
		key  string
		want string
	}{
		{"no architecture", without(qwen, arch.KeyArchitecture), arch.KeyArchitecture, "is missing"},
		{"unknown architecture", set(qwen, arch.KeyArchitecture, container.Of("gemma3")), arch.KeyArchitecture,
			`unknown architecture "gemma3" (known: bitnet, bitnet-25, bitnet-b1.58, llama, maple, minicpm, qwen3, qwen35)`},
		{"architecture of another kind", set(qwen, arch.KeyArchitecture, container.Of(uint32(3))), arch.KeyArchitecture, ""},
		{"no blocks", set(qwen, "qwen3.block_count", container.Of(uint32(0))), "qwen3.block_count", "0 is not between 1 and 1048576"},
		{"negative blocks", set(qwen, "qwen3.block_count", container.Of(int32(-1))), "qwen3.block_count", ""},
		{"more blocks than tensors", set(qwen, "qwen3.block_count", container.Of(uint32(1000000))), "qwen3.block_count", "1000000 blocks, and the file has 2 tensors"},
		{"absurd blocks", set(qwen, "qwen3.block_count", container.Of(uint64(1)<<63)), "qwen3.block_count", "9223372036854775808 is too many"},
		{"a width that is a string", set(qwen, "qwen3.embedding_length", container.Of("wide")), "qwen3.embedding_length", ""},
		{"no heads", set(qwen, "qwen3.attention.head_count", container.Of(uint32(0))), "qwen3.attention.head_count", "0 is not between 1 and 1048576"},
		{"uneven heads", set(qwen, "qwen3.attention.head_count_kv", container.Of(uint32(3))), "qwen3.attention.head_count_kv",
			"3 key and value heads cannot be shared evenly by 4 heads"},
		{"heads without a width", set(qwen, "qwen3.attention.key_length", container.Of(uint32(0))),
			"qwen3.attention.key_length", "0 is not between 1 and 1048576"},
		{"odd heads", set(set(qwen, "qwen3.attention.key_length", container.Of(uint32(63))), "qwen3.attention.value_length", container.Of(uint32(63))),
			"qwen3.attention.key_length", "heads are 63 wide, which is odd, and the rotary embedding turns pairs"},
		{"values of another width", set(qwen, "qwen3.attention.value_length", container.Of(uint32(32))), "qwen3.attention.value_length",
			"32 differs from the heads' width of 64, which is not supported"},
		{"zero epsilon", set(qwen, "qwen3.attention.layer_norm_rms_epsilon", container.Of(float32(0))), "qwen3.attention.layer_norm_rms_epsilon",
			"0 is not between 0 and 1"},
		{"integer epsilon", set(qwen, "qwen3.attention.layer_norm_rms_epsilon", container.Of(uint32(1))), "qwen3.attention.layer_norm_rms_epsilon", ""},
		{"negative rope base", set(qwen, "qwen3.rope.freq_base", container.Of(float32(-1))), "qwen3.rope.freq_base", "-1 is not positive and finite"},
		{"no context", set(qwen, "qwen3.context_length", container.Of(uint32(0))), "qwen3.context_length", "0 is not positive"},
		{"unknown scaling", set(qwen, "qwen3.rope.scaling.type", container.Of("dynamic")), "qwen3.rope.scaling.type",
			`"dynamic" is unknown (known: none, linear, yarn, longrope)`},
		{"scaling of another architecture", set(qwen, "qwen3.rope.scaling.type", container.Of("longrope")), "qwen3.rope.scaling.type",
			`"longrope" is not supported in this architecture`},
		{"scaling without factor", set(qwen, "qwen3.rope.scaling.type", container.Of("linear")), "qwen3.rope.scaling.factor", "is missing"},
		{"YaRN with bounds of its own", yarn("yarn_beta_fast", 16), "qwen3.rope.scaling.yarn_beta_fast", "16 is not supported, only 32"},
		{"YaRN with a temperature of its own", yarn("attn_factor", 1.5), "qwen3.rope.scaling.attn_factor", "1.5 is not supported, only 1"},
		{"attention to what comes", set(qwen, "qwen3.attention.causal", container.Of(false)), "qwen3.attention.causal",
			"false is not supported, only 1: the model would not compute what it was made for"},
		{"a sliding window", set(qwen, "qwen3.attention.sliding_window", container.Of(uint32(511))), "qwen3.attention.sliding_window", ""},
		{"windows of some blocks", set(qwen, "qwen3.attention.sliding_window", container.ArrayOf([]uint32{0, 128})), "qwen3.attention.sliding_window", ""},
		{"clamped queries", set(qwen, "qwen3.attention.clamp_kqv", container.Of(float32(8))), "qwen3.attention.clamp_kqv", ""},
		{"ALiBi", set(qwen, "qwen3.attention.max_alibi_bias", container.Of(float32(8))), "qwen3.attention.max_alibi_bias", ""},
		{"a scale of attention", set(qwen, "qwen3.attention.scale", container.Of(float32(0.25))), "qwen3.attention.scale", ""},
		{"softcapping of attention", set(qwen, "qwen3.attn_logit_softcapping", container.Of(float32(50))), "qwen3.attn_logit_softcapping", ""},
		{"softcapping of logits", set(qwen, "qwen3.final_logit_softcapping", container.Of(float32(30))), "qwen3.final_logit_softcapping", ""},
		{"experts", set(qwen, "qwen3.expert_count", container.Of(uint32(8))), "qwen3.expert_count", ""},
		{"latent attention", set(qwen, "qwen3.attention.kv_lora_rank", container.Of(uint32(512))), "qwen3.attention.kv_lora_rank", ""},
		{"parallel residuals", set(qwen, "qwen3.use_parallel_residual", container.Of(true)), "qwen3.use_parallel_residual", ""},
		{"a scaled embedding", set(qwen, "qwen3.embedding_scale", container.Of(float32(12))), "qwen3.embedding_scale", ""},
		{"scaled residuals", set(qwen, "qwen3.residual_scale", container.Of(float32(0.5))), "qwen3.residual_scale", ""},
		{"scaled logits", set(qwen, "qwen3.logit_scale", container.Of(float32(8))), "qwen3.logit_scale", ""},
		{"the old key of linear scaling", set(qwen, "qwen3.rope.scale_linear", container.Of(float32(4))), "qwen3.rope.scale_linear", ""},
		{"a magnitude of RoPE without YaRN", set(qwen, "qwen3.rope.scaling.attn_factor", container.Of(float32(1.2))), "qwen3.rope.scaling.attn_factor", ""},
		{"a flag that is a text", set(qwen, "qwen3.attention.causal", container.Of("yes")), "qwen3.attention.causal", ""},
		{"half of YaRN", yarn("yarn_ext_factor", 0.5), "qwen3.rope.scaling.yarn_ext_factor", "0.5 is not supported, only 1"},
	}
	for _, key := range []string{
		"block_count", "context_length", "embedding_length", "feed_forward_length",
		"attention.head_count", "attention.layer_norm_rms_epsilon",
	} {
		tests = append(tests, struct {
			name string
			meta []container.KV
			key  string
			want string
		}{"no " + key, without(qwen, "qwen3."+key), "qwen3." + key, "is missing"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := source.ConfigFromGGUF(fileOf(t, tt.meta, "a"))
			var bad *container.FormatError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want a FormatError", err)
			}
			if bad.File != "model.gguf" || bad.Key != tt.key {
				t.Errorf("file %q, key %q, want model.gguf and %q", bad.File, bad.Key, tt.key)
			}
			if tt.want != "" && bad.Msg != tt.want {
				t.Errorf("%q, want %q", bad.Msg, tt.want)
			}
		})
	}
}

func TestConfigCheck(t *testing.T) {
	c := mustPreset(t, "tiny").Config
	if bad := c.Check(); bad != nil {
		t.Errorf("a real configuration: %+v", *bad)
	}
	c.Layers = 0
	if bad := c.Check(); bad == nil || *bad != (arch.Violation{Key: "block_count", Msg: "0 is not between 1 and 1048576"}) {
		t.Errorf("violation %+v", bad)
	}
}
