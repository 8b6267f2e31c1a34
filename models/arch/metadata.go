package arch

import (
	"fmt"
	"math"
	"slices"

	"onebit/formats/container"
)

// Metadata keys, which follow "<architecture>." in a file: ggml-org/llama.cpp
// gguf-py/gguf/constants.py, class Keys.
const (
	KeyArchitecture = "general.architecture" // without a prefix

	KeyBlockCount         = "block_count"
	KeyContextLength      = "context_length"
	KeyEmbeddingLength    = "embedding_length"
	KeyFeedForwardLength  = "feed_forward_length"
	KeyVocabSize          = "vocab_size"
	KeyHeadCount          = "attention.head_count"
	KeyHeadCountKV        = "attention.head_count_kv"
	KeyKeyLength          = "attention.key_length"
	KeyValueLength        = "attention.value_length"
	KeyRMSEpsilon         = "attention.layer_norm_rms_epsilon"
	KeyRopeFreqBase       = "rope.freq_base"
	KeyRopeDimensionCount = "rope.dimension_count"
	KeyRopeScalingType    = "rope.scaling.type"
	KeyRopeScalingFactor  = "rope.scaling.factor"
	KeyRopeOriginal       = "rope.scaling.original_context_length"

	KeyEmbeddingScale = "embedding_scale"
	KeyResidualScale  = "residual_scale"
	KeyLogitScale     = "logit_scale"

	// Of experts.
	KeyExpertCount      = "expert_count"
	KeyExpertUsed       = "expert_used_count"
	KeyExpertFFN        = "expert_feed_forward_length"
	KeyExpertNormalized = "expert_weights_norm"
	KeyExpertScale      = "expert_weights_scale"
	KeyExpertGating     = "expert_gating_func"
	KeyGateLimit        = "swiglu_clamp_exp" // of each block

	// Of blocks that look at a part of the text. Theirs is the rotary embedding of the
	// last two.
	KeySlidingWindow   = "attention.sliding_window" // tokens
	KeySlidingPattern  = "attention.sliding_window_pattern"
	KeySlidingRopeDim  = "rope.dimension_count_swa"
	KeySlidingRopeBase = "rope.freq_base_swa"

	// Of gated delta nets, which took the names over from state space models.
	KeyAttentionInterval = "full_attention_interval"
	KeyRecurrentLayers   = "attention.recurrent_layers"
	KeyKeyHeads          = "ssm.group_count"
	KeyValueHeads        = "ssm.time_step_rank"
	KeyStateSize         = "ssm.state_size"
	KeyInnerSize         = "ssm.inner_size"
	KeyTaps              = "ssm.conv_kernel"
	KeyNextN             = "nextn_predict_layers"
	// KeyRopeSections shares the rotated pairs among time, height and width. In
	// a text all three are the same position.
	KeyRopeSections = "rope.dimension_sections"
)

