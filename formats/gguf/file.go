package gguf

import (
	"fmt"

	"onebit/formats"
	"onebit/formats/container"
)

// Options are the choices that a file itself leaves open. The zero value
// is right unless an error says otherwise.
type Options struct {
	// Types names the tensor types that their GGUF ids stand for, where an id
	// has several meanings: "i2_s_arm" or "i2_s_x4" for an I2_S file that
	// does not hold the interchange layout (nothing in a file tells), or
	// "q2_0_g128" where a tensor's size does not decide.
	Types []string
}

// A File is a parsed GGUF file: its tensors and its metadata, in the file's
// order. Metadata values alias the file's bytes, as tensor data does, and are
// gone after Close.
type File struct {
	*container.File
	container.Keys
	version    uint32
	alignment  int64
	dataOffset int64
}

// Open maps and parses the file at path, which must be a regular one. Nothing is
// copied but the names, so that a model of any size opens at once. Every error is
// a *container.FormatError.
//
// Of a model in several files, which [container.File.Parts] then returns, the path
// is any one's.
func Open(path string, opt Options) (*File, error) {
	f, err := openOne(path, opt)
	if err != nil {
		return nil, err
	}
	if err := f.join(func(path string) (*File, error) { return openOne(path, opt) }); err != nil {
		return nil, err
	}
	return f, nil
}

// openOne opens a file, of several or not.
func openOne(path string, opt Options) (*File, error) {
	f := &File{}
	var err error
	if f.File, err = container.Open(path, f.parser(path, opt)); err != nil {
		return nil, err
	}
	return f, nil
}

// Parse parses a file that is in memory; data must not change while the File
// is in use. The name is for errors. A part of several files stays one.
func Parse(data []byte, name string, opt Options) (*File, error) {
	f := &File{}
	var err error
	if f.File, err = container.Parse(data, name, f.parser(name, opt)); err != nil {
		return nil, err
	}
	return f, nil
}

// parser returns what fills in f's own fields.
func (f *File) parser(name string, opt Options) container.Parser {
	return func(data []byte) ([]container.TensorInfo, error) {
		chosen, err := newChoices(opt.Types)
		if err != nil {
			return nil, &container.FormatError{File: name, Offset: -1, Msg: err.Error()}
		}
		p := parser{cursor: cursor{data: data, file: name}, File: f}
		if p.parse(chosen); p.err != nil {
			return nil, p.err
		}
		return p.tensors, nil
	}
}

// Version returns the version of the file's format, 2 or 3.
func (f *File) Version() uint32 { return f.version }

// Alignment returns what the offsets of tensor data are multiples of.
func (f *File) Alignment() int64 { return f.alignment }

// DataOffset returns where the tensor data starts.
func (f *File) DataOffset() int64 { return f.dataOffset }

// Tensor is that of container.File, and says why a type cannot be decoded.
func (f *File) Tensor(name string) (formats.Tensor, error) {
	if info, ok := f.Info(name); ok && info.Type == nil {
		return formats.Tensor{}, f.Fault(name, fmt.Errorf("has type %s, which onebit cannot decode%s", info.TypeName, layoutNamed(info.TypeName).why))
	}
	return f.File.Tensor(name)
}
