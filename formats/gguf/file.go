package gguf

import (
	"fmt"
	"iter"

	"onebit/formats"
	"onebit/internal/bounded"
	"onebit/internal/mmap"
)

// Options are the choices that a file itself does not settle. The zero value
// is right unless an error says otherwise.
type Options struct {
	// Types names the tensor types that their GGUF ids stand for, where an id
	// has several meanings: "i2_s_arm" or "i2_s_x4" for an I2_S file that
	// does not hold the interchange layout (nothing in a file tells), or
	// "q2_0_g128" where a tensor's size does not decide.
	Types []string
}

// A TensorInfo describes a tensor. To a Writer it gives Name, Shape and Type
// (or TypeName, if onebit has no Type for it); the rest is computed.
type TensorInfo struct {
	Name     string
	Type     *formats.Type // nil if onebit cannot decode it
	TypeName string
	ID       uint32 // the file's number for the type
	Shape    []int  // outermost first: GGUF's dimensions reversed
	Offset   int64  // of the data, from the start of the file
	Size     int64  // of the data in bytes
}

// A File is a parsed GGUF file. Its methods may be used at the same time, but
// not with Close. What they return must not be changed; tensor data and
// Values alias the file's bytes and are gone after Close.
type File struct {
	name       string
	version    uint32
	alignment  int64
	dataOffset int64
	data       []byte
	meta       []KV
	keys       map[string]int
	tensors    []TensorInfo
	names      map[string]int
	mapping    *mmap.File // nil after Parse
}

// Open maps and parses the file at path, which must be a regular one. Nothing is
// copied but the names, so that a model of any size opens at once. Every error is
// a *FormatError.
func Open(path string, opt Options) (*File, error) {
	m, err := mapFile(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	var f *File
	err = mmap.Guard(func() (err error) {
		f, err = Parse(m.Data(), path, opt)
		return err
	})
	if err != nil {
		m.Close()
		return nil, fileError(path, err)
	}
	f.mapping = m
	// Parsing has read all metadata, mostly a vocabulary. What is wanted of it
	// comes back when it is read. This is a hint, so an error does not matter.
	_ = m.Release(0, int(min(f.dataOffset, f.Size())))
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
func Parse(data []byte, name string, opt Options) (*File, error) {
	f := &File{name: name, data: data}
	chosen, err := newChoices(opt.Types)
	if err != nil {
		return nil, f.errorf("%v", err)
	}
	c := &cursor{data: data, file: name}
	f.parse(c, chosen)
	if c.err != nil {
		return nil, c.err
	}
	return f, nil
}

func (f *File) errorf(format string, args ...any) *FormatError {
	return &FormatError{File: f.name, Offset: -1, Msg: fmt.Sprintf(format, args...)}
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

// Version returns the version of the file's format, 2 or 3.
func (f *File) Version() uint32 { return f.version }

// Alignment returns what the offsets of tensor data are multiples of.
func (f *File) Alignment() int64 { return f.alignment }

// DataOffset returns where the tensor data starts.
func (f *File) DataOffset() int64 { return f.dataOffset }

// Metadata returns all keys with their values, in the file's order.
func (f *File) Metadata() []KV { return f.meta }

// Value returns the value of a key.
func (f *File) Value(key string) (Value, bool) {
	i, ok := f.keys[key]
	if !ok {
		return Value{}, false
	}
	return f.meta[i].Value, true
}

// Has reports whether the file has the key.
func (f *File) Has(key string) bool {
	_, ok := f.keys[key]
	return ok
}

// Uint returns the value of a key as Value.Uint does. Like the methods after
// it, it fails with a *FormatError that names the key, and wraps ErrMissing if
// the file lacks it.
func (f *File) Uint(key string) (uint64, error) { return get(f, key, Value.Uint) }

// Int is Uint for Value.Int.
func (f *File) Int(key string) (int64, error) { return get(f, key, Value.Int) }

// Float is Uint for Value.Float.
func (f *File) Float(key string) (float64, error) { return get(f, key, Value.Float) }

// Bool is Uint for Value.Bool.
func (f *File) Bool(key string) (bool, error) { return get(f, key, Value.Bool) }

// String is Uint for Value.Text.
func (f *File) String(key string) (string, error) { return get(f, key, Value.Text) }

// Ints is Uint for Value.Ints.
func (f *File) Ints(key string) ([]int64, error) { return get(f, key, Value.Ints) }

// Floats is Uint for Value.Floats.
func (f *File) Floats(key string) ([]float64, error) { return get(f, key, Value.Floats) }

// Bools is Uint for Value.Bools.
func (f *File) Bools(key string) ([]bool, error) { return get(f, key, Value.Bools) }

// Strings is Uint for Value.Strings.
func (f *File) Strings(key string) ([]string, error) { return get(f, key, Value.Strings) }

// Texts is Uint for Value.Texts.
func (f *File) Texts(key string) (iter.Seq[string], error) { return get(f, key, Value.Texts) }

func get[T any](f *File, key string, read func(Value) (T, error)) (T, error) {
	v, ok := f.Value(key)
	err := ErrMissing
	var x T
	if ok {
		x, err = read(v)
	}
	if err != nil {
		return x, &FormatError{File: f.name, Offset: -1, Key: key, Msg: err.Error(), Err: err}
	}
	return x, nil
}

// Tensors describes all tensors, in the file's order.
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
// wraps ErrMissing; so is, without that, one of a type that onebit cannot
// decode. The data is not looked at: see formats.Tensor.Validate.
func (f *File) Tensor(name string) (formats.Tensor, error) {
	data, info, err := f.find(name)
	if err != nil {
		return formats.Tensor{}, err
	}
	if info.Type == nil {
		err := f.errorf("has type %s, which onebit cannot decode%s", info.TypeName, layoutNamed(info.TypeName).why)
		err.Tensor, err.Offset = name, info.Offset
		return formats.Tensor{}, err
	}
	return formats.Tensor{Name: name, Type: info.Type, Shape: info.Shape, Data: data}, nil
}

// Raw returns the bytes of the tensor of that name, whatever its type.
func (f *File) Raw(name string) ([]byte, error) {
	data, _, err := f.find(name)
	return data, err
}

func (f *File) find(name string) ([]byte, TensorInfo, error) {
	if f.data == nil {
		panic("gguf: file used after Close")
	}
	info, ok := f.Info(name)
	if !ok {
		return nil, info, &FormatError{File: f.name, Offset: -1, Tensor: name, Msg: ErrMissing.Error(), Err: ErrMissing}
	}
	end := info.Offset + info.Size
	return f.data[info.Offset:end:end], info, nil
}

// Populate maps a tensor's bytes, all of which are about to be read, at once,
// which several threads can do for a tensor each. It does nothing after Parse
// and where the system cannot.
func (f *File) Populate(name string) {
	if info, ok := f.Info(name); ok && f.mapping != nil {
		f.mapping.Populate(int(info.Offset), int(info.Size))
	}
}

// Release tells the system that a tensor's bytes are not needed soon, for
// instance because they have been repacked: the process's resident memory
// shrinks, and they are read again from the file if need be. It does nothing
// after Parse and where the system cannot.
func (f *File) Release(name string) error {
	info, ok := f.Info(name)
	if !ok || f.mapping == nil {
		return nil
	}
	return f.mapping.Release(int(info.Offset), int(info.Size))
}