// Metadata returns the keys that the architecture's published files describe
// a model with, in their order, and those that this model needs besides: of a
// head width that does not follow from the others, and of a stretched RoPE.
func (t *Table) Metadata(c Config) []container.KV {
	values := map[string]container.Value{
		KeyBlockCount:         count(c.Layers),
		KeyContextLength:      count(c.Context),
		KeyEmbeddingLength:    count(c.Hidden),
		KeyFeedForwardLength:  count(c.FFN),
		KeyVocabSize:          count(c.Vocab),
		KeyHeadCount:          count(c.Heads),
		KeyHeadCountKV:        count(c.KVHeads),
		KeyKeyLength:          count(c.HeadDim),
		KeyValueLength:        count(c.HeadDim),
		KeyRMSEpsilon:         container.Of(c.Eps),
		KeyRopeFreqBase:       container.Of(c.RopeBase),
		KeyRopeDimensionCount: count(c.RotaryDim()),
		KeyEmbeddingScale:     container.Of(c.EmbeddingScale),
		KeyResidualScale:      container.Of(c.ResidualScale),
		KeyLogitScale:         container.Of(c.LogitScale),
		KeyRopeSections:       sections(c.RotaryDim() / 2),
		KeyAttentionInterval:  count(c.Delta.Interval),
		KeyKeyHeads:           count(c.Delta.KeyHeads),
		KeyValueHeads:         count(c.Delta.ValueHeads),
		KeyStateSize:          count(c.Delta.HeadDim),
		KeyInnerSize:          count(c.Delta.Values()),
		KeyTaps:               count(c.Delta.Taps),
	}
	keys := slices.Clone(t.Keys)
	t.expertMetadata(c, values)
	if c.HeadDim*c.Heads != c.Hidden && !slices.Contains(keys, KeyKeyLength) {
		keys = append(keys, KeyKeyLength, KeyValueLength)
	}
	if s := c.RopeScaling; s.Type != "" && s.Type != Llama3 {
		values[KeyRopeScalingType] = container.Of(s.Type)
		keys = append(keys, KeyRopeScalingType)
		if s.Factor != 0 {
			values[KeyRopeScalingFactor] = container.Of(s.Factor)
			keys = append(keys, KeyRopeScalingFactor)
		}
		if s.OriginalContext > 0 {
			values[KeyRopeOriginal] = count(s.OriginalContext)
			keys = append(keys, KeyRopeOriginal)
		}
	}
	if c.RopeDim != 0 && !slices.Contains(keys, KeyRopeDimensionCount) {
		keys = append(keys, KeyRopeDimensionCount)
	}
	if c.NextN > 0 {
		values[KeyBlockCount], values[KeyNextN] = count(c.Layers+c.NextN), count(c.NextN)
		keys = append(keys, KeyNextN)
	}
	var out []container.KV
	for _, key := range keys {
		out = append(out, container.KV{Key: t.Name + "." + key, Value: values[key]})
	}
	return out
}

func count(n int) container.Value { return container.Of(uint32(n)) }

// sections are pairs of time, height and width as Qwen's models share them: a
// third each, the last the rest.
func sections(pairs int) container.Value {
	third := (pairs + 1) / 3
	return container.ArrayOf([]int32{int32(third), int32(third), int32(pairs - 2*third), 0})
}

// defaultRopeBase is what llama.cpp takes where a file does not say
// (src/llama-model.cpp, rope_freq_base_train).
const defaultRopeBase = 10000

// ReadConfig reads the configuration of a model whose architecture is t from a
// file with GGUF's metadata keys and names of tensors. A file whose metadata
// lacks a key or gives it a value that no model has is a *container.FormatError
// that names the key. The tensors are not checked; see [Table.CheckInventory].
func (t *Table) ReadConfig(f *container.File, keys *container.Keys) (Config, error) {
	r := reader{file: f, keys: keys, prefix: t.Name + "."}
	c := r.config(t)
	if r.err == nil {
		r.check(c)
	}
	return c, r.err
}

// A reader reads keys of one architecture and remembers the first error.
type reader struct {
	file   *container.File
	keys   *container.Keys
	prefix string
	err    error
}

func (r *reader) config(t *Table) Config {
	c := Config{
		Arch:     t.Name,
		Layers:   r.count(KeyBlockCount),
		Context:  r.count(KeyContextLength),
		Hidden:   r.count(KeyEmbeddingLength),
		Heads:    r.count(KeyHeadCount),
		Eps:      r.float(KeyRMSEpsilon),
		RopeBase: r.floatOr(KeyRopeFreqBase, defaultRopeBase),
	}
	if slices.Contains(t.Keys, KeyExpertCount) {
		r.experts(&c)
	} else {
		c.FFN = r.count(KeyFeedForwardLength)
	}
	if slices.Contains(t.Keys, KeySlidingPattern) {
		c.Sliding = r.sliding(c)
	}
	if slices.Contains(t.Keys, KeyGateLimit) {
		c.GateLimit = r.gateLimit(c)
	}
	c.KVHeads = r.countOr(KeyHeadCountKV, c.Heads)
	c.Vocab = r.countOr(KeyVocabSize, r.embeddingRows())
	c.HeadDim = r.headDim(c)
	c.RopeDim = r.ropeDim(c)
	if c.Sliding != (Sliding{}) {
		c.RopeBase = r.floatOr(KeySlidingRopeBase, c.RopeBase)
	}
	c.NextN = r.countOr(KeyNextN, 0)
	c.Layers -= min(c.NextN, c.Layers)
	if slices.Contains(t.Keys, KeyStateSize) {
		c.Delta = r.delta(c)
	}
	c.RopeScaling = r.ropeScaling()
	if _, ok := r.file.Info(FrequencyTensor); ok && c.RopeScaling.Type == "" && t.HasFrequencies() {
		c.RopeScaling.Type = Llama3
	}
	switch {
	case slices.Contains(t.Keys, KeyEmbeddingScale):
		r.scales(&c)
	case c.RopeScaling.Type == LongRope: // whose divisors it does not have
		r.fail(KeyRopeScalingType, "%q is not supported in this architecture", LongRope)
	}
	r.checkNeutral(t, c)
	_, hasHead := r.file.Info(HeadTensor)
	c.TiedHead = !hasHead
	return c
}

