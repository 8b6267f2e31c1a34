package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/internal/bounded"
	"onebit/internal/term"
	"onebit/models/arch"
)

// A ConfigError is what is wrong with the config.json of a Hugging Face
// directory.
type ConfigError struct {
	File string
	Key  string // or ""
	Msg  string
	Err  error // the cause, or nil
}

func (e *ConfigError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s: key %q: %s", e.File, e.Key, e.Msg)
}

func (e *ConfigError) Unwrap() error { return e.Err }

// configKeys are the names in config.json of what GGUF's keys say.
var configKeys = map[string]string{
	arch.KeyBlockCount: "num_hidden_layers", arch.KeyContextLength: "max_position_embeddings", arch.KeyEmbeddingLength: "hidden_size",
	arch.KeyFeedForwardLength: "intermediate_size", arch.KeyVocabSize: "vocab_size", arch.KeyHeadCount: "num_attention_heads",
	arch.KeyHeadCountKV: "num_key_value_heads", arch.KeyKeyLength: "head_dim", arch.KeyRMSEpsilon: "rms_norm_eps", arch.KeyRopeFreqBase: "rope_theta",
	arch.KeyRopeScalingType: "rope_scaling", arch.KeyRopeScalingFactor: "rope_scaling", arch.KeyRopeOriginal: "rope_scaling",
	arch.KeyRopeDimensionCount: "partial_rotary_factor", arch.KeyAttentionInterval: "full_attention_interval",
	arch.KeyKeyHeads: "linear_num_key_heads", arch.KeyValueHeads: "linear_num_value_heads", arch.KeyStateSize: "linear_key_head_dim",
	arch.KeyTaps:        "linear_conv_kernel_dim",
	arch.KeyExpertCount: "num_experts", arch.KeyExpertUsed: "num_experts_per_tok", arch.KeyExpertFFN: "moe_intermediate_size",
	arch.KeySlidingWindow: "sliding_window", arch.KeySlidingPattern: keyLayerTypes,
	arch.KeyEmbeddingScale: "scale_emb", arch.KeyResidualScale: "scale_depth", arch.KeyLogitScale: "dim_model_base",
}

// A config is what a config.json says.
type config struct {
	table   *arch.Table
	class   arch.Class
	numbers arch.Config
	// ternary says that projections are ternary, or made so; scaleDivides that
	// packed ones are multiplied by 1/weight_scale.
	ternary, scaleDivides bool
	divisors              []divisors
}

// Keys of config.json that GGUF has in another form, or not.
const (
	keyArchitectures = "architectures"
	keyQuantization  = "quantization_config"
	keyLayerTypes    = "layer_types"
	keyRotaryFactor  = "partial_rotary_factor"
	keyShortFactor   = "short_factor"
	keyLongFactor    = "long_factor"
	keyLowFactor     = "low_freq_factor"
	keyHighFactor    = "high_freq_factor"
	keyNoPEGlobal    = "nope_on_global_attention"
)

// mostConfig is far more bytes than any config.json has.
const mostConfig = 16 << 20

func readConfig(dir string, tables []*arch.Table) (config, error) {
	r := configReader{file: filepath.Join(dir, "config.json"), tables: tables}
	data, err := bounded.ReadFile(r.file, mostConfig)
	if err != nil {
		msg := err.Error()
		var pathErr *fs.PathError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			msg = "is missing, so the directory is no Hugging Face checkpoint; give one, or a GGUF file"
		case errors.As(err, &pathErr): // the path is in File already
			msg = pathErr.Err.Error()
		}
		return config{}, &ConfigError{File: r.file, Msg: msg, Err: err}
	}
	return r.parse(data)
}

func (r *configReader) parse(data []byte) (config, error) {
	if err := json.Unmarshal(data, &r.keys); err != nil {
		return config{}, &ConfigError{File: r.file, Msg: err.Error(), Err: err}
	}
	r.readText()
	c := r.read()
	return c, r.err
}

// A configReader reads keys and remembers the first error.
type configReader struct {
	file   string
	tables []*arch.Table // that the checkpoint may be of
	keys   map[string]json.RawMessage
	err    error
}

func (r *configReader) fail(key, format string, args ...any) {
	if r.err == nil {
		r.err = &ConfigError{File: r.file, Key: key, Msg: fmt.Sprintf(format, args...)}
	}
}

// value reads a key into p and reports whether it is there; null is not.
func (r *configReader) value(key string, p any) bool {
	raw, ok := r.keys[key]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, p); err != nil {
		r.fail(key, "%s", strings.TrimPrefix(err.Error(), "json: "))
		return false
	}
	return true
}

func (r *configReader) has(key string) bool {
	var any json.RawMessage
	return r.value(key, &any)
}

func (r *configReader) count(key string) int {
	n := r.countOr(key, -1)
	if n == -1 {
		r.fail(configKeys[key], "is missing")
	}
	return n
}

