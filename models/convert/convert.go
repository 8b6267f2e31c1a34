// Package convert writes a model in other formats of weights, in another container, or in
// another number of files: onebit convert, as a library. Vectors, and tensors that have the
// format already, are copied to the bit. Weights that are not ternary are ternarized on the
// way to a ternary format; the report says which.
package convert

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"onebit/formats"
	"onebit/formats/cellm"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/mmap"
	"onebit/models/source"
)

// Options say what a model becomes.
type Options struct {
	To      *formats.Type          // format of the matrices; nil: as they are read
	Matrix  func(name string) bool // which matrices get it; nil: Projection
	Cellm   bool                   // write a .cellm file, not GGUF
	MaxPart int64                  // bytes of tensors in a file; 0: all are in one
}

// A Conversion is a model on its way.
type Conversion struct {
	Options
	Tensors []Tensor       // the converted ones, in the order of the files
	Copied  map[string]int // the others, by their format

	in    source.Source
	size  int64
	parts []gguf.Part
}

// Formats are those that can be written. ternary_u32 has no GGUF type: it is a layout for
// memory.
func Formats() (out []*formats.Type) {
	for _, t := range formats.Types() {
		if gguf.Packings(t) != nil {
			out = append(out, t)
		}
	}
	return out
}

// Projection tells by its name a matrix that is neither an embedding nor a head nor taps,
// in a model of any architecture.
func Projection(name string) bool {
	return !strings.HasSuffix(name, "_embd.weight") && name != "output.weight" && !strings.HasSuffix(name, "_conv1d.weight")
}

// ErrNothing is of options that change neither format nor container nor files.
var ErrNothing = errors.New("nothing to convert: give a format")

// New plans the conversion of a model. It refuses what cannot be converted before anything
// is written.
func New(in source.Source, opt Options) (*Conversion, error) {
	c := &Conversion{Options: opt, Copied: map[string]int{}, in: in}
	if c.Matrix == nil {
		c.Matrix = Projection
	}
	if !c.Moves() && !c.regroups() && !slices.ContainsFunc(in.Tensors(), func(t container.TensorInfo) bool { return c.target(t) != nil }) {
		if c.To == nil {
			return nil, ErrNothing
		}
		return nil, fmt.Errorf("%s: nothing to convert: no chosen matrix has a format other than %s", in.Name(), c.To.Name)
	}
	if err := c.checkModel(); err != nil {
		return nil, err
	}
	infos, err := c.plan()
	if err != nil {
		return nil, err
	}
	meta, err := in.Metadata()
	if err != nil && !c.Cellm { // which has no room for a tokenizer
		return nil, err
	}
	// The file type names one format for the whole file, in numbers that mean
	// different formats to different programs.
	if c.Moves() || c.To != nil {
		meta = slices.DeleteFunc(slices.Clone(meta), func(kv container.KV) bool { return kv.Key == "general.file_type" })
	}
	if c.MaxPart == 0 {
		c.parts = []gguf.Part{{Meta: meta, Tensors: infos}}
		return c, nil
	}
	c.parts, err = gguf.Parts(meta, infos, c.MaxPart)
	return c, err
}

// Moves reports whether the model changes its container.
func (c *Conversion) Moves() bool { return c.Cellm || !strings.HasPrefix(c.in.Kind(), "GGUF") }

// regroups reports whether the model is in another number of files than it was.
func (c *Conversion) regroups() bool {
	return c.MaxPart > 0 || slices.ContainsFunc(c.in.Tensors(), func(t container.TensorInfo) bool { return t.Part > 0 })
}

// Bytes is the size of the output's tensors.
func (c *Conversion) Bytes() int64 { return c.size }

// Paths are where the files go that are written for an output of that name.
func (c *Conversion) Paths(output string) (paths []string) {
	if c.MaxPart == 0 {
		return []string{output}
	}
	for _, p := range c.parts {
		paths = append(paths, strings.TrimSuffix(output, ".gguf")+p.Suffix)
	}
	return paths
}

