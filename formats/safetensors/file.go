package safetensors

import (
	"fmt"

	"onebit/formats"
	"onebit/internal/bounded"
	"onebit/internal/mmap"
)

// A TensorInfo describes a tensor.
type TensorInfo struct {
	Name   string
	DType  string        // as the header spells it: "BF16"
	Type   *formats.Type // nil if its elements are not read as weights
	Shape  []int         // outermost first; empty for a single element
	Offset int64         // of the data, from the start of the file
	Size   int64         // of the data in bytes
}

// A File is a parsed safetensors file. Its methods may be used at the same
// time, but not with Close. What they return must not be changed; tensor data
// aliases the file's bytes and is gone after Close.
type File struct {
	name     string
	data     []byte
	metadata map[string]string
	tensors  []TensorInfo // by offset
	names    map[string]int
	mapping  *mmap.File // nil after Parse
}

// Open maps and parses the file at path, which must be a regular one. Every error
// is a *FormatError.
func Open(path string) (*File, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	var f *File
	err = mmap.Guard(func() (err error) {
		f, err = Parse(m.Data(), path)
		return err
	})
	if err != nil {
		m.Close()
		return nil, fileError(path, err)
	}
	f.mapping = m
	return f, nil
}

func mapFile(path string) (*mmap.File, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mmap.Map(f)
}

// Parse parses a file that is in memory; data must not change while the File
// is in use. The name is for errors.
func Parse(data []byte, name string) (*File, error) {
	f := &File{name: name, data: data, names: map[string]int{}}
	if err := f.parse(); err != nil {
		return nil, err
	}
	return f, nil
}

// Close unmaps the file. Calls after the first do nothing.
func (f *File) Close() error {
	f.data = nil
	if f.mapping == nil {
		return nil
	}
	return f.mapping.Close()
}

// Name returns the path that the file was opened with, or Parse's name.
func (f *File) Name() string { return f.name }

// Size returns the file's size in bytes.
func (f *File) Size() int64 { return int64(len(f.data)) }

// Metadata returns what the header has under __metadata__, or nil.
func (f *File) Metadata() map[string]string { return f.metadata }

// Tensors describes all tensors, in the order of their data.
func (f *File) Tensors() []TensorInfo { return f.tensors }

// Info describes the tensor of that name.
func (f *File) Info(name string) (TensorInfo, bool) {
	i, ok := f.names[name]
	if !ok {
		return TensorInfo{}, false
	}
	return f.tensors[i], true
}

// Tensor returns the tensor of that name. A missing one is a *FormatError that
// wraps ErrMissing; so is, without that, one whose dtype is not a format of
// weights. The data is not looked at: see formats.Type.Validate.
func (f *File) Tensor(name string) (formats.Tensor, error) {
	data, info, err := f.find(name)
	if err != nil {
		return formats.Tensor{}, err
	}
	if info.Type == nil {
		return formats.Tensor{}, f.Fault(name, fmt.Errorf("has dtype %s, want F32, F16 or BF16", info.DType))
	}
	return formats.Tensor{Name: name, Type: info.Type, Shape: info.Shape, Data: data}, nil
}

// Raw returns the bytes of the tensor of that name, whatever its dtype.
func (f *File) Raw(name string) ([]byte, error) {
	data, _, err := f.find(name)
	return data, err
}

func (f *File) find(name string) ([]byte, TensorInfo, error) {
	if f.data == nil {
		panic("safetensors: file used after Close")
	}
	info, ok := f.Info(name)
	if !ok {
		return nil, info, &FormatError{File: f.name, Offset: -1, Tensor: name, Msg: ErrMissing.Error(), Err: ErrMissing}
	}
	end := info.Offset + info.Size
	return f.data[info.Offset:end:end], info, nil
}

// Fault returns what is wrong with a tensor as a *FormatError that says where
// its data is.
func (f *File) Fault(name string, err error) error {
	e := &FormatError{File: f.name, Offset: -1, Tensor: name, Msg: err.Error(), Err: err}
	if info, ok := f.Info(name); ok {
		e.Offset = info.Offset
	}
	return e
}

// Release tells the system that a tensor's bytes are not needed soon, as
// gguf.File.Release does.
func (f *File) Release(name string) error {
	info, ok := f.Info(name)
	if !ok || f.mapping == nil {
		return nil
	}
	return f.mapping.Release(int(info.Offset), int(info.Size))
}
