package hf_test

import (
	"math"
	"strings"
	"testing"

	"onebit/formats/safetensors"
	"onebit/models/arch"
	"onebit/models/hf"
)

// Base 100 and 8 wide: frequencies 1, 10^-½, 0.1 and 10^-1½. In an original context of 200
// they turn 31.83, 10.07, 3.183 and 1.007 times; with 2 and 20 the last is divided by the
// factor of 4, the first stays, and the ones between keep 8.07/18 and 1.183/18 of theirs.
func TestLlama3Divisors(t *testing.T) {
	scaling := map[string]any{"rope_type": "llama3", "factor": 4, "low_freq_factor": 2, "high_freq_factor": 20, "original_max_position_embeddings": 200}
	config := func() map[string]any {
		return smallConfig(map[string]any{
			"architectures": []string{"LlamaForCausalLM"}, "head_dim": 8, "rope_theta": 100, "rope_scaling": scaling, "quantization_config": nil, "hidden_act": "silu",
		})
	}
	norm := safetensors.Tensor{Name: "model.norm.weight", DType: "F32", Shape: []int{2}, Data: f32s(1, 1)}
	c, err := hf.Open(writeHF(t, config(), norm), arch.Tables())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tensor := must(c.Tensor("rope_freqs.weight"))
	got := must(tensor.Floats())
	for i, turns := range []float64{31.8310, 10.0658, 3.18310, 1.00658} {
		kept := math.Min(math.Max((turns-2)/18, 0), 1)
		if want := 1 / (kept + (1-kept)/4); math.Abs(float64(got[i])-want) > 1e-4 {
			t.Errorf("divisor %d is %v, want %v", i, got[i], want)
		}
	}
	if got[0] != 1 || got[3] != 4 {
		t.Errorf("divisors %v: the first is to stay, and the last to be divided by 4", got)
	}
	for key, bad := range map[string]any{"low_freq_factor": 20, "high_freq_factor": -1, "factor": nil} {
		was := scaling[key]
		scaling[key] = bad
		if _, err := hf.Open(writeHF(t, config(), norm), arch.Tables()); err == nil || !strings.Contains(err.Error(), "rope_scaling") {
			t.Errorf("%s of %v: error %v", key, bad, err)
		}
		scaling[key] = was
	}
}