func (r *configReader) countOr(key string, missing int) int {
	n := int64(missing)
	r.value(configKeys[key], &n)
	if n > math.MaxInt32 {
		r.fail(configKeys[key], "%d is too many", n)
		return 0
	}
	return int(n)
}

func (r *configReader) floatOr(key string, missing float32) float32 {
	x := missing
	r.value(configKeys[key], &x)
	return x
}

func (r *configReader) flag(key string, missing bool) bool {
	b := missing
	r.value(key, &b)
	return b
}

// readText lets the keys of the text's part of a model that sees pictures too count
// before those around it.
func (r *configReader) readText() {
	var text map[string]json.RawMessage
	r.value("text_config", &text)
	delete(text, keyArchitectures)
	for key, value := range text {
		r.keys[key] = value
	}
}

func (r *configReader) read() config {
	class, tables := r.class()
	if r.err != nil {
		return config{}
	}
	out := config{class: class, table: r.table(class, tables)}
	if r.err != nil {
		return config{}
	}
	out.ternary = out.table.Types[arch.Projection] == formats.I2_S && (!class.SaysTernary || r.has(keyQuantization))
	out.scaleDivides = r.quantization()
	for _, key := range []string{"attention_bias", "mlp_bias", "use_sliding_window"} {
		if r.flag(key, false) {
			r.fail(key, "is true, which onebit does not support")
		}
	}
	c := arch.Config{
		Arch:     out.table.Name,
		Layers:   r.count(arch.KeyBlockCount),
		Context:  r.countOr(arch.KeyContextLength, class.Context),
		Hidden:   r.count(arch.KeyEmbeddingLength),
		Heads:    r.count(arch.KeyHeadCount),
		Vocab:    r.count(arch.KeyVocabSize),
		Eps:      r.floatOr(arch.KeyRMSEpsilon, class.Eps),
		RopeBase: r.floatOr(arch.KeyRopeFreqBase, class.RopeBase),
		TiedHead: r.flag("tie_word_embeddings", class.Tied),
	}
	c.GateLimit = class.GateLimit
	r.experts(&c, out.table)
	if slices.Contains(out.table.Keys, arch.KeySlidingPattern) {
		if c.Sliding.Window = r.count(arch.KeySlidingWindow); c.Sliding.Window == 0 {
			r.fail(configKeys[arch.KeySlidingWindow], "is 0, and blocks would look at nothing")
		}
		if !r.flag(keyNoPEGlobal, false) {
			r.fail(keyNoPEGlobal, "is false: positions in blocks that look at the whole text are not supported")
		}
	}
	c.KVHeads = r.countOr(arch.KeyHeadCountKV, c.Heads)
	if c.HeadDim = class.HeadDim; c.HeadDim == 0 && c.Heads > 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	c.HeadDim = r.countOr(arch.KeyKeyLength, c.HeadDim)
	share := r.rope(&c, class.RotaryFactor)
	c.RopeDim = r.ropeDim(share, c.HeadDim)
	switch long := c.RopeScaling.Type == arch.LongRope; {
	case slices.Contains(out.table.Keys, arch.KeyEmbeddingScale):
		r.scales(&c)
		out.divisors = r.longRope(c)
	case c.RopeScaling.Type == arch.Llama3 && out.table.HasFrequencies():
		out.divisors = r.llama3(c)
	case long || c.RopeScaling.Type == arch.Llama3:
		r.fail(configKeys[arch.KeyRopeScalingType], "%s is not supported in this architecture", c.RopeScaling.Type)
	}
	c.Delta = r.delta(class.Delta)
	r.layers(&c)
	if bad := c.Check(); bad != nil {
		r.fail(configKeys[bad.Key], "%s", bad.Msg)
	}
	out.numbers = c
	return out
}

// class returns the first class that is known, and the architectures that have it.
func (r *configReader) class() (class arch.Class, tables []*arch.Table) {
	const key = keyArchitectures
	var names []string
	if !r.value(key, &names) {
		r.fail(key, "is missing")
	}
	var known []string
	for _, t := range r.tables {
		for _, c := range t.Classes {
			known = append(known, c.Name)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(known, name) })
	if i < 0 {
		r.fail(key, "unknown architecture %s (known: %s)", term.QuoteAlways(strings.Join(names, ", ")), strings.Join(known, ", "))
		return class, nil
	}
	for _, t := range r.tables {
		for _, c := range t.Classes {
			if c.Name == names[i] {
				class, tables = c, append(tables, t)
			}
		}
	}
	return class, tables
}

// table returns the one with the configuration's activation.
func (r *configReader) table(class arch.Class, tables []*arch.Table) *arch.Table {
	const key = "hidden_act"
	act := class.Activation
	r.value(key, &act)
	for _, t := range tables {
		if t.Activation == act {
			return t
		}
	}
	r.fail(key, "%s is not supported in this architecture", term.QuoteAlways(string(act)))
	return nil
}

