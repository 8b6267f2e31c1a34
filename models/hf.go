package models

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/safetensors"
	"onebit/internal/mmap"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

// A directory is a Hugging Face checkpoint as a Source. What it holds and how
// it is read:
//
//	embedding, head        as they are: bf16, f16 or f32, in place
//	norms                  as float32
//	projections, qwen3     as they are
//	projections, bitnet*   as i2_s, or as ternary_u32 if the columns do not
//	                       fill i2_s's blocks of 128; see ternary.go
type directory struct {
	hfConfig
	files  *safetensors.Dir
	infos  []container.TensorInfo
	stored map[string]storedTensor // by GGUF name

	mu   sync.Mutex
	made map[string]*mmap.Anon // ternary tensors, by GGUF name
}

// A storedTensor is a tensor as the checkpoint has it.
type storedTensor struct {
	container.TensorInfo
	info container.TensorInfo // as it is read
	// scale is the name of the tensor with the weights' scale, or "".
	scale string
}

func openDirectory(path string) (Source, error) {
	config, err := readHFConfig(path, tables())
	if err != nil {
		return nil, err
	}
	files, err := safetensors.OpenDir(path)
	if err != nil {
		return nil, err
	}
	d := &directory{hfConfig: config, files: files, stored: map[string]storedTensor{}, made: map[string]*mmap.Anon{}}
	if err := d.list(); err != nil {
		files.Close()
		return nil, err
	}
	return d, nil
}

// list finds out what each tensor is.
func (d *directory) list() error {
	tensors := d.files.Tensors()
	// What follows from the number of blocks stays proportional to the files.
	if d.config.Layers > len(tensors) {
		return &ConfigError{File: filepath.Join(d.Name(), "config.json"), Key: hfKeys[arch.KeyBlockCount],
			Msg: fmt.Sprintf("%d blocks, and there are %d tensors", d.config.Layers, len(tensors))}
	}
	roles := map[string]arch.Role{}
	for _, t := range d.table.Tensors(d.config) {
		roles[t.Name] = t.Role
	}
	for _, t := range tensors {
		name := ggufName(t.Name)
		switch {
		case d.skips(t.Name):
			continue
		case strings.HasSuffix(t.Name, ".bias"):
			return d.files.Fault(t.Name, errors.New("is a bias, which no architecture of onebit adds"))
		case d.stored[name].Name != "":
			return d.files.Fault(t.Name, fmt.Errorf("is the same as tensor %s", term.QuoteAlways(d.stored[name].Name)))
		}
		role, ok := roles[name]
		s, err := d.describe(t, name, ok && role == arch.Projection && ternary(d.table))
		if err != nil {
			return d.files.Fault(t.Name, err)
		}
		d.stored[name] = s
		d.infos = append(d.infos, s.info)
	}
	return nil
}

const (
	weightSuffix = ".weight"
	scaleSuffix  = ".weight_scale"
)

// skips says which tensors are not the model's own: scales, which go with
// their weights, the head of a model that uses its embedding, and frequencies
// that old checkpoints of LLaMA's kind have and that follow from the
// configuration.
func (d *directory) skips(name string) bool {
	if base, ok := strings.CutSuffix(name, scaleSuffix); ok {
		_, ok := d.files.Info(base + weightSuffix)
		return ok
	}
	return d.config.TiedHead && name == hfName(arch.HeadTensor) || strings.HasSuffix(name, ".rotary_emb.inv_freq")
}

// describe says how a tensor is read.
func (d *directory) describe(t container.TensorInfo, name string, ternary bool) (storedTensor, error) {
	s := storedTensor{TensorInfo: t}
	if base, ok := strings.CutSuffix(t.Name, weightSuffix); ok {
		if _, ok := d.files.Info(base + scaleSuffix); ok {
			s.scale = base + scaleSuffix
		}
	}
	info := container.TensorInfo{Name: name, Type: t.Type, TypeName: strings.ToLower(t.TypeName), Shape: t.Shape, Offset: t.Offset, Size: t.Size}
	switch {
	case ternary && len(t.Shape) == 2:
		if t.TypeName == safetensors.U8 {
			if s.scale == "" {
				return s, fmt.Errorf("holds packed weights, and their %s is missing", scaleSuffix[1:])
			}
			info.Shape = []int{4 * t.Shape[0], t.Shape[1]}
		} else if t.Type == nil {
			return s, fmt.Errorf("has dtype %s, want packed weights in U8 or floats in F32, F16 or BF16", t.TypeName)
		}
		info.Type = ternaryType(info.Shape[1])
	case s.scale != "":
		return s, fmt.Errorf("has a %s, which only ternary projections may have", scaleSuffix[1:])
	case len(t.Shape) == 1 && t.Type != nil:
		info.Type = formats.F32
	}
	if info.Type != nil {
		tensor := formats.Tensor{Shape: info.Shape}
		n, err := info.Type.Bytes(tensor.Dims())
		if err != nil {
			return s, err
		}
		info.TypeName, info.Size = info.Type.Name, int64(n)
	}
	s.info = info
	return s, nil
}

