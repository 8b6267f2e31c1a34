package hf

import (
	"math"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/internal/term"
	"onebit/models/arch"
)

// scales reads MiniCPM's factors, whose keys have other meanings than GGUF's. None is
// left out: the first models' class had other defaults than the next one's. Source:
// ggml-org/llama.cpp conversion/minicpm.py.
func (r *configReader) scales(c *arch.Config) {
	read := func(key string) float64 {
		x := 0.0
		if key = configKeys[key]; !r.value(key, &x) {
			r.fail(key, "is missing")
		}
		if !(x > 0) || math.IsInf(x, 1) {
			r.fail(key, "%v is not positive and finite", x)
		}
		return x
	}
	c.EmbeddingScale = float32(read(arch.KeyEmbeddingScale))
	c.ResidualScale = float32(read(arch.KeyResidualScale) / math.Sqrt(float64(max(1, c.Layers))))
	c.LogitScale = float32(float64(c.Hidden) / read(arch.KeyLogitScale))
}

// A divisors is a tensor that GGUF files have and checkpoints say in config.json: what
// the frequencies of the rotary embedding are divided by.
type divisors struct {
	name, key string // GGUF's; in the scaling's parameters
	values    []float32
}

// longRope reads both of them, of a model that has them.
func (r *configReader) longRope(c arch.Config) []divisors {
	if c.RopeScaling.Type != arch.LongRope {
		return nil
	}
	name, keys := r.ropeKeys()
	in := configReader{file: r.file, keys: keys}
	out := []divisors{{name: "rope_factors_long.weight", key: keyLongFactor}, {name: "rope_factors_short.weight", key: keyShortFactor}}
	for i := range out {
		d := &out[i]
		in.value(d.key, &d.values)
		if in.err != nil {
			r.fail(name, "%s", in.err.(*ConfigError).Msg)
		}
		if want := c.RotaryDim() / 2; len(d.values) != want {
			r.fail(name, "%s has %d elements, and the rotary embedding turns %d pairs", term.Quote(d.key), len(d.values), want)
		}
	}
	return out
}

// llama3 makes the divisors of Llama 3.1's scaling: frequencies that turn less than low times
// within the original context are divided by the factor, those that turn more than high
// times stay, and those between go over in proportion. Source: huggingface/transformers
// modeling_rope_utils.py, _compute_llama3_parameters.
func (r *configReader) llama3(c arch.Config) []divisors {
	name, keys := r.ropeKeys()
	in := configReader{file: r.file, keys: keys}
	var factor, low, high, original float64
	for key, p := range map[string]*float64{"factor": &factor, keyLowFactor: &low, keyHighFactor: &high, "original_max_position_embeddings": &original} {
		if !in.value(key, p) || !(*p > 0) || math.IsInf(*p, 1) {
			r.fail(name, "%s is missing, or not positive and finite", key)
		}
	}
	if !(high > low) {
		r.fail(name, "%s of %v is not above the %s of %v", keyHighFactor, high, keyLowFactor, low)
	}
	if r.err != nil || c.RotaryDim() > 1<<16 {
		return nil
	}
	d := divisors{name: arch.FrequencyTensor, values: make([]float32, c.RotaryDim()/2)}
	for i := range d.values {
		frequency := math.Pow(float64(c.RopeBase), -2*float64(i)/float64(c.RotaryDim()))
		turns := original * frequency / (2 * math.Pi)
		kept := min(max((turns-low)/(high-low), 0), 1)
		d.values[i] = float32(1 / (kept + (1-kept)/factor))
	}
	return []divisors{d}
}

// stored is the tensor as if a file had it.
func (d divisors) stored() storedTensor {
	size := int64(4 * len(d.values))
	return storedTensor{
		info: container.TensorInfo{Name: d.name, Type: formats.F32, TypeName: formats.F32.Name, Shape: []int{len(d.values)}, Size: size},
		read: func(*Checkpoint, storedTensor) ([]byte, error) {
			data := make([]byte, size)
			return data, formats.F32.Matrix(data, 1, len(d.values)).Quantize(d.values)
		},
	}
}
