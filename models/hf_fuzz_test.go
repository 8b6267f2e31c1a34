package models

import (
	"errors"
	"testing"
)

// FuzzHFConfig: whatever the config.json, there is a *ConfigError, or a
// configuration that is valid and that a GGUF file could have.
func FuzzHFConfig(f *testing.F) {
	f.Add([]byte(`{"architectures":["BitNetForCausalLM"],"vocab_size":3,"hidden_size":2,"intermediate_size":4,"num_hidden_layers":1,
"num_attention_heads":1,"num_key_value_heads":1,"head_dim":2,"quantization_config":{"quant_method":"bitnet","linear_class":"autobitlinear"}}`))
	f.Add([]byte(`{"architectures":["Qwen3ForCausalLM"],"vocab_size":3,"hidden_size":2,"intermediate_size":4,"num_hidden_layers":1,
"num_attention_heads":4,"num_key_value_heads":2,"rope_scaling":{"rope_type":"yarn","factor":2,"original_max_position_embeddings":9}}`))
	f.Add([]byte(`{"architectures":["BitnetForCausalLM"],"hidden_act":"silu","num_attention_heads":0,"rope_parameters":{"rope_theta":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := hfReader{file: "config.json", tables: tables()}
		c, err := r.parse(data)
		if err != nil {
			var bad *ConfigError
			if !errors.As(err, &bad) || bad.File != "config.json" {
				t.Errorf("%T: %v", err, err)
			}
			return
		}
		if c.table == nil || c.config.Arch != c.table.Name {
			t.Fatalf("%+v", c)
		}
		if bad := c.config.Check(); bad != nil {
			t.Errorf("%+v", *bad)
		}
		c.table.Metadata(c.config)
	})
}
