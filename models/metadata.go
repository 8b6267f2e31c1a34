package models

import (
	"fmt"
	"math"
	"slices"

	"onebit/formats/gguf"
)

// Metadata keys, which follow "<architecture>." in a file: ggml-org/llama.cpp
// gguf-py/gguf/constants.py, class Keys.
const (
	keyArchitecture = "general.architecture"

	keyBlockCount         = "block_count"
	keyContextLength      = "context_length"
	keyEmbeddingLength    = "embedding_length"
	keyFeedForwardLength  = "feed_forward_length"
	keyVocabSize          = "vocab_size"
	keyHeadCount          = "attention.head_count"
	keyHeadCountKV        = "attention.head_count_kv"
	keyKeyLength          = "attention.key_length"
	keyValueLength        = "attention.value_length"
	keyRMSEpsilon         = "attention.layer_norm_rms_epsilon"
	keyRopeFreqBase       = "rope.freq_base"
	keyRopeDimensionCount = "rope.dimension_count"
	keyRopeScalingType    = "rope.scaling.type"
	keyRopeScalingFactor  = "rope.scaling.factor"
	keyRopeOriginal       = "rope.scaling.original_context_length"
)

// The tensors whose presence or shape says what metadata may leave out.
const (
	embeddingTensor = "token_embd.weight"
	headTensor      = "output.weight"
)

// Metadata returns the keys that the architecture's published files describe
// a model with, in their order, and those that this model needs besides: of a
// head width that does not follow from the others, and of a stretched RoPE.
func (a *Architecture) Metadata(c Config) []gguf.KV {
	values := map[string]gguf.Value{
		keyBlockCount:         count(c.Layers),
		keyContextLength:      count(c.Context),
		keyEmbeddingLength:    count(c.Hidden),
		keyFeedForwardLength:  count(c.FFN),
		keyVocabSize:          count(c.Vocab),
		keyHeadCount:          count(c.Heads),
		keyHeadCountKV:        count(c.KVHeads),
		keyKeyLength:          count(c.HeadDim),
		keyValueLength:        count(c.HeadDim),
		keyRMSEpsilon:         gguf.Of(c.Eps),
		keyRopeFreqBase:       gguf.Of(c.RopeBase),
		keyRopeDimensionCount: count(c.HeadDim),
	}
	keys := slices.Clone(a.keys)
	if c.HeadDim*c.Heads != c.Hidden && !slices.Contains(keys, keyKeyLength) {
		keys = append(keys, keyKeyLength, keyValueLength)
	}
	if s := c.RopeScaling; s.Type != "" {
		values[keyRopeScalingType] = gguf.Of(s.Type)
		values[keyRopeScalingFactor] = gguf.Of(s.Factor)
		keys = append(keys, keyRopeScalingType, keyRopeScalingFactor)
		if s.OriginalContext > 0 {
			values[keyRopeOriginal] = count(s.OriginalContext)
			keys = append(keys, keyRopeOriginal)
		}
	}
	var out []gguf.KV
	for _, key := range keys {
		out = append(out, gguf.KV{Key: a.Name + "." + key, Value: values[key]})
	}
	return out
}

func count(n int) gguf.Value { return gguf.Of(uint32(n)) }

// defaultRopeBase is what llama.cpp takes where a file does not say
// (src/llama-model.cpp, rope_freq_base_train).
const defaultRopeBase = 10000

// ConfigFromGGUF reads a model's architecture and configuration. A file whose
// architecture is unknown, or whose metadata lacks a key or gives it a value
// that no model has, is a *gguf.FormatError that names the key. The tensors
// are not checked; see [Architecture.CheckInventory].
func ConfigFromGGUF(f *gguf.File) (*Architecture, Config, error) {
	name, err := f.String(keyArchitecture)
	if err != nil {
		return nil, Config{}, err
	}
	a, err := Lookup(name)
	if err != nil {
		return nil, Config{}, &gguf.FormatError{File: f.Name(), Offset: -1, Key: keyArchitecture, Msg: err.Error(), Err: err}
	}
	r := reader{file: f, prefix: name + "."}
	c := r.config(name)
	if r.err == nil {
		r.check(c)
	}
	return a, c, r.err
}

// A reader reads keys of one architecture and remembers the first error.
type reader struct {
	file   *gguf.File
	prefix string
	err    error
}

