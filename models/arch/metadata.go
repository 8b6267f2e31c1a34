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
		KeyRopeDimensionCount: count(c.HeadDim),
	}
	keys := slices.Clone(t.Keys)
	if c.HeadDim*c.Heads != c.Hidden && !slices.Contains(keys, KeyKeyLength) {
		keys = append(keys, KeyKeyLength, KeyValueLength)
	}
	if s := c.RopeScaling; s.Type != "" {
		values[KeyRopeScalingType] = container.Of(s.Type)
		values[KeyRopeScalingFactor] = container.Of(s.Factor)
		keys = append(keys, KeyRopeScalingType, KeyRopeScalingFactor)
		if s.OriginalContext > 0 {
			values[KeyRopeOriginal] = count(s.OriginalContext)
			keys = append(keys, KeyRopeOriginal)
		}
	}
	var out []container.KV
	for _, key := range keys {
		out = append(out, container.KV{Key: t.Name + "." + key, Value: values[key]})
	}
	return out
}

func count(n int) container.Value { return container.Of(uint32(n)) }

// defaultRopeBase is what llama.cpp takes where a file does not say
// (src/llama-model.cpp, rope_freq_base_train).
const defaultRopeBase = 10000

// ReadConfig reads the configuration of a model whose architecture is t from a
// file with GGUF's metadata keys and names of tensors. A file whose metadata
// lacks a key or gives it a value that no model has is a *container.FormatError
// that names the key. The tensors are not checked; see [Table.CheckInventory].
func (t *Table) ReadConfig(f *container.File, keys *container.Keys) (Config, error) {
	r := reader{file: f, keys: keys, prefix: t.Name + "."}
	c := r.config(t.Name)
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

func (r *reader) config(arch string) Config {
	c := Config{
		Arch:     arch,
		Layers:   r.count(KeyBlockCount),
		Context:  r.count(KeyContextLength),
		Hidden:   r.count(KeyEmbeddingLength),
		FFN:      r.count(KeyFeedForwardLength),
		Heads:    r.count(KeyHeadCount),
		Eps:      r.float(KeyRMSEpsilon),
		RopeBase: r.floatOr(KeyRopeFreqBase, defaultRopeBase),
	}
	c.KVHeads = r.countOr(KeyHeadCountKV, c.Heads)
	c.Vocab = r.countOr(KeyVocabSize, r.embeddingRows())
	c.HeadDim = r.headDim(c)
	c.RopeScaling = r.ropeScaling()
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
	for _, key := range []string{KeyValueLength, KeyRopeDimensionCount} {
		if n := r.countOr(key, dim); n != dim {
			r.fail(key, "%d differs from the heads' width of %d, which is not supported", n, dim)
		}
	}
	return dim
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
	if kind == "linear" || kind == "yarn" {
		s.Factor = r.float(KeyRopeScalingFactor)
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
