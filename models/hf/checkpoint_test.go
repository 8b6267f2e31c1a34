package hf_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/formats/safetensors"
	"onebit/models/arch"
	"onebit/models/hf"
	"onebit/models/source"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The config of the smallest BitNet: one block, of 8 × 2 queries.
func smallConfig(changes map[string]any) map[string]any {
	c := map[string]any{
		"architectures": []string{"BitNetForCausalLM"}, "vocab_size": 3, "hidden_size": 2, "intermediate_size": 4, "num_hidden_layers": 1,
		"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 2,
		"quantization_config": map[string]any{"quant_method": "bitnet", "linear_class": "autobitlinear"},
	}
	for key, v := range changes {
		if c[key] = v; v == nil {
			delete(c, key)
		}
	}
	return c
}

func f32s(x ...float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func writeHF(t testing.TB, config any, tensors ...safetensors.Tensor) string {
	t.Helper()
	dir := t.TempDir()
	f := must(os.Create(filepath.Join(dir, "model.safetensors")))
	if err := errors.Join(safetensors.Write(f, tensors), f.Close(),
		os.WriteFile(filepath.Join(dir, "config.json"), must(json.Marshal(config)), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

const qName = "model.layers.0.self_attn.q_proj.weight"

// The example of unpack_weights in huggingface/transformers
// integrations/bitnet.py, in both conventions of the scale.
func TestPacking(t *testing.T) {
	packed := safetensors.Tensor{Name: qName, DType: "U8", Shape: []int{2, 2}, Data: []byte{0b10100001, 0b00011000, 0b10010000, 0b00001010}}
	want := []float32{0, -1, -1, 1, -1, 1, -1, 1, 1, 0, 0, -1, 1, -1, 1, -1}
	for _, tt := range []struct {
		quantization any
		tensor       safetensors.Tensor
		scale        *safetensors.Tensor
		factor       float32
	}{
		{map[string]any{"quant_method": "bitnet", "linear_class": "autobitlinear"}, packed, &safetensors.Tensor{DType: "F32", Data: f32s(0.25)}, 0.25},
		{map[string]any{"quant_method": "bitnet", "linear_class": "bitlinear"}, packed, &safetensors.Tensor{DType: "BF16", Shape: []int{1}, Data: []byte{0, 0x41}}, 0.125},
		{map[string]any{"quant_method": "bitnet"}, packed, &safetensors.Tensor{DType: "F16", Shape: []int{1}, Data: []byte{0, 0x44}}, 0.25},
		{nil, packed, &safetensors.Tensor{DType: "F32", Data: f32s(0.5)}, 2},
		// Unpacked, with the scale beside them or in them.
		{map[string]any{"quant_method": "bitnet", "linear_class": "autobitlinear"},
			safetensors.Tensor{Name: qName, DType: "F32", Shape: []int{8, 2}, Data: f32s(want...)}, &safetensors.Tensor{DType: "F32", Data: f32s(3)}, 3},
		{nil, safetensors.Tensor{Name: qName, DType: "F32", Shape: []int{8, 2}, Data: f32s(want...)}, nil, 1},
	} {
		tensors := []safetensors.Tensor{tt.tensor}
		if tt.scale != nil {
			tt.scale.Name = qName + "_scale"
			tensors = append(tensors, *tt.scale)
		}
		src := must(source.Open(writeHF(t, smallConfig(map[string]any{"quantization_config": tt.quantization}), tensors...), gguf.Options{}))
		tensor := must(src.Tensor("blk.0.attn_q.weight"))
		got := must(tensor.Floats())
		for i, q := range want {
			if got[i] != q*tt.factor {
				t.Errorf("%v: weights %v, want %v times %v", tt.quantization, got, want, tt.factor)
				break
			}
		}
		if tensor.Type != formats.Ternary_u32 || !slices.Equal(tensor.Shape, []int{8, 2}) || len(src.Tensors()) != 1 {
			t.Errorf("%s of shape %v, %d tensors", tensor.Type.Name, tensor.Shape, len(src.Tensors()))
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A key that is missing has its class's default.
func TestDefaults(t *testing.T) {
	base := map[string]any{"vocab_size": 3, "hidden_size": 256, "intermediate_size": 4, "num_hidden_layers": 1, "num_attention_heads": 4}
	for _, tt := range []struct {
		changes map[string]any
		arch    string
		want    func(c *arch.Config)
	}{
		{map[string]any{"architectures": []string{"BitNetForCausalLM"}}, "bitnet-b1.58", func(c *arch.Config) { c.RopeBase, c.Eps = 5e5, 1e-5 }},
		{map[string]any{"architectures": []string{"BitnetForCausalLM"}, "tie_word_embeddings": true, "head_dim": nil}, "bitnet", func(c *arch.Config) { c.TiedHead = true }},
		{map[string]any{"architectures": []string{"BitnetForCausalLM"}, "model_type": "llama", "hidden_act": "relu2", "rope_scaling": nil}, "bitnet-b1.58", nil},
		{map[string]any{"architectures": []string{"Qwen3ForCausalLM"}, "num_key_value_heads": 2}, "qwen3", func(c *arch.Config) { c.Context, c.HeadDim, c.KVHeads = 32768, 128, 2 }},
		{map[string]any{"architectures": []string{"Qwen3ForCausalLM"}, "head_dim": 64, "max_position_embeddings": 100,
			"rope_scaling": map[string]any{"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 25}}, "qwen3", func(c *arch.Config) {
			c.Context, c.RopeScaling = 100, arch.RopeScaling{Type: "yarn", Factor: 4, OriginalContext: 25}
		}},
		{map[string]any{"architectures": []string{"Qwen3ForCausalLM"}, "head_dim": 64,
			"rope_parameters": map[string]any{"rope_type": "default", "rope_theta": 7e4}}, "qwen3", func(c *arch.Config) { c.Context, c.RopeBase = 32768, 7e4 }},
		// What transformers 5 spells out.
		{map[string]any{"architectures": []string{"Qwen3ForCausalLM"}, "head_dim": 64, "dtype": "bfloat16", "layer_types": []string{"full_attention"},
			"rope_parameters": map[string]any{"rope_type": "yarn", "rope_theta": 7e4, "factor": 4.0, "original_max_position_embeddings": 25,
				"attention_factor": nil, "beta_fast": 32, "beta_slow": 1.0, "partial_rotary_factor": 1.0, "truncate": true}}, "qwen3", func(c *arch.Config) {
			c.Context, c.RopeBase, c.RopeScaling = 32768, 7e4, arch.RopeScaling{Type: "yarn", Factor: 4, OriginalContext: 25}
		}},
		{map[string]any{"architectures": []string{"MiniCPMForCausalLM"}, "scale_emb": 12, "scale_depth": 1.5, "dim_model_base": 64}, "minicpm", func(c *arch.Config) {
			c.Context, c.TiedHead, c.EmbeddingScale, c.ResidualScale, c.LogitScale = 32768, true, 12, 1.5, 4
		}},
		{map[string]any{"architectures": []string{"Qwen3_5ForCausalLM"}, "tie_word_embeddings": true}, "qwen35", func(c *arch.Config) {
			c.Context, c.HeadDim, c.RopeDim, c.TiedHead = 32768, 256, 64, true
			c.Delta = arch.Delta{Interval: 4, KeyHeads: 16, ValueHeads: 32, HeadDim: 128, Taps: 4}
		}},
		// What is said of the text counts before what is said around it; layer_types
		// count before the interval.
		{map[string]any{"architectures": []string{"Qwen3_5ForConditionalGeneration"}, "vocab_size": 9, "text_config": map[string]any{
			"vocab_size": 3, "architectures": []string{"none"}, "num_hidden_layers": 3, "layer_types": []string{"linear_attention", "linear_attention", "full_attention"},
			"linear_num_value_heads": 48, "linear_conv_kernel_dim": 3, "full_attention_interval": 7,
			"rope_parameters": map[string]any{"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 1, "mrope_section": []int{11, 11, 10}, "mrope_interleaved": true},
		}}, "qwen35", func(c *arch.Config) {
			c.Layers, c.Context, c.HeadDim, c.RopeBase = 3, 32768, 256, 1e7
			c.Delta = arch.Delta{Interval: 3, KeyHeads: 16, ValueHeads: 48, HeadDim: 128, Taps: 3}
		}},
	} {
		config := map[string]any{}
		for _, m := range []map[string]any{base, tt.changes} {
			for key, v := range m {
				config[key] = v
			}
		}
		want := arch.Config{Arch: tt.arch, Layers: 1, Hidden: 256, FFN: 4, Heads: 4, KVHeads: 4, HeadDim: 64, Vocab: 3, Context: 2048, RopeBase: 1e4, Eps: 1e-6}
		if tt.want != nil {
			tt.want(&want)
		}
		src := must(source.Open(writeHF(t, config, safetensors.Tensor{Name: "x", DType: "U8", Data: []byte{0}},
			safetensors.Tensor{Name: "y", DType: "U8", Data: []byte{0}}, safetensors.Tensor{Name: "z", DType: "U8", Data: []byte{0}}), gguf.Options{}))
		table, c, err := src.Config()
		if err != nil || c != want || table.Name != tt.arch {
			t.Errorf("%v:\ngot  %+v\nwant %+v", tt.changes, c, want)
		}
		src.Close()
	}
}

func TestRefuses(t *testing.T) {
	scale := func(x float32) safetensors.Tensor {
		return safetensors.Tensor{Name: qName + "_scale", DType: "F32", Shape: []int{1}, Data: f32s(x)}
	}
	codes := func(b byte) safetensors.Tensor {
		return safetensors.Tensor{Name: qName, DType: "U8", Shape: []int{2, 2}, Data: []byte{0, 0, b, 0}}
	}
	floats := func(x ...float32) safetensors.Tensor {
		return safetensors.Tensor{Name: qName, DType: "F32", Shape: []int{len(x) / 2, 2}, Data: f32s(x...)}
	}
	nan := float32(math.NaN())
	with := func(class string, all ...map[string]any) map[string]any {
		out := map[string]any{"architectures": []string{class}, "quantization_config": nil}
		for _, changes := range all {
			maps.Copy(out, changes)
		}
		return out
	}
	minicpm := func(changes map[string]any) map[string]any {
		return with("MiniCPMForCausalLM", map[string]any{"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 256}, changes)
	}
	qwen35 := func(changes map[string]any) map[string]any {
		return with("Qwen3_5ForCausalLM", map[string]any{"head_dim": nil, "num_attention_heads": 1, "num_key_value_heads": 1}, changes)
	}
	longRope := func(n, original int) map[string]any {
		return map[string]any{"rope_type": "longrope", "long_factor": make([]float32, n), "short_factor": make([]float32, n), "original_max_position_embeddings": original}
	}
	three := []safetensors.Tensor{{Name: "x", DType: "U8", Data: []byte{0}}, {Name: "y", DType: "U8", Data: []byte{0}}, {Name: "z", DType: "U8", Data: []byte{0}}}
	for _, tt := range []struct {
		name    string
		changes map[string]any
		tensors []safetensors.Tensor
		at      string // the tensor or key
		want    string
	}{
		{"code 3", nil, []safetensors.Tensor{codes(0b00110000), scale(1)}, qName, "code 3 has no meaning at row 5, column 0, byte 2"},
		{"no scale", nil, []safetensors.Tensor{codes(0)}, qName, "holds packed weights, and their weight_scale is missing"},
		{"NaN scale", nil, []safetensors.Tensor{codes(0), scale(nan)}, qName + "_scale", "is NaN, want a scale that is positive and finite"},
		{"zero scale", nil, []safetensors.Tensor{codes(0), scale(0)}, qName + "_scale", "is 0, want a scale"},
		{"negative scale", nil, []safetensors.Tensor{codes(0), scale(-1)}, qName + "_scale", "is -1, want a scale"},
		{"infinite scale", nil, []safetensors.Tensor{codes(0), scale(float32(math.Inf(1)))}, qName + "_scale", "is +Inf, want"},
		{"scale without an inverse", map[string]any{"quantization_config": nil}, []safetensors.Tensor{codes(0), scale(1e-45)}, qName + "_scale", "is 1e-45, want"},
		{"two scales", nil, []safetensors.Tensor{codes(0), {Name: qName + "_scale", DType: "F32", Shape: []int{2}, Data: f32s(1, 1)}}, qName + "_scale", "has 2 elements"},
		{"scale of bytes", nil, []safetensors.Tensor{codes(0), {Name: qName + "_scale", DType: "I8", Data: []byte{1}}}, qName + "_scale", "has dtype I8"},
		{"int8 weights", nil, []safetensors.Tensor{{Name: qName, DType: "I8", Shape: []int{2, 2}, Data: make([]byte, 4)}}, qName, "has dtype I8, want packed weights in U8 or floats"},
		{"NaN master", nil, []safetensors.Tensor{floats(1, 2, nan, 4)}, qName, "f32: weight is not finite at row 1, column 0"},
		{"infinite master", nil, []safetensors.Tensor{floats(0, float32(math.Inf(1)))}, qName, "f32: weight is not finite at row 0, column 1"},
		{"masters with a scale", nil, []safetensors.Tensor{floats(0.25, 1.75), scale(1)}, qName, "has a weight_scale, and weights that are not all -1, 0 or +1"},
		{"ternary of another scale", nil, []safetensors.Tensor{floats(0.5, 0), scale(1)}, qName, "has a weight_scale, and weights that are not all -1, 0 or +1"},
		{"norm with a scale", nil, []safetensors.Tensor{
			{Name: "model.norm.weight", DType: "F32", Shape: []int{1}, Data: f32s(1)}, {Name: "model.norm.weight_scale", DType: "F32", Shape: []int{1}, Data: f32s(2)}},
			"model.norm.weight", "has a weight_scale, which only ternary projections may have"},
		{"bias", nil, []safetensors.Tensor{{Name: "model.layers.0.self_attn.q_proj.bias", DType: "F32", Shape: []int{8}, Data: make([]byte, 32)}},
			"model.layers.0.self_attn.q_proj.bias", "is a bias, which no architecture of onebit adds"},
		{"two names", nil, []safetensors.Tensor{
			{Name: "model.layers.0.mlp.ffn_sub_norm.weight", DType: "F32", Shape: []int{1}, Data: f32s(1)},
			{Name: "model.layers.0.mlp.ffn_layernorm.weight", DType: "F32", Shape: []int{1}, Data: f32s(1)}},
			"model.layers.0.mlp.ffn_layernorm.weight", `is the same as tensor "model.layers.0.mlp.ffn_sub_norm.weight"`},
		{"NaN norm", nil, []safetensors.Tensor{{Name: "model.norm.weight", DType: "BF16", Shape: []int{2}, Data: []byte{0, 0, 0xff, 0x7f}}},
			"model.norm.weight", "bf16: weight is not finite at row 0, column 1"},

		{"no architecture", map[string]any{"architectures": nil}, nil, "architectures", "is missing"},
		{"unknown architecture", map[string]any{"architectures": []string{"GemmaForCausalLM"}}, nil, "architectures", `unknown architecture "GemmaForCausalLM" (known: BitNetForCausalLM, BitnetForCausalLM, LlamaForCausalLM, MapleForCausalLM, MiniCPMForCausalLM, Qwen3ForCausalLM, Qwen3_5ForCausalLM, Qwen3_5ForConditionalGeneration)`},
		{"another activation", map[string]any{"hidden_act": "gelu"}, nil, "hidden_act", `"gelu" is not supported`},
		{"no width", map[string]any{"hidden_size": nil}, nil, "hidden_size", "is missing"},
		{"text for a width", map[string]any{"hidden_size": "2"}, nil, "hidden_size", "cannot unmarshal string"},
		{"no blocks", map[string]any{"num_hidden_layers": 0}, nil, "num_hidden_layers", "0 is not between 1 and"},
		{"too many blocks", map[string]any{"num_hidden_layers": 1000}, nil, "num_hidden_layers", "1000 blocks, and there are 1 tensors"},
		{"absurd width", map[string]any{"hidden_size": 1 << 40}, nil, "hidden_size", "is too many"},
		{"odd heads", map[string]any{"head_dim": 3}, nil, "head_dim", "heads are 3 wide"},
		{"biases", map[string]any{"attention_bias": true}, nil, "attention_bias", "is true, which onebit does not support"},
		{"sliding window", map[string]any{"use_sliding_window": true}, nil, "use_sliding_window", "is true"},
		{"scaling by frequency", map[string]any{"rope_scaling": map[string]any{"rope_type": "llama3", "factor": 8}}, nil, "rope_scaling", `llama3 is not supported in this architecture`},
		{"scaling with more", map[string]any{"rope_scaling": map[string]any{"rope_type": "yarn", "factor": 8, "beta_fast": 16}}, nil, "rope_scaling", "beta_fast of 16 is not supported"},
		{"part of a head turned", map[string]any{"rope_parameters": map[string]any{"rope_theta": 1e4, "partial_rotary_factor": 0.5}}, nil, "rope_parameters", "partial_rotary_factor of 0.5 is not supported"},
		{"sliding layers", map[string]any{"layer_types": []string{"full_attention", "sliding_attention"}}, nil, "layer_types", `"sliding_attention" is not supported`},
		{"scaling by text", map[string]any{"rope_scaling": map[string]any{"rope_type": "yarn", "factor": "8"}}, nil, "rope_scaling", "cannot unmarshal string"},
		{"another quantization", map[string]any{"quantization_config": map[string]any{"quant_method": "gptq"}}, nil, "quantization_config", `quant_method "gptq" is not supported`},
		{"another linear class", map[string]any{"quantization_config": map[string]any{"quant_method": "bitnet", "linear_class": "trilinear"}}, nil, "quantization_config", `linear_class "trilinear" is unknown`},
		{"norms in projections", map[string]any{"quantization_config": map[string]any{"quant_method": "bitnet", "use_rms_norm": true}}, nil, "quantization_config", "use_rms_norm"},
		{"float projections", map[string]any{"quantization_config": map[string]any{"quant_method": "bitnet", "modules_to_not_convert": []string{"lm_head", "o_proj"}}}, nil, "quantization_config", `modules_to_not_convert has "o_proj"`},
		{"LLaMA's kind with longrope", map[string]any{"rope_scaling": longRope(1, 4)}, nil, "rope_scaling", "longrope is not supported in this architecture"},
		{"part of a head without saying where", map[string]any{"partial_rotary_factor": 0.5}, nil, "partial_rotary_factor", "0.5 is not supported in this class"},
		{"no factor", minicpm(map[string]any{"scale_emb": nil}), nil, "scale_emb", "is missing"},
		{"factor of 0", minicpm(map[string]any{"scale_depth": 0}), nil, "scale_depth", "0 is not positive"},
		{"negative factor", minicpm(map[string]any{"dim_model_base": -256}), nil, "dim_model_base", "-256 is not positive"},
		{"text for a factor", minicpm(map[string]any{"dim_model_base": "256"}), nil, "dim_model_base", "cannot unmarshal string"},
		{"longrope without divisors", minicpm(map[string]any{"rope_scaling": map[string]any{"type": "longrope"}}), nil, "rope_scaling", "long_factor has 0 elements, and the rotary embedding turns 1 pairs"},
		{"longrope with too many", minicpm(map[string]any{"rope_scaling": longRope(2, 4)}), nil, "rope_scaling", "long_factor has 2 elements"},
		{"longrope beyond its context", minicpm(map[string]any{"rope_scaling": longRope(1, 4)}), nil, "rope_scaling", "longrope beyond the original context is not supported"},
		{"no attention", qwen35(map[string]any{"layer_types": []string{"linear_attention"}}), nil, "layer_types", "has no full_attention"},
		{"blocks in no order", qwen35(map[string]any{"num_hidden_layers": 3, "layer_types": []string{"linear_attention", "full_attention", "full_attention"}}), three, "layer_types",
			`element 2 is "full_attention", and every 2. block attends`},
		{"kinds of too few blocks", qwen35(map[string]any{"layer_types": []string{"linear_attention", "full_attention"}}), nil, "layer_types", "has 2 elements for 1 blocks"},
		{"values of another width", qwen35(map[string]any{"linear_value_head_dim": 64}), nil, "linear_value_head_dim", "64 differs from the 128 of linear_key_head_dim"},
		{"no output gate", qwen35(map[string]any{"attn_output_gate": false}), nil, "attn_output_gate", "is false"},
		{"uneven heads", qwen35(map[string]any{"linear_num_value_heads": 33}), nil, "linear_num_value_heads", "33 value heads cannot share 16 key heads"},
		{"nothing turned", qwen35(map[string]any{"partial_rotary_factor": 0}), nil, "partial_rotary_factor", "0 of a head that is 256 wide cannot be turned"},
		{"more than all turned", qwen35(map[string]any{"partial_rotary_factor": 1.5}), nil, "partial_rotary_factor", "1.5 of a head"},
		{"taps of another shape", qwen35(nil), []safetensors.Tensor{{Name: "model.layers.0.linear_attn.conv1d.weight", DType: "F32", Shape: []int{5000, 1, 4}, Data: make([]byte, 80000)}},
			"model.layers.0.linear_attn.conv1d.weight", "has another shape than the configuration gives it"},
		{"matrix of another shape", qwen35(nil), []safetensors.Tensor{{Name: "model.layers.0.linear_attn.out_proj.weight", DType: "F32", Shape: []int{1, 200}, Data: make([]byte, 800)}},
			"model.layers.0.linear_attn.out_proj.weight", "has another shape than the configuration gives it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.tensors == nil {
				tt.tensors = []safetensors.Tensor{{Name: "x", DType: "U8", Data: []byte{0}}}
			}
			dir := writeHF(t, smallConfig(tt.changes), tt.tensors...)
			src, err := source.Open(dir, gguf.Options{})
			if err == nil {
				defer src.Close()
				for _, info := range src.Tensors() {
					if _, e := src.Tensor(info.Name); e != nil {
						err = e
					}
				}
			}
			var tensor *container.FormatError
			var key *hf.ConfigError
			switch {
			case errors.As(err, &tensor) && tensor.Tensor == tt.at && tensor.File == filepath.Join(dir, "model.safetensors") && strings.Contains(tensor.Msg, tt.want):
			case errors.As(err, &key) && key.Key == tt.at && key.File == filepath.Join(dir, "config.json") && strings.Contains(key.Msg, tt.want):
			default:
				t.Errorf("error %v, want one about %s: %s", err, tt.at, tt.want)
			}
			if err != nil && strings.Count(err.Error(), dir) != 1 {
				t.Errorf("%v: names the directory not once", err)
			}
		})
	}
}

// Six value heads of one value, three to a key head: side by side in the checkpoint,
// 2 apart in GGUF. Two key heads come before the values among the channels, and two
// queries.
func TestHeadsByKeyHeads(t *testing.T) {
	count := func(n int) (out []float32) {
		for i := range n {
			out = append(out, float32(i))
		}
		return out
	}
	const block = "model.language_model.layers.0."
	f32 := func(name string, x []float32, shape ...int) safetensors.Tensor {
		return safetensors.Tensor{Name: name, DType: "F32", Shape: shape, Data: f32s(x...)}
	}
	src := must(source.Open(writeHF(t, map[string]any{
		"architectures": []string{"Qwen3_5ForConditionalGeneration"},
		"text_config": map[string]any{
			"vocab_size": 3, "hidden_size": 2, "intermediate_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1,
			"linear_num_key_heads": 2, "linear_num_value_heads": 6, "linear_key_head_dim": 1, "linear_value_head_dim": 1, "linear_conv_kernel_dim": 2,
		},
	},
		f32(block+"linear_attn.in_proj_qkv.weight", count(20), 10, 2), f32(block+"linear_attn.conv1d.weight", count(20), 10, 1, 2),
		f32(block+"linear_attn.in_proj_z.weight", count(12), 6, 2), f32(block+"linear_attn.in_proj_a.weight", count(12), 6, 2),
		f32(block+"linear_attn.in_proj_b.weight", count(12), 6, 2), f32(block+"linear_attn.out_proj.weight", count(12), 2, 6),
		f32(block+"linear_attn.dt_bias", count(6), 6), f32(block+"linear_attn.A_log", count(6), 6),
		f32(block+"linear_attn.norm.weight", []float32{0.5}, 1), f32(block+"input_layernorm.weight", []float32{0.5, -1}, 2),
		f32(block+"post_attention_layernorm.weight", []float32{0.25, 0}, 2), f32("model.language_model.norm.weight", []float32{3, 4}, 2),
		f32("model.visual.blocks.0.norm1.bias", []float32{1}, 1), f32("mtp.norm.weight", []float32{1}, 1), f32("mtp.fc.weight", []float32{1}, 1, 1),
	), gguf.Options{}))
	defer src.Close()
	rows := []float32{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}
	channels := []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15, 10, 11, 16, 17, 12, 13, 18, 19}
	var rates []float32
	for _, x := range []float64{0, 3, 1, 4, 2, 5} {
		rates = append(rates, float32(-math.Exp(x)))
	}
	for name, want := range map[string][]float32{
		"blk.0.attn_qkv.weight": channels, "blk.0.ssm_conv1d.weight": channels, "blk.0.attn_gate.weight": rows, "blk.0.ssm_alpha.weight": rows,
		"blk.0.ssm_beta.weight": rows, "blk.0.ssm_out.weight": {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11},
		"blk.0.ssm_dt.bias": {0, 3, 1, 4, 2, 5}, "blk.0.ssm_a": rates, "blk.0.ssm_norm.weight": {0.5}, "blk.0.attn_norm.weight": {1.5, 0},
		"blk.0.post_attention_norm.weight": {1.25, 1}, "output_norm.weight": {4, 5},
	} {
		tensor := must(src.Tensor(name))
		if got := must(tensor.Floats()); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if n := len(src.Tensors()); n != 12 {
		t.Errorf("%d tensors, want 12", n)
	}
	want := []string{
		"left alone: 2 tensors mtp.* of what predicts further tokens (MTP)",
		"left alone: 1 tensor model.visual.* of what sees pictures",
	}
	if notes := source.Notes(src); !slices.Equal(notes, want) {
		t.Errorf("notes %q", notes)
	}
	if tensor := must(src.Tensor("blk.0.ssm_conv1d.weight")); !slices.Equal(tensor.Shape, []int{10, 2}) {
		t.Errorf("taps of shape %v", tensor.Shape)
	}
}