func (r *reader) config(arch string) Config {
	c := Config{
		Arch:     arch,
		Layers:   r.count(keyBlockCount),
		Context:  r.count(keyContextLength),
		Hidden:   r.count(keyEmbeddingLength),
		FFN:      r.count(keyFeedForwardLength),
		Heads:    r.count(keyHeadCount),
		Eps:      r.float(keyRMSEpsilon),
		RopeBase: r.floatOr(keyRopeFreqBase, defaultRopeBase),
	}
	c.KVHeads = r.countOr(keyHeadCountKV, c.Heads)
	c.Vocab = r.countOr(keyVocabSize, r.embeddingRows())
	c.HeadDim = r.headDim(c)
	c.RopeScaling = r.ropeScaling()
	_, hasHead := r.file.Info(headTensor)
	c.TiedHead = !hasHead
	return c
}

func (r *reader) check(c Config) {
	if bad := c.validate(); bad != nil {
		r.fail(bad.key, "%s", bad.msg)
		return
	}
	// Every block has tensors, so what follows from this count stays
	// proportional to the file.
	if n := len(r.file.Tensors()); c.Layers > n {
		r.fail(keyBlockCount, "%d blocks, and the file has %d tensors", c.Layers, n)
	}
}

func (r *reader) fail(key, format string, args ...any) {
	r.keep(&gguf.FormatError{File: r.file.Name(), Offset: -1, Key: r.prefix + key, Msg: fmt.Sprintf(format, args...)})
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) count(key string) int {
	n, err := r.file.Uint(r.prefix + key)
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
	if !r.file.Has(r.prefix + key) {
		return missing
	}
	return r.count(key)
}

func (r *reader) float(key string) float32 {
	x, err := r.file.Float(r.prefix + key)
	if err != nil {
		r.keep(err)
	}
	return float32(x)
}

func (r *reader) floatOr(key string, missing float32) float32 {
	if !r.file.Has(r.prefix + key) {
		return missing
	}
	return r.float(key)
}

// embeddingRows is the vocabulary of files that do not state it, as Qwen3's.
func (r *reader) embeddingRows() int {
	if t, ok := r.file.Info(embeddingTensor); ok {
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
	dim = r.countOr(keyKeyLength, dim)
	if dim == 0 {
		return 0 // which is the fault of the key that says so
	}
	for _, key := range []string{keyValueLength, keyRopeDimensionCount} {
		if n := r.countOr(key, dim); n != dim {
			r.fail(key, "%d differs from the heads' width of %d, which is not supported", n, dim)
		}
	}
	return dim
}

// ropeScaling reads the scaling. A factor without a type is linear scaling, as
// in llama.cpp (src/llama-model.cpp, load_hparams).
func (r *reader) ropeScaling() RopeScaling {
	if !r.file.Has(r.prefix + keyRopeScalingType) {
		if factor := r.floatOr(keyRopeScalingFactor, 0); factor != 0 {
			return RopeScaling{Type: "linear", Factor: factor}
		}
		return RopeScaling{}
	}
	kind, err := r.file.String(r.prefix + keyRopeScalingType)
	if err != nil {
		r.keep(err)
	}
	s := RopeScaling{Type: kind}
	if kind == "linear" || kind == "yarn" {
		s.Factor = r.float(keyRopeScalingFactor)
		s.OriginalContext = r.countOr(keyRopeOriginal, 0)
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
		{"rope.scaling.yarn_beta_fast", betaFast},
		{"rope.scaling.yarn_beta_slow", betaSlow},
	} {
		if x := r.floatOr(k.key, k.usual); x != k.usual && !(k.key == mix && x < 0) {
			r.fail(k.key, "%v is not supported, only %v", x, k.usual)
		}
	}
}

// A Mismatch is a tensor in which a file differs from its architecture.
type Mismatch struct {
	Tensor string
	Msg    string // "missing", "unexpected", or the shapes
}

func (m Mismatch) Error() string { return fmt.Sprintf("tensor %s: %s", m.Tensor, m.Msg) }

// CheckInventory compares the tensors of a file with those that a model of the
// configuration must have, by name and shape: what is missing or misshapen in
// the architecture's order, then what is unexpected in the file's.
func (a *Architecture) CheckInventory(c Config, tensors []gguf.TensorInfo) []Mismatch {
	extra := make(map[string][]int, len(tensors))
	for _, t := range tensors {
		extra[t.Name] = t.Shape
	}
	var out []Mismatch
	for _, want := range a.Tensors(c) {
		switch shape, ok := extra[want.Name]; {
		case !ok:
			out = append(out, Mismatch{want.Name, "missing"})
		case !slices.Equal(shape, want.Shape):
			out = append(out, Mismatch{want.Name, fmt.Sprintf("has shape %v, want %v", shape, want.Shape)})
		}
		delete(extra, want.Name)
	}
	for _, t := range tensors {
		if _, ok := extra[t.Name]; ok {
			out = append(out, Mismatch{t.Name, "unexpected"})
		}
	}
	return out
}
