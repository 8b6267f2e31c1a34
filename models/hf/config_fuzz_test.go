package hf

import (
	"errors"
	"testing"

	"onebit/models/arch"
)

// FuzzConfig: whatever the config.json, there is a *ConfigError, or a
// configuration that is valid and that a GGUF file could have.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"architectures":["BitNetForCausalLM"],"vocab_size":3,"hidden_size":2,"intermediate_size":4,"num_hidden_layers":1,
"num_attention_heads":1,"num_key_value_heads":1,"head_dim":2,"quantization_config":{"quant_method":"bitnet","linear_class":"autobitlinear"}}`))
	f.Add([]byte(`{"architectures":["Qwen3ForCausalLM"],"vocab_size":3,"hidden_size":2,"intermediate_size":4,"num_hidden_layers":1,
"num_attention_heads":4,"num_key_value_heads":2,"rope_scaling":{"rope_type":"yarn","factor":2,"original_max_position_embeddings":9}}`))
	f.Add([]byte(`{"architectures":["BitnetForCausalLM"],"hidden_act":"silu","num_attention_heads":0,"rope_parameters":{"rope_theta":1}}`))
	f.Add([]byte(`{"architectures":["MapleForCausalLM"],"vocab_size":3,"hidden_size":2,"num_hidden_layers":2,"num_attention_heads":4,"head_dim":4,"num_experts":2,
"num_experts_per_tok":1,"moe_intermediate_size":4,"sliding_window":8,"nope_on_global_attention":true,"layer_types":["sliding_attention","full_attention"]}`))
	tables := []*arch.Table{
		{Name: "c", Activation: arch.SiLU, Keys: []string{arch.KeyExpertCount, arch.KeySlidingPattern, arch.KeyGateLimit}, Classes: []arch.Class{
			{Name: "MapleForCausalLM", Activation: arch.SiLU, Context: 2048, Eps: 1e-6, RopeBase: 1e4, RotaryFactor: 0.5, GateLimit: 7}}},
		{Name: "a", Activation: arch.ReLU2, Classes: []arch.Class{
			{Name: "BitNetForCausalLM", Activation: arch.ReLU2, Context: 2048, Eps: 1e-5, RopeBase: 5e5},
			{Name: "BitnetForCausalLM", Activation: arch.ReLU2, Context: 2048, Eps: 1e-6, RopeBase: 1e4}}},
		{Name: "b", Activation: arch.SiLU, Classes: []arch.Class{
			{Name: "Qwen3ForCausalLM", Activation: arch.SiLU, Context: 32768, HeadDim: 128, Eps: 1e-6, RopeBase: 1e4},
			{Name: "BitnetForCausalLM", Activation: arch.SiLU, Context: 2048, Eps: 1e-6, RopeBase: 1e4}}},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := configReader{file: "config.json", tables: tables}
		c, err := r.parse(data)
		if err != nil {
			var bad *ConfigError
			if !errors.As(err, &bad) || bad.File != "config.json" {
				t.Errorf("%T: %v", err, err)
			}
			return
		}
		if c.table == nil || c.numbers.Arch != c.table.Name {
			t.Fatalf("%+v", c)
		}
		if bad := c.numbers.Check(); bad != nil {
			t.Errorf("%+v", *bad)
		}
		c.table.Metadata(c.numbers)
	})
}
