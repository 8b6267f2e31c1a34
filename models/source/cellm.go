package source

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/formats/cellm"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/hf"
	"onebit/models/tokenizer"
)

func init() { registerFiles(fileKind{cellm.Magic, openCellm}) }

// cellmTypes are the names of the architectures that .cellm files have and onebit
// runs.
func cellmTypes() string {
	var names []string
	for _, t := range arch.Tables() {
		if t.InCellm {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, ", ")
}

// ErrNoTokenizer is wrapped by the error of a Source that has none.
var ErrNoTokenizer = errors.New("holds no tokenizer; name a model that does with --tokenizer, such as the GGUF file it was made of")

// cellmKeys are the names in a .cellm file of what GGUF's keys say.
var cellmKeys = map[string]string{
	arch.KeyBlockCount: "num_layers", arch.KeyContextLength: "max_position_embeddings", arch.KeyEmbeddingLength: "hidden_dim",
	arch.KeyFeedForwardLength: "intermediate_size", arch.KeyVocabSize: "vocab_size", arch.KeyHeadCount: "num_heads",
	arch.KeyHeadCountKV: "num_kv_heads", arch.KeyKeyLength: "head_dim", arch.KeyRMSEpsilon: "rms_norm_eps", arch.KeyRopeFreqBase: "rope_theta",
	arch.KeyRopeScalingType: "rope_scaling", arch.KeyRopeScalingFactor: "rope_scaling", arch.KeyRopeOriginal: "rope_scaling",
}

// A cellmSource is a .cellm file, whose tensors it gives GGUF's names.
type cellmSource struct {
	*cellm.File
	table   *arch.Table
	config  arch.Config
	tensors []container.TensorInfo
}

func openCellm(path string, _ gguf.Options) (Source, error) {
	f, err := cellm.Open(path)
	if err != nil {
		return nil, err
	}
	s := &cellmSource{File: f}
	if err := s.read(); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (s *cellmSource) fail(key, format string, args ...any) error {
	return &container.FormatError{File: s.Name(), Offset: -1, Key: key, Msg: fmt.Sprintf(format, args...)}
}

// read finds out what the file's header and tensors mean.
func (s *cellmSource) read() error {
	h := s.Header
	t, err := arch.Lookup(h.ModelType)
	if err != nil || !t.InCellm {
		return s.fail("model_type", "%s is an architecture that onebit does not read from .cellm (known: %s)", term.QuoteAlways(h.ModelType), cellmTypes())
	}
	s.table = t
	for _, t := range s.File.Tensors() {
		original := t.Name
		if t.Name = hf.GGUFName(s.class(), original); s.hfName(t.Name) != original {
			return s.File.Fault(original, fmt.Errorf("has GGUF's name; .cellm calls it %s", s.hfName(t.Name)))
		}
		s.tensors = append(s.tensors, t)
	}
	if s.config, err = s.numbers(); err != nil {
		return err
	}
	if bad := s.config.Check(); bad != nil {
		return s.fail(cellmKeys[bad.Key], "%s", bad.Msg)
	}
	// What follows from the number of blocks stays proportional to the file.
	if n := len(s.tensors); s.config.Layers > n {
		return s.fail(cellmKeys[arch.KeyBlockCount], "%d blocks, and the file has %d tensors", s.config.Layers, n)
	}
	return nil
}

// class has the names of the architecture's tensors, which are those of its
// checkpoints at Hugging Face.
func (s *cellmSource) class() arch.Class { return s.table.Classes[0] }

func (s *cellmSource) hfName(name string) string { return hf.Name(s.class(), name) }

// numbers returns the configuration, unchecked.
func (s *cellmSource) numbers() (arch.Config, error) {
	h := s.Header
	c := arch.Config{
		Arch: s.table.Name, Layers: int(h.NumLayers), Hidden: int(h.HiddenDim), FFN: int(h.IntermediateSize),
		Heads: int(h.NumHeads), KVHeads: int(h.NumKVHeads), Vocab: int(h.VocabSize),
		RopeBase: h.RopeTheta, Eps: h.RMSNormEps,
	}
	c.Context = s.class().Context // what Hugging Face takes where a configuration does not say
	if h.MaxPositions != nil {
		c.Context = int(*h.MaxPositions)
	}
	c.HeadDim = s.headDim()
	if r := h.RopeScaling; r != nil {
		c.RopeScaling = arch.RopeScaling{Type: r.Type, Factor: r.Factor, OriginalContext: int(r.OriginalContext)}
	}
	_, hasHead := s.Info(s.hfName(arch.HeadTensor))
	c.TiedHead = !hasHead
	if h.Tied != nil {
		c.TiedHead = *h.Tied
	}
	return c, nil
}

// headDim returns the width of a head. The original's converter does not write
// it; then the norm of a head tells, where there is one.
func (s *cellmSource) headDim() int {
	h := s.Header
	if h.HeadDim != nil {
		return int(*h.HeadDim)
	}
	if norm, ok := s.Info(s.hfName("blk.0.attn_q_norm.weight")); ok {
		return norm.Shape[len(norm.Shape)-1]
	}
	return int(h.HiddenDim / max(1, h.NumHeads))
}

func (s *cellmSource) Kind() string                              { return ".cellm version 1" }
func (s *cellmSource) Config() (*arch.Table, arch.Config, error) { return s.table, s.config, nil }
func (s *cellmSource) Tensors() []container.TensorInfo           { return s.tensors }
func (s *cellmSource) Tokens() (int, string)                     { return 0, "" }
func (s *cellmSource) InPlace() bool                             { return true }
func (s *cellmSource) Notes() []string                           { return nil }
func (s *cellmSource) Check() error                              { return nil }
func (s *cellmSource) Rotation() (*arch.Rotation, error)         { return nil, nil }
func (s *cellmSource) Populate(name string)                      { s.File.Populate(s.hfName(name)) }
func (s *cellmSource) Release(name string) error                 { return s.File.Release(s.hfName(name)) }
func (s *cellmSource) Raw(name string) ([]byte, error)           { return s.File.Raw(s.hfName(name)) }
func (s *cellmSource) Fault(name string, err error) error        { return s.File.Fault(s.hfName(name), err) }

func (s *cellmSource) Tensor(name string) (formats.Tensor, error) {
	t, err := s.File.Tensor(s.hfName(name))
	t.Name = name
	return t, err
}

func (s *cellmSource) noTokenizer() error {
	return &container.FormatError{File: s.Name(), Offset: -1, Msg: ErrNoTokenizer.Error(), Err: ErrNoTokenizer}
}

func (s *cellmSource) Tokenizer() (*tokenizer.Tokenizer, error) { return nil, s.noTokenizer() }

// The keys of GGUF that .cellm has too, though it has no tokenizer.
const (
	keyBOS = "tokenizer.ggml.bos_token_id"
	keyEOS = "tokenizer.ggml.eos_token_id"
)

func (s *cellmSource) Metadata() ([]container.KV, error) {
	name := filepath.Base(s.Name())
	meta := append([]container.KV{
		{Key: arch.KeyArchitecture, Value: container.Of(s.table.Name)},
		{Key: "general.name", Value: container.Of(strings.TrimSuffix(name, filepath.Ext(name)))},
	}, s.table.Metadata(s.config)...)
	if id := s.Header.BOS; id != nil {
		meta = append(meta, container.KV{Key: keyBOS, Value: container.Of(*id)})
	}
	if id := s.Header.EOS; id != nil {
		meta = append(meta, container.KV{Key: keyEOS, Value: container.Of(*id)})
	}
	return meta, s.noTokenizer()
}

// HoldsCellm returns an error if a .cellm file has no name for an architecture.
func HoldsCellm(t *arch.Table) error {
	if !t.InCellm {
		return fmt.Errorf(".cellm has no name for architecture %s, of those that onebit runs only for %s", t.Name, cellmTypes())
	}
	return nil
}

// NewCellm writes the header of a .cellm file of a model whose tensors have
// GGUF's names. Of the metadata it has room for the first and the last token's
// number.
func NewCellm(w io.Writer, t *arch.Table, c arch.Config, meta []container.KV, tensors []container.TensorInfo) (*container.Writer, error) {
	if err := HoldsCellm(t); err != nil {
		return nil, err
	}
	switch {
	case arch.Rotated(meta):
		return nil, errors.New(".cellm cannot say that weights are rotated, and they would be run as if they were not")
	case c.RopeDim != 0:
		return nil, fmt.Errorf(".cellm cannot say that the rotary embedding turns %d of the %d values of a head", c.RopeDim, c.HeadDim)
	}
	number := func(n int) *uint32 { u := uint32(n); return &u }
	h := cellm.Header{
		ModelType: t.Name, NumLayers: uint32(c.Layers), HiddenDim: uint32(c.Hidden), IntermediateSize: uint32(c.FFN),
		NumHeads: uint32(c.Heads), NumKVHeads: uint32(c.KVHeads), HeadDim: number(c.HeadDim), VocabSize: uint32(c.Vocab),
		RMSNormEps: c.Eps, RopeTheta: c.RopeBase, MaxPositions: number(c.Context), Tied: &c.TiedHead,
	}
	if r := c.RopeScaling; r.Type != "" {
		h.RopeScaling = &cellm.RopeScaling{Type: r.Type, Factor: r.Factor, OriginalContext: uint32(r.OriginalContext)}
	}
	for _, kv := range meta {
		for key, id := range map[string]**uint32{keyBOS: &h.BOS, keyEOS: &h.EOS} {
			if n, err := kv.Value.Uint(); kv.Key == key && err == nil && n < 1<<32 {
				*id = number(int(n))
			}
		}
	}
	named := slices.Clone(tensors)
	for i := range named {
		named[i].Name = hf.Name(t.Classes[0], named[i].Name)
	}
	return cellm.NewWriter(w, h, named)
}
