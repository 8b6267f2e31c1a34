package hf_test

import (
	"fmt"
	"strings"
	"testing"

	"onebit/formats/safetensors"
	"onebit/models/arch"
	"onebit/models/hf"
)

// mapleConfig is a Maple of two blocks, of which the first looks at a window.
func mapleConfig(changes map[string]any) map[string]any {
	c := map[string]any{
		"architectures": []string{"MapleForCausalLM"}, "vocab_size": 3, "hidden_size": 256, "intermediate_size": 4096, "num_hidden_layers": 2,
		"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 64, "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 256,
		"sliding_window": 8, "layer_types": []string{"sliding_attention", "full_attention"}, "partial_rotary_factor": 0.5,
		"nope_on_global_attention": true, "tie_word_embeddings": false,
	}
	for key, v := range changes {
		if c[key] = v; v == nil {
			delete(c, key)
		}
	}
	return c
}

// row is a tensor of rows × 256 that are -s, 0 and +s, of which one has another value.
func rows(name string, n int, s, odd float32) safetensors.Tensor {
	x := make([]float32, n*256)
	for i := range x {
		x[i] = s * float32(i%3-1)
	}
	if odd != 0 {
		x[5*256+7] = odd
	}
	return safetensors.Tensor{Name: name, DType: "F32", Shape: []int{n, 256}, Data: f32s(x...)}
}

func mapleTensors(change func(t *safetensors.Tensor)) (out []safetensors.Tensor) {
	for layer := range 2 {
		for expert := range 2 {
			for _, part := range []string{"gate", "up", "down"} {
				t := rows(fmt.Sprintf("model.layers.%d.mlp.experts.%d.%s_proj.weight", layer, expert, part), 256, 0.25, 0)
				if change(&t); t.Name != "" {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// Experts of which each is a tensor become one tensor of all, exactly; what is wrong with
// one is told by its name and row.
func TestExpertsOfAMaple(t *testing.T) {
	const odd = "model.layers.1.mlp.experts.1.up_proj.weight"
	replace := func(with safetensors.Tensor) func(t *safetensors.Tensor) {
		return func(t *safetensors.Tensor) {
			if t.Name == odd {
				*t = with
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *safetensors.Tensor)
		want   string // "": none
	}{
		{"as it should be", func(*safetensors.Tensor) {}, ""},
		{"a third value", replace(rows(odd, 256, 0.25, 0.125)), "row 5 has 0.125 beside 0.25"},
		{"a larger value", replace(rows(odd, 256, 0.25, 0.5)), "row 5 has"},
		{"a scale that fp16 has not", replace(rows(odd, 256, 0.1, 0)), "row 0 has the scale 0.1, which tq2_0 cannot hold"},
		{"one is missing", replace(safetensors.Tensor{}), "missing"},
		{"another shape", replace(rows(odd, 128, 0.25, 0)), "has shape [128 256], want [256 256]"},
		{"one too many", func(t *safetensors.Tensor) { t.Name = strings.Replace(t.Name, "experts.1.up", "experts.2.up", 1) }, "is of none of the 2 experts"},
		{"a number with zeros", func(t *safetensors.Tensor) { t.Name = strings.Replace(t.Name, "experts.1.up", "experts.01.up", 1) }, "is of none of the 2 experts"},
		{"integers", func(t *safetensors.Tensor) {
			if t.Name == odd {
				t.DType, t.Data = "U8", make([]byte, 256*256)
			}
		}, "want floats"},
	} {
		c, err := hf.Open(writeHF(t, mapleConfig(nil), mapleTensors(tt.change)...), arch.Tables())
		if err == nil {
			defer c.Close()
			for _, part := range []string{"gate", "up", "down"} {
				tensor, e := c.Tensor("blk.1.ffn_" + part + "_exps.weight")
				if e != nil {
					err = e
					break
				}
				x := must(tensor.Floats())
				for i, v := range x {
					if want := 0.25 * float32(i%(256*256)%3-1); v != want {
						t.Fatalf("%s: element %d of %s is %v, want %v", tt.name, i, part, v, want)
					}
				}
			}
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "model.layers.")) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestMapleConfigs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change map[string]any
		want   string
	}{
		{"no experts", map[string]any{"num_experts": 0}, `key "num_experts": is 0`},
		{"more used than there are", map[string]any{"num_experts_per_tok": 3}, `key "num_experts_per_tok": 3 is not between 1 and the 2 experts`},
		{"a shared expert", map[string]any{"num_shared_experts": 1}, `key "num_shared_experts": 1 is not supported`},
		{"no width", map[string]any{"moe_intermediate_size": nil}, `key "moe_intermediate_size": is missing`},
		{"no window", map[string]any{"sliding_window": 0}, `key "sliding_window"`},
		{"positions everywhere", map[string]any{"nope_on_global_attention": false}, `key "nope_on_global_attention": is false`},
		{"no pattern", map[string]any{"layer_types": nil}, `key "layer_types": is missing`},
		{"a short pattern", map[string]any{"layer_types": []string{"sliding_attention"}}, `key "layer_types": has 1 elements for 2 blocks`},
		{"another kind", map[string]any{"layer_types": []string{"sliding_attention", "linear_attention"}}, `key "layer_types"`},
		{"all the whole text", map[string]any{"layer_types": []string{"full_attention", "full_attention"}}, `key "layer_types"`},
	} {
		_, err := hf.Open(writeHF(t, mapleConfig(tt.change), mapleTensors(func(*safetensors.Tensor) {})...), arch.Tables())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