// quantization reads how weights are stored, and returns whether their scale
// divides: the class that a checkpoint was made for decides. Source:
// huggingface/transformers integrations/bitnet.py (AutoBitLinear multiplies
// its result by weight_scale, BitLinear divides it) and
// utils/quantization_config.py, BitNetQuantConfig, for the defaults.
func (r *configReader) quantization() (scaleDivides bool) {
	const key = keyQuantization
	q := struct {
		Method string   `json:"quant_method"`
		Class  string   `json:"linear_class"`
		Norm   bool     `json:"use_rms_norm"`
		Not    []string `json:"modules_to_not_convert"`
	}{Class: "bitlinear"}
	if !r.value(key, &q) {
		return true
	}
	// The head and the embedding are never ternary, so that naming them
	// changes nothing.
	others := slices.DeleteFunc(q.Not, func(m string) bool { return m == "lm_head" || m == "embed_tokens" || m == "model.embed_tokens" })
	switch {
	case q.Method != "bitnet":
		r.fail(key, "quant_method %s is not supported, only bitnet", term.QuoteAlways(q.Method))
	case q.Class != "bitlinear" && q.Class != "autobitlinear":
		r.fail(key, "linear_class %s is unknown (known: bitlinear, autobitlinear)", term.QuoteAlways(q.Class))
	case q.Norm:
		r.fail(key, "use_rms_norm is true: norms inside of projections are not supported")
	case len(others) > 0:
		r.fail(key, "modules_to_not_convert has %s: projections that are not ternary are not supported", term.QuoteAlways(others[0]))
	}
	return q.Class == "bitlinear"
}

// rope reads the rotary embedding's base and scaling: rope_theta beside
// rope_scaling, or both in rope_parameters, as since transformers 5. It returns the
// share of a head that is rotated: all of it unless the class has one.
func (r *configReader) rope(c *arch.Config, share float32) float32 {
	parts := share > 0
	if !parts {
		share = 1
	}
	if r.value(keyRotaryFactor, &share); !parts && share != 1 {
		r.fail(keyRotaryFactor, "%v is not supported in this class, only 1", share)
	}
	name, keys := r.ropeKeys()
	if keys == nil {
		return share
	}
	in := configReader{file: r.file, keys: keys}
	kind, original := "default", 0
	if !in.value("rope_type", &kind) {
		in.value("type", &kind)
	}
	in.value("rope_theta", &c.RopeBase)
	in.value("factor", &c.RopeScaling.Factor)
	in.value("original_max_position_embeddings", &original)
	known := []string{"rope_type", "type", "rope_theta", "factor", "original_max_position_embeddings"}
	if parts {
		in.value(keyRotaryFactor, &share)
		// A text's tokens have one position, whatever part of a pair is for time,
		// height or width.
		known = append(known, keyRotaryFactor, "mrope_section", "mrope_interleaved")
	}
	switch kind {
	case arch.LongRope:
		known = append(known, keyShortFactor, keyLongFactor)
	case arch.Llama3:
		known = append(known, keyLowFactor, keyHighFactor)
	}
	if in.err != nil {
		r.fail(name, "%s", in.err.(*ConfigError).Msg)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(known, key) && !usualRope(key, keys[key]) {
			r.fail(name, "%s of %s is not supported", key, keys[key])
		}
	}
	if kind == "default" {
		c.RopeScaling = arch.RopeScaling{}
		return share
	}
	if kind == arch.LongRope || kind == arch.Llama3 { // whose divisors are in place of a factor
		c.RopeScaling.Factor = 0
	}
	if kind == arch.Llama3 {
		original = 0 // it is in the divisors
	}
	c.RopeScaling.Type, c.RopeScaling.OriginalContext = kind, original
	return share
}

// ropeKeys returns what the rotary embedding's parameters are called, and they; nil:
// there are none.
func (r *configReader) ropeKeys() (name string, keys map[string]json.RawMessage) {
	name = "rope_parameters"
	if !r.value(name, &keys) {
		name = configKeys[arch.KeyRopeScalingType]
		r.value(name, &keys)
	}
	return name, keys
}

// usualRope reports whether a key of the scaling has its default: saved configurations
// spell out those of their class. Source:
// huggingface/transformers modeling_rope_utils.py.
func usualRope(key string, value json.RawMessage) bool {
	var x any
	if json.Unmarshal(value, &x) != nil {
		return false
	}
	usual := map[string]any{"beta_fast": float64(arch.YaRNFast), "beta_slow": float64(arch.YaRNSlow), keyRotaryFactor: 1.0, "truncate": true}
	return x == nil || usual[key] != nil && x == usual[key]
}