// target returns the format that a tensor is converted to, nil for one that is
// copied. The original .cellm has norms in f16, and readers of GGUF want them in
// f32.
func (c *Conversion) target(t container.TensorInfo) *formats.Type {
	switch {
	case len(t.Shape) > 1:
		if c.To != nil && c.Matrix(t.Name) && t.TypeName != c.To.Name {
			return c.To
		}
	case c.Cellm && (t.Type == formats.F32 || t.Type == formats.BF16):
		return formats.F16
	case !c.Cellm && c.Moves() && t.Type == formats.F16:
		return formats.F32
	}
	return nil
}

// checkModel refuses a model of another container that is not whole.
func (c *Conversion) checkModel() error {
	if !c.Moves() {
		return nil
	}
	arch, config, err := c.in.Config()
	if err != nil {
		return err
	}
	if c.Cellm {
		if err := source.HoldsCellm(arch); err != nil {
			return fmt.Errorf("%s: %w", c.in.Name(), err)
		}
	}
	for _, bad := range arch.CheckInventory(config, c.in.Tensors()) {
		return c.in.Fault(bad.Tensor, fmt.Errorf("%s, in a model of architecture %s", bad.Msg, arch.Name))
	}
	return nil
}

// plan returns the tensors of the output.
func (c *Conversion) plan() (out []container.TensorInfo, err error) {
	for _, t := range c.in.Tensors() {
		info := container.TensorInfo{Name: t.Name, Type: t.Type, TypeName: t.TypeName, Shape: t.Shape}
		bytes := t.Size
		if to := c.target(t); to != nil {
			if t.Type == nil {
				_, err := c.in.Tensor(t.Name) // which says why
				return nil, err
			}
			n, err := to.Bytes(formats.Dims(t.Shape))
			if err != nil {
				return nil, c.in.Fault(t.Name, err)
			}
			info.Type, info.TypeName = to, to.Name
			bytes = int64(n)
		} else if t.Type == formats.Ternary_u32 && !c.Cellm {
			return nil, c.in.Fault(t.Name, fmt.Errorf("GGUF holds no ternary rows of %d columns, which fill no blocks of i2_s; choose another --type, such as q2_0", t.Shape[1]))
		}
		if c.Cellm {
			if err := cellm.Holds(info); err != nil {
				return nil, c.in.Fault(t.Name, err)
			}
		}
		out = append(out, info)
		c.size += bytes
	}
	return out, nil
}

// writer writes the header.
func (c *Conversion) writer(w io.Writer, meta []container.KV, infos []container.TensorInfo) (*container.Writer, error) {
	if c.Cellm {
		arch, config, err := c.in.Config()
		if err != nil {
			return nil, err
		}
		return source.NewCellm(w, arch, config, meta, infos)
	}
	return gguf.NewWriter(w, meta, infos)
}

// Write writes a file of the output: the files in their order, each once.
func (c *Conversion) Write(file int, w io.Writer) error {
	part := c.parts[file]
	out, err := c.writer(w, part.Meta, part.Tensors)
	if err != nil {
		return err
	}
	was := map[string]container.TensorInfo{}
	for _, t := range c.in.Tensors() {
		was[t.Name] = t
	}
	for _, info := range part.Tensors {
		t := was[info.Name]
		if err := c.writeTensor(out, t); err != nil {
			return err
		}
		// Read once and never again: without this all of the file stays resident.
		if err := c.in.Release(t.Name); err != nil {
			return err
		}
	}
	if _, err := out.Next(); !errors.Is(err, io.EOF) {
		return err
	}
	return out.Close()
}

func (c *Conversion) writeTensor(out *container.Writer, t container.TensorInfo) error {
	info, err := out.Next()
	if err != nil {
		return err
	}
	to := c.target(t)
	if to == nil {
		data, err := c.in.Raw(t.Name)
		if err != nil {
			return err
		}
		c.Copied[t.TypeName]++
		_, err = out.Write(data)
		if errors.Is(err, syscall.EFAULT) { // the system's word for a mapped file that was cut short
			err = c.in.Fault(t.Name, mmap.ErrGone)
		}
		return err
	}
	tensor, err := c.in.Tensor(t.Name)
	if err != nil {
		return err
	}
	r, err := requantize(out, to, &tensor)
	if err != nil {
		var format *formats.Error
		if errors.As(err, &format) {
			err = c.in.Fault(t.Name, err)
		}
		return err
	}
	r.TensorInfo, r.To, r.Bytes = t, to, info.Size
	c.Tensors = append(c.Tensors, r)
	return nil
}