func (r *reader) check(c Config) {
	if bad := c.Check(); bad != nil {
		r.fail(bad.Key, "%s", bad.Msg)
		return
	}
	// Every block has tensors, so what follows from this count stays
	// proportional to the file.
	if n := len(r.file.Tensors()); c.Layers > n {
		r.fail(KeyBlockCount, "%d blocks, and the file has %d tensors", c.Layers, n)
	}
}

func (r *reader) fail(key, format string, args ...any) {
	r.keep(&container.FormatError{File: r.file.Name(), Offset: -1, Key: r.prefix + key, Msg: fmt.Sprintf(format, args...)})
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) count(key string) int {
	n, err := r.keys.Uint(r.prefix + key)
	switch {
	case err != nil:
		r.keep(err)
	case n > math.MaxInt32:
		r.fail(key, "%d is too many", n)
		return 0
	}
	return int(n)
}

func (r *reader) countOr(key string, missing int) int {
	if !r.keys.Has(r.prefix + key) {
		return missing
	}
	return r.count(key)
}

func (r *reader) float(key string) float32 {
	x, err := r.keys.Float(r.prefix + key)
	if err != nil {
		r.keep(err)
	}
	return float32(x)
}

func (r *reader) floatOr(key string, missing float32) float32 {
	if !r.keys.Has(r.prefix + key) {
		return missing
	}
	return r.float(key)
}

// embeddingRows is the vocabulary of files that do not state it, as Qwen3's.
func (r *reader) embeddingRows() int {
	if t, ok := r.file.Info(EmbeddingTensor); ok {
		return t.Shape[0]
	}
	return 0
}

// headDim takes the width of a head from the key that says it; files without
// have one of Hidden/Heads.
func (r *reader) headDim(c Config) int {
	dim := 0
	if c.Heads > 0 {
		dim = c.Hidden / c.Heads
	}
	dim = r.countOr(KeyKeyLength, dim)
	if dim == 0 {
		return 0 // which is the fault of the key that says so
	}
	if n := r.countOr(KeyValueLength, dim); n != dim {
		r.fail(KeyValueLength, "%d differs from the heads' width of %d, which is not supported", n, dim)
	}
	return dim
}

// scales reads MiniCPM's factors. Files that do not say are of its first models,
// whose are these; llama.cpp takes them too (src/models/minicpm.cpp), but for the
// last, of which it has the inverse.
func (r *reader) scales(c *Config) {
	c.EmbeddingScale = r.floatOr(KeyEmbeddingScale, 12)
	c.ResidualScale = r.floatOr(KeyResidualScale, float32(1.4/math.Sqrt(float64(max(1, c.Layers)))))
	c.LogitScale = r.floatOr(KeyLogitScale, float32(c.Hidden)/256)
	if _, ok := r.file.Info("rope_factors_short.weight"); ok && c.RopeScaling.Type == "" {
		c.RopeScaling.Type = LongRope // as newer converters leave out
	}
	for _, s := range []struct {
		key   string
		value float32
	}{{KeyEmbeddingScale, c.EmbeddingScale}, {KeyResidualScale, c.ResidualScale}, {KeyLogitScale, c.LogitScale}} {
		if s.value == 0 && r.err == nil {
			r.fail(s.key, "is 0")
		}
	}
}

