package models

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

// A Source is a model at rest: a GGUF file, or a Hugging Face directory that
// is read as if it were one. Its tensors have GGUF's names. Its methods may be
// used at the same time, but not with Close.
type Source interface {
	// Name returns the path, for errors, and Size the bytes of all files.
	Name() string
	Size() int64
	// Config returns what the model is.
	Config() (*Architecture, arch.Config, error)
	// Metadata returns what a GGUF file of the model says about it, its
	// tokenizer included. With an error it is what there is without that.
	Metadata() ([]gguf.KV, error)
	// Tokenizer makes the model's. It keeps nothing of the source.
	Tokenizer() (*tokenizer.Tokenizer, error)
	// Tensors describes the tensors as they are read.
	Tensors() []gguf.TensorInfo
	// Tensor returns a tensor, valid until it is released or the source is
	// closed. The error names it.
	Tensor(name string) (formats.Tensor, error)
	// Raw returns a tensor's bytes, also of a type that onebit cannot decode.
	Raw(name string) ([]byte, error)
	// Release lets go of a tensor's memory.
	Release(name string) error
	// InPlace reports whether tensors are the file's own bytes, which stay
	// where they are after Release, and not made on demand. The embedding and
	// the head always are.
	InPlace() bool
	// Fault returns what is wrong with a tensor as an error that names the
	// file, and the tensor as it is called there.
	Fault(tensor string, err error) error
	// Close ends the use of everything that was returned.
	Close() error

	// populate maps a tensor's pages, all of which are about to be read.
	populate(name string)
	// check refuses what would compute nonsense with the right tensors.
	check() error
	// tokens returns how many tokens the source lists, and where; 0 if it
	// does not.
	tokens() (n int, where string)
}

// OpenSource opens the model at path, a GGUF file or a Hugging Face directory.
func OpenSource(path string, opt gguf.Options) (Source, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openDirectory(path)
	}
	f, err := gguf.Open(path, opt)
	if err != nil {
		return nil, err
	}
	return FromGGUF(f), nil
}

// FromGGUF makes a Source of a parsed file, which its Close closes.
func FromGGUF(f *gguf.File) Source { return ggufSource{f} }

type ggufSource struct{ *gguf.File }

func (s ggufSource) Config() (*Architecture, arch.Config, error) { return ConfigFromGGUF(s.File) }
func (s ggufSource) Metadata() ([]gguf.KV, error)                { return s.File.Metadata(), nil }
func (s ggufSource) Tokenizer() (*tokenizer.Tokenizer, error) {
	return tokenizer.FromGGUF(s.File)
}
func (s ggufSource) InPlace() bool { return true }

func (s ggufSource) Fault(tensor string, err error) error {
	var bad *gguf.FormatError
	if errors.As(err, &bad) {
		return err
	}
	e := &gguf.FormatError{File: s.Name(), Offset: -1, Tensor: tensor, Msg: err.Error(), Err: err}
	if info, ok := s.Info(tensor); ok {
		e.Offset = info.Offset
	}
	return e
}

func (s ggufSource) populate(name string) { s.Populate(name) }

func (s ggufSource) check() error {
	fail := func(key, msg string) error {
		return &gguf.FormatError{File: s.Name(), Offset: -1, Key: key, Msg: msg}
	}
	for _, kv := range s.File.Metadata() {
		if strings.HasPrefix(kv.Key, "prism.hadamard") {
			return fail(kv.Key, "the weights need a Hadamard rotation of the activations, which onebit does not do")
		}
	}
	const keySplits = "split.count"
	if n, err := s.Uint(keySplits); err == nil && n > 1 {
		return fail(keySplits, fmt.Sprintf("the model is split into %d files; merge them first (llama-gguf-split --merge)", n))
	}
	return nil
}

func (s ggufSource) tokens() (int, string) {
	const keyTokens = "tokenizer.ggml.tokens"
	tokens, ok := s.Value(keyTokens)
	if !ok {
		return 0, ""
	}
	return tokens.Len(), keyTokens
}
