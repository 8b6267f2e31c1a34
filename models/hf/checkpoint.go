package hf

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/safetensors"
	"onebit/internal/count"
	"onebit/internal/mmap"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

// A Checkpoint is a Hugging Face directory as a source of a model.
type Checkpoint struct {
	config
	files  *safetensors.Dir
	infos  []container.TensorInfo
	stored map[string]storedTensor // by GGUF name

	mu   sync.Mutex
	made map[string]*mmap.Anon // matrices that are none of the files' bytes, by GGUF name
}

// A storedTensor is a tensor as the checkpoint has it.
type storedTensor struct {
	container.TensorInfo
	info container.TensorInfo // as it is read
	read func(*Checkpoint, storedTensor) ([]byte, error)
	// scale is the name of the tensor with the weights' scale, or "".
	scale  string
	change arch.Change
	parts  []container.TensorInfo // of experts, each one's
}

// Open opens the checkpoint in a directory, which must be of one of the
// architectures. What is wrong with it is a *ConfigError or a
// *container.FormatError.
func Open(dir string, tables []*arch.Table) (*Checkpoint, error) {
	config, err := readConfig(dir, tables)
	if err != nil {
		return nil, err
	}
	files, err := safetensors.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{config: config, files: files, stored: map[string]storedTensor{}, made: map[string]*mmap.Anon{}}
	if err := c.list(); err != nil {
		files.Close()
		return nil, err
	}
	return c, nil
}

// list finds out what each tensor is.
func (c *Checkpoint) list() error {
	tensors := c.files.Tensors()
	// What follows from the number of blocks stays proportional to the files.
	if c.numbers.Layers > len(tensors) {
		return &ConfigError{File: filepath.Join(c.Name(), "config.json"), Key: configKeys[arch.KeyBlockCount],
			Msg: fmt.Sprintf("%d blocks, and there are %d tensors", c.numbers.Layers, len(tensors))}
	}
	roles, experts := map[string]arch.Role{}, map[string][]container.TensorInfo{}
	for _, t := range c.table.Tensors(c.numbers) {
		roles[t.Name] = t.Role
	}
	for _, t := range tensors {
		name := c.ggufName(t.Name)
		if roles[name] == arch.Expert {
			experts[name] = append(experts[name], t)
			continue
		}
		switch {
		case c.skips(t.Name):
			continue
		case strings.HasSuffix(t.Name, ".bias"):
			return c.files.Fault(t.Name, errors.New("is a bias, which no architecture of onebit adds"))
		case c.stored[name].read != nil:
			return c.files.Fault(t.Name, fmt.Errorf("is the same as tensor %s", term.QuoteAlways(c.stored[name].Name)))
		}
		role, ok := roles[name]
		if !ok {
			role = unknown
		}
		s, err := c.describe(t, name, role)
		if err != nil {
			return c.files.Fault(t.Name, err)
		}
		c.add(s)
	}
	for _, d := range c.divisors {
		c.add(d.stored())
	}
	for _, spec := range c.table.Tensors(c.numbers) {
		if spec.Role != arch.Expert {
			continue
		}
		s, err := c.experts(spec, experts[spec.Name])
		if err != nil {
			return err
		}
		c.add(s)
	}
	return nil
}

// unknown is the role of tensors that the architecture has not.
const unknown = arch.Role(-1)

func (c *Checkpoint) add(s storedTensor) {
	c.stored[s.info.Name] = s
	c.infos = append(c.infos, s.info)
}

// skips says which tensors are not the model's own: scales, which go with
// their weights, the head of a model that uses its embedding, frequencies
// that old checkpoints of LLaMA's kind have and that follow from the
// configuration, and what is left alone.
func (c *Checkpoint) skips(name string) bool {
	if base, ok := strings.CutSuffix(name, scaleSuffix); ok {
		_, ok := c.files.Info(base + weightSuffix)
		return ok
	}
	return c.numbers.TiedHead && name == headName || strings.HasSuffix(name, ".rotary_emb.inv_freq") || c.leftAlone(name) != nil
}

// leftAlone returns what a tensor is that the model runs without, or nil.
func (c *config) leftAlone(name string) *arch.LeftAlone {
	for i, l := range c.class.LeftAlone {
		if strings.HasPrefix(name, l.Prefix) {
			return &c.class.LeftAlone[i]
		}
	}
	return nil
}

// Notes say what of the checkpoint is left alone.
func (c *Checkpoint) Notes() []string {
	number := map[*arch.LeftAlone]int{}
	for _, t := range c.files.Tensors() {
		number[c.leftAlone(t.Name)]++
	}
	var out []string
	for i := range c.class.LeftAlone {
		l := &c.class.LeftAlone[i]
		if n := number[l]; n > 0 {
			out = append(out, fmt.Sprintf("left alone: %s %s* of what %s", count.Of(n, "tensor"), l.Prefix, l.What))
		}
	}
	return out
}

