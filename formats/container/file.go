package container

import (
	"fmt"

	"onebit/formats"
	"onebit/internal/bounded"
	"onebit/internal/mmap"
)

// A TensorInfo describes a tensor. To a container's writer it gives Name, Shape
// and Type (or TypeName, if onebit has no Type for it); the rest is computed.
type TensorInfo struct {
	Name     string
	Type     *formats.Type // nil if onebit cannot decode it
	TypeName string        // the type as the container calls it
	Shape    []int         // outermost first; empty for a single element
	Offset   int64         // of the data, from the start of the file
	Size     int64         // of the data in bytes
	Part     int           // which of the files that were joined has it
}

// A File is a file whose tensors are known. Its methods may be used at the same
// time, but not with Close. What they return must not be changed; tensor data
// aliases the file's bytes and is gone after Close. Several may be joined.
type File struct {
	name    string
	data    []byte
	tensors []TensorInfo
	index   map[string]int
	mapping *mmap.File // nil after Parse
	parts   []*File    // what was joined, which then has the data
}

// A Parser returns the tensors of a file, each with a name of its own and its
// bytes in data. Its errors are *FormatErrors.
type Parser func(data []byte) ([]TensorInfo, error)

// Open maps the file at path, which must be a regular one, and parses it. Every
// error is a *FormatError. What the parser has read is released: most of it is
// a vocabulary, and what is wanted of that comes back when it is read.
func Open(path string, parse Parser) (*File, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, FileError(path, err)
	}
	var f *File
	err = mmap.Guard(func() (err error) {
		f, err = Parse(m.Data(), path, parse)
		return err
	})
	if err != nil {
		m.Close()
		return nil, FileError(path, err)
	}
	f.mapping = m
	_ = m.Release(0, f.header()) // a hint, so an error does not matter
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
func Parse(data []byte, name string, parse Parser) (*File, error) {
	tensors, err := parse(data)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, data: data, tensors: tensors, index: make(map[string]int, len(tensors))}
	for i, t := range tensors {
		f.index[t.Name] = i
	}
	return f, nil
}

// header returns how many bytes stand before the first tensor.
func (f *File) header() int {
	end := int64(len(f.data))
	for _, t := range f.tensors {
		end = min(end, t.Offset)
	}
	return int(end)
}

// Close unmaps the file. Calls after the first do nothing.
func (f *File) Close() error {
	if f.parts != nil {
		return closeAll(f.parts)
	}
	f.data = nil
	if f.mapping == nil {
		return nil
	}
	return f.mapping.Close()
}

// Name returns the path that the file was opened with, or Parse's or Join's name.
func (f *File) Name() string { return f.name }

// Size returns the file's size in bytes, that of all parts together.
func (f *File) Size() int64 {
	n := int64(len(f.data))
	for _, part := range f.parts {
		n += part.Size()
	}
	return n
}

// Tensors describes all tensors, in the parser's order.
func (f *File) Tensors() []TensorInfo { return f.tensors }

// Info describes the tensor of that name.
func (f *File) Info(name string) (TensorInfo, bool) {
	i, ok := f.index[name]
	if !ok {
		return TensorInfo{}, false
	}
	return f.tensors[i], true
}

// Tensor returns the tensor of that name. A missing one is a *FormatError that
// wraps ErrMissing; so is, without that, one of a type that onebit cannot
// decode. The data is not looked at: see formats.Tensor.Validate.
func (f *File) Tensor(name string) (formats.Tensor, error) {
	data, info, err := f.find(name)
	if err != nil {
		return formats.Tensor{}, err
	}
	if info.Type == nil {
		return formats.Tensor{}, f.Fault(name, fmt.Errorf("has type %s, which onebit cannot decode", info.TypeName))
	}
	return formats.Tensor{Name: name, Type: info.Type, Shape: info.Shape, Data: data}, nil
}

// Raw returns the bytes of the tensor of that name, whatever its type.
func (f *File) Raw(name string) ([]byte, error) {
	data, _, err := f.find(name)
	return data, err
}

func (f *File) find(name string) ([]byte, TensorInfo, error) {
	info, ok := f.Info(name)
	if !ok {
		return nil, info, f.Fault(name, ErrMissing)
	}
	home := f.home(info)
	if home.data == nil {
		panic("container: file used after Close")
	}
	end := info.Offset + info.Size
	return home.data[info.Offset:end:end], info, nil
}

// Fault returns what is wrong with a tensor as a *FormatError that says where
// its data is. An error that is one already is returned as it is.
func (f *File) Fault(name string, err error) error {
	if IsFormat(err) {
		return err
	}
	e := &FormatError{File: f.name, Offset: -1, Tensor: name, Msg: err.Error(), Err: err}
	if info, ok := f.Info(name); ok {
		e.File, e.Offset = f.home(info).name, info.Offset
	}
	return e
}

// Populate maps a tensor's bytes, all of which are about to be read, at once,
// which several threads can do for a tensor each. It does nothing after Parse
// and where the system cannot.
func (f *File) Populate(name string) {
	info, ok := f.Info(name)
	if m := f.home(info).mapping; ok && m != nil {
		m.Populate(int(info.Offset), int(info.Size))
	}
}

// Release tells the system that a tensor's bytes are not needed soon, for
// instance because they have been repacked: the process's resident memory
// shrinks, and they are read again from the file if need be. It does nothing
// after Parse and where the system cannot.
func (f *File) Release(name string) error {
	info, ok := f.Info(name)
	m := f.home(info).mapping
	if !ok || m == nil {
		return nil
	}
	return m.Release(int(info.Offset), int(info.Size))
}
