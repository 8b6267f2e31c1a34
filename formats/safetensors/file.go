package safetensors

import (
	"fmt"

	"onebit/formats"
	"onebit/formats/container"
)

// A File is a parsed safetensors file. Its tensors stand in the order of their
// data, and a TensorInfo's TypeName is the dtype as the header spells it:
// "BF16".
type File struct {
	*container.File
	metadata map[string]string
}

// Open maps and parses the file at path, which must be a regular one. Every error
// is a *container.FormatError.
func Open(path string) (*File, error) {
	p := &parser{name: path}
	f, err := container.Open(path, p.parse)
	if err != nil {
		return nil, err
	}
	return &File{f, p.metadata}, nil
}

// Parse parses a file that is in memory; data must not change while the File
// is in use. The name is for errors.
func Parse(data []byte, name string) (*File, error) {
	p := &parser{name: name}
	f, err := container.Parse(data, name, p.parse)
	if err != nil {
		return nil, err
	}
	return &File{f, p.metadata}, nil
}

// Metadata returns what the header has under __metadata__, or nil.
func (f *File) Metadata() map[string]string { return f.metadata }

// Tensor is that of container.File. A tensor whose dtype is not a format of
// weights is an error.
func (f *File) Tensor(name string) (formats.Tensor, error) { return tensor(f.File, name) }

func tensor(f *container.File, name string) (formats.Tensor, error) {
	if info, ok := f.Info(name); ok && info.Type == nil {
		return formats.Tensor{}, f.Fault(name, fmt.Errorf("has dtype %s, want F32, F16 or BF16", info.TypeName))
	}
	return f.Tensor(name)
}