// describe says how a tensor is read.
func (c *Checkpoint) describe(t container.TensorInfo, name string, role arch.Role) (storedTensor, error) {
	s := storedTensor{TensorInfo: t, read: (*Checkpoint).inPlace, change: c.class.Changes[baseName(name)]}
	if base, ok := strings.CutSuffix(t.Name, weightSuffix); ok {
		if _, ok := c.files.Info(base + scaleSuffix); ok {
			s.scale = base + scaleSuffix
		}
	}
	info := container.TensorInfo{Name: name, Type: t.Type, TypeName: strings.ToLower(t.TypeName), Shape: t.Shape, Offset: t.Offset, Size: t.Size, Part: t.Part}
	switch {
	case c.ternary && role == arch.Projection && len(t.Shape) == 2:
		if t.TypeName == safetensors.U8 {
			if s.scale == "" {
				return s, fmt.Errorf("holds packed weights, and their %s is missing", scaleSuffix[1:])
			}
			info.Shape = []int{4 * t.Shape[0], t.Shape[1]}
		} else if t.Type == nil {
			return s, fmt.Errorf("has dtype %s, want packed weights in U8 or floats in F32, F16 or BF16", t.TypeName)
		}
		info.Type, s.read = ternaryType(info.Shape[1]), (*Checkpoint).ternaries
	case c.class.ByRow != nil && role == arch.Projection && len(t.Shape) == 2 && t.Type != nil:
		s.parts = []container.TensorInfo{t}
		info.Type, s.read = c.class.ByRow, (*Checkpoint).byRow
	case s.scale != "":
		return s, fmt.Errorf("has a %s, which only ternary projections may have", scaleSuffix[1:])
	case t.Type == nil:
	case role == arch.Taps && len(t.Shape) == 3 && t.Shape[1] == 1: // channels, each a group of the convolution
		info.Shape = []int{t.Shape[0], t.Shape[2]}
		fallthrough
	case role == arch.Taps || len(t.Shape) == 1:
		info.Type, s.read = formats.F32, (*Checkpoint).floats
	case s.change.Rows != nil || s.change.Cols != nil:
		s.read = (*Checkpoint).ordered
	}
	if info.Type != nil {
		n, err := info.Type.Bytes(formats.Dims(info.Shape))
		if err != nil {
			return s, err
		}
		info.TypeName, info.Size = info.Type.Name, int64(n)
	}
	s.info = info
	return s, nil
}

func (c *Checkpoint) Name() string                              { return c.files.Name() }
func (c *Checkpoint) Size() int64                               { return c.files.Size() }
func (c *Checkpoint) Config() (*arch.Table, arch.Config, error) { return c.table, c.numbers, nil }
func (c *Checkpoint) Tensors() []container.TensorInfo           { return c.infos }
func (c *Checkpoint) InPlace() bool                             { return !c.ternary && c.class.ByRow == nil && !c.reorders() }
func (c *Checkpoint) Part(name string) int                      { return c.stored[name].Part }
func (c *Checkpoint) Check() error                              { return nil }
func (c *Checkpoint) Rotation() (*arch.Rotation, error)         { return nil, nil }
func (c *Checkpoint) Tokens() (int, string)                     { return 0, "" }
func (c *Checkpoint) Kind() string                              { return "Hugging Face directory" }

func (c *Checkpoint) Metadata() ([]container.KV, error) {
	path, err := filepath.Abs(c.Name())
	if err != nil {
		path = c.Name()
	}
	meta := append([]container.KV{
		{Key: arch.KeyArchitecture, Value: container.Of(c.table.Name)},
		{Key: "general.name", Value: container.Of(filepath.Base(path))},
	}, c.table.Metadata(c.numbers)...)
	tokens, err := tokenizer.HFMetadata(c.Name(), c.table.Text)
	return append(meta, tokens...), err
}

func (c *Checkpoint) Fault(name string, err error) error {
	if s, ok := c.stored[name]; ok {
		return c.files.Fault(s.Name, err)
	}
	return c.files.Fault(c.hfName(name), err)
}

func (c *Checkpoint) Tensor(name string) (formats.Tensor, error) {
	s, ok := c.stored[name]
	if !ok {
		return formats.Tensor{}, c.Fault(name, container.ErrMissing)
	}
	data, err := s.read(c, s)
	if err != nil {
		return formats.Tensor{}, c.Fault(name, err)
	}
	return formats.Tensor{Name: name, Type: s.info.Type, Shape: s.info.Shape, Data: data}, nil
}

func (c *Checkpoint) Raw(name string) ([]byte, error) {
	if s, ok := c.stored[name]; ok && s.info.Type == nil {
		return c.files.Raw(s.Name)
	}
	t, err := c.Tensor(name)
	return t.Data, err
}

// inPlace returns the file's own bytes.
func (c *Checkpoint) inPlace(s storedTensor) ([]byte, error) {
	t, err := c.files.Tensor(s.Name)
	return t.Data, err
}

func (c *Checkpoint) Tokenizer() (*tokenizer.Tokenizer, error) {
	return tokenizer.FromHF(c.Name(), c.table.Text)
}

// Populate leaves it to the first products.
func (c *Checkpoint) Populate(string) {}

// Release frees what was made of a tensor.
func (c *Checkpoint) Release(name string) error {
	c.mu.Lock()
	mem := c.made[name]
	delete(c.made, name)
	c.mu.Unlock()
	switch s := c.stored[name]; {
	case mem != nil:
		return mem.Free()
	case s.Name == "" || s.parts != nil: // it is config.json's, or was released when it was made
		return nil
	default:
		return c.files.Release(s.Name)
	}
}

func (c *Checkpoint) Close() error {
	var errs []error
	for _, mem := range c.made {
		errs = append(errs, mem.Free())
	}
	clear(c.made)
	return errors.Join(append(errs, c.files.Close())...)
}