// hfBlockNames are the tensors of a transformer block. The second names of
// inner norms are 1bitLLM's.
var hfBlockNames = []struct{ hf, gguf string }{
	{"input_layernorm", "attn_norm"},
	{"self_attn.q_proj", "attn_q"},
	{"self_attn.k_proj", "attn_k"},
	{"self_attn.v_proj", "attn_v"},
	{"self_attn.q_norm", "attn_q_norm"},
	{"self_attn.k_norm", "attn_k_norm"},
	{"self_attn.attn_sub_norm", "attn_sub_norm"},
	{"self_attn.inner_attn_ln", "attn_sub_norm"},
	{"self_attn.o_proj", "attn_output"},
	{"post_attention_layernorm", "ffn_norm"},
	{"mlp.gate_proj", "ffn_gate"},
	{"mlp.up_proj", "ffn_up"},
	{"mlp.ffn_sub_norm", "ffn_sub_norm"},
	{"mlp.ffn_layernorm", "ffn_sub_norm"},
	{"mlp.down_proj", "ffn_down"},
}

var hfGlobalNames = []struct{ hf, gguf string }{
	{"model.embed_tokens.weight", arch.EmbeddingTensor},
	{"model.norm.weight", arch.OutputNormTensor},
	{"lm_head.weight", arch.HeadTensor},
}

var (
	hfBlock   = regexp.MustCompile(`^model\.layers\.(\d+)\.(.+)\.weight$`)
	ggufBlock = regexp.MustCompile(`^blk\.(\d+)\.(.+)\.weight$`)
)

// ggufName returns what GGUF calls a tensor, or the name itself if it is none
// that an architecture has.
func ggufName(name string) string {
	for _, n := range hfGlobalNames {
		if n.hf == name {
			return n.gguf
		}
	}
	if m := hfBlock.FindStringSubmatch(name); m != nil {
		for _, n := range hfBlockNames {
			if n.hf == m[2] {
				return "blk." + m[1] + "." + n.gguf + weightSuffix
			}
		}
	}
	return name
}

// hfName is the inverse of ggufName.
func hfName(name string) string {
	for _, n := range hfGlobalNames {
		if n.gguf == name {
			return n.hf
		}
	}
	if m := ggufBlock.FindStringSubmatch(name); m != nil {
		for _, n := range hfBlockNames {
			if n.gguf == m[2] {
				return "model.layers." + m[1] + "." + n.hf + weightSuffix
			}
		}
	}
	return name
}

func (d *directory) Name() string                              { return d.files.Name() }
func (d *directory) Size() int64                               { return d.files.Size() }
func (d *directory) Config() (*arch.Table, arch.Config, error) { return d.table, d.config, nil }
func (d *directory) Tensors() []container.TensorInfo           { return d.infos }
func (d *directory) InPlace() bool                             { return !ternary(d.table) }
func (d *directory) Check() error                              { return nil }
func (d *directory) Tokens() (int, string)                     { return 0, "" }
func (d *directory) Kind() string                              { return "Hugging Face directory" }

func (d *directory) Metadata() ([]container.KV, error) {
	path, err := filepath.Abs(d.Name())
	if err != nil {
		path = d.Name()
	}
	meta := append([]container.KV{
		{Key: arch.KeyArchitecture, Value: container.Of(d.table.Name)},
		{Key: "general.name", Value: container.Of(filepath.Base(path))},
	}, d.table.Metadata(d.config)...)
	tokens, err := tokenizer.HFMetadata(d.Name(), d.table.Text)
	return append(meta, tokens...), err
}

func (d *directory) Fault(name string, err error) error {
	if s, ok := d.stored[name]; ok {
		return d.files.Fault(s.Name, err)
	}
	return d.files.Fault(hfName(name), err)
}

func (d *directory) Tensor(name string) (formats.Tensor, error) {
	s, ok := d.stored[name]
	if !ok {
		return formats.Tensor{}, d.Fault(name, container.ErrMissing)
	}
	out := formats.Tensor{Name: name, Type: s.info.Type, Shape: s.info.Shape}
	var err error
	switch s.info.Type {
	case s.Type:
		var t formats.Tensor
		t, err = d.files.Tensor(s.Name)
		out.Data = t.Data
	case formats.F32:
		out.Data, err = d.floats(s)
	default:
		out.Data, err = d.ternary(s)
	}
	if err != nil {
		return formats.Tensor{}, d.Fault(name, err)
	}
	return out, nil
}

func (d *directory) Raw(name string) ([]byte, error) {
	if s, ok := d.stored[name]; ok && s.info.Type == nil {
		return d.files.Raw(s.Name)
	}
	t, err := d.Tensor(name)
	return t.Data, err
}

// floats returns a tensor as the bytes of float32.
func (d *directory) floats(s storedTensor) ([]byte, error) {
	t, err := d.files.Tensor(s.Name)
	if err != nil {
		return nil, err
	}
	w, err := t.Floats()
	if err != nil {
		return nil, err
	}
	rows, cols := t.Dims()
	if err := t.Type.Validate(t.Data, rows, cols); err != nil {
		return nil, err
	}
	data := make([]byte, s.info.Size)
	return data, formats.F32.Quantize(data, w, rows, cols)
}

func (d *directory) Tokenizer() (*tokenizer.Tokenizer, error) {
	return tokenizer.FromHF(d.Name(), d.table.Text)
}

// Populate leaves it to the first products.
func (d *directory) Populate(string) {}

// Release frees what was made of a tensor.
func (d *directory) Release(name string) error {
	d.mu.Lock()
	mem := d.made[name]
	delete(d.made, name)
	d.mu.Unlock()
	if mem != nil {
		return mem.Free()
	}
	return d.files.Release(d.stored[name].Name)
}

func (d *directory) Close() error {
	var errs []error
	for _, mem := range d.made {
		errs = append(errs, mem.Free())
	}
	clear(d.made)
	return errors.Join(append(errs, d.files.Close())...)
}