// ropeDim is 0 where the rotary embedding turns whole heads.
func (r *reader) ropeDim(c Config) int {
	n := r.countOr(KeyRopeDimensionCount, c.HeadDim)
	if c.Sliding != (Sliding{}) {
		n = r.countOr(KeySlidingRopeDim, n)
	}
	switch {
	case n == c.HeadDim:
		return 0
	case n == 0:
		r.fail(KeyRopeDimensionCount, "is 0, and positions would have no effect")
	}
	return n
}

// defaultInterval is what llama.cpp takes where a file does not say
// (src/models/qwen35.cpp).
const defaultInterval = 4

func (r *reader) delta(c Config) Delta {
	d := Delta{
		Interval:   r.countOr(KeyAttentionInterval, defaultInterval),
		KeyHeads:   r.count(KeyKeyHeads),
		ValueHeads: r.count(KeyValueHeads),
		HeadDim:    r.count(KeyStateSize),
		Taps:       r.count(KeyTaps),
	}
	if n := r.count(KeyInnerSize); r.err == nil && n != d.Values() {
		r.fail(KeyInnerSize, "%d differs from the %d values of %d heads of %d", n, d.Values(), d.ValueHeads, d.HeadDim)
	}
	c.Delta = d
	r.checkRecurrent(c)
	return d
}

// checkRecurrent compares the list of recurrent layers, if there is one, with
// what follows from the interval.
func (r *reader) checkRecurrent(c Config) {
	if !r.keys.Has(r.prefix + KeyRecurrentLayers) {
		return
	}
	v, _ := r.keys.Value(r.prefix + KeyRecurrentLayers)
	block := 0
	for x := range v.All() {
		recurrent, err := x.Bool()
		if n, e := x.Int(); e == nil {
			recurrent, err = n != 0, nil
		}
		if err != nil || block < c.Layers && recurrent == c.Attends(block) {
			r.fail(KeyRecurrentLayers, "element %d is %s, and every %d. block attends by %s: other orders are not supported", block, x, c.Delta.Interval, KeyAttentionInterval)
			return
		}
		block++
	}
	if block < c.Layers {
		r.fail(KeyRecurrentLayers, "has %d elements for %d blocks", block, c.Layers)
	}
}

// ropeScaling reads the scaling. A factor without a type is linear scaling, as
// in llama.cpp (src/llama-model.cpp, load_hparams).
func (r *reader) ropeScaling() RopeScaling {
	if !r.keys.Has(r.prefix + KeyRopeScalingType) {
		if factor := r.floatOr(KeyRopeScalingFactor, 0); factor != 0 {
			return RopeScaling{Type: "linear", Factor: factor}
		}
		return RopeScaling{}
	}
	kind, err := r.keys.String(r.prefix + KeyRopeScalingType)
	if err != nil {
		r.keep(err)
	}
	s := RopeScaling{Type: kind}
	switch kind {
	case "linear", "yarn":
		s.Factor = r.float(KeyRopeScalingFactor)
		s.OriginalContext = r.countOr(KeyRopeOriginal, 0)
	case LongRope:
		s.OriginalContext = r.countOr(KeyRopeOriginal, 0)
	}
	if kind == "yarn" {
		r.usualYaRN()
	}
	return s
}

// usualYaRN refuses what changes YaRN and is not its default in llama.cpp
// (src/llama-context.cpp), where a negative mix means the default too.
func (r *reader) usualYaRN() {
	const mix = "rope.scaling.yarn_ext_factor"
	for _, k := range []struct {
		key   string
		usual float32
	}{
		{mix, 1},
		{"rope.scaling.attn_factor", 1},
		{"rope.scaling.yarn_attn_factor", 1},
		{"rope.scaling.yarn_log_multiplier", 0},
		{"rope.scaling.yarn_beta_fast", YaRNFast},
		{"rope.scaling.yarn_beta_slow", YaRNSlow},
	} {
		if x := r.floatOr(k.key, k.usual); x != k.usual && !(k.key == mix && x < 0) {
			r.fail(k.key, "%v is not supported, only %v", x, k.usual)
		}
	}
}
