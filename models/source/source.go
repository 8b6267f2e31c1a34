// Package source opens models at rest: files in one of their containers, each of which
// is one file here, and Hugging Face directories. All are read as if they were GGUF.
package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/bounded"
	"onebit/internal/count"
	"onebit/models/arch"
	_ "onebit/models/architectures" // those that sources are of
	"onebit/models/hf"
	"onebit/models/tokenizer"
)

// A Source is a model at rest: a file in one of the containers of models, or a
// Hugging Face directory that is read as if it were one. Its tensors have GGUF's
// names. Its methods may be used at the same time, but not with Close.
type Source interface {
	// Name returns the path, for errors, and Size the bytes of all files.
	Name() string
	Size() int64
	// Kind says for people what the source is: "GGUF version 3".
	Kind() string
	// Config returns what the model is.
	Config() (*arch.Table, arch.Config, error)
	// Rotation returns the basis that the weights are stored in; nil: the
	// model's own.
	Rotation() (*arch.Rotation, error)
	// Metadata returns what a GGUF file of the model says about it, its
	// tokenizer included. With an error it is all but that.
	Metadata() ([]container.KV, error)
	// Tokenizer makes the model's. It keeps nothing of the source.
	Tokenizer() (*tokenizer.Tokenizer, error)
	// Tokens returns how many tokens the source lists, and where; 0 and "" if
	// it does not.
	Tokens() (n int, where string)
	// Tensors describes the tensors as they are read.
	Tensors() []container.TensorInfo
	// Tensor returns a tensor, valid until it is released or the source is
	// closed. The error names it.
	Tensor(name string) (formats.Tensor, error)
	// Raw returns a tensor's bytes, also of a type that onebit cannot decode.
	Raw(name string) ([]byte, error)
	// Populate maps a tensor's pages, all of which are about to be read. It is
	// a hint.
	Populate(name string)
	// Release frees a tensor's memory.
	Release(name string) error
	// InPlace reports whether tensors are the file's own bytes, which stay
	// where they are after Release, and not made on demand. The embedding and
	// the head always are.
	InPlace() bool
	// Part returns which of several files has a tensor.
	Part(name string) int
	// Notes says what the source has beside a model, and is left alone.
	Notes() []string
	// Check refuses what would compute nonsense with the right tensors.
	Check() error
	// Fault returns what is wrong with a tensor as an error that names the
	// file, and the tensor as it is called there.
	Fault(tensor string, err error) error
	// Close ends the use of everything that was returned.
	Close() error
}

// A fileKind is a container of models. Each is one file, which registers its
// own.
type fileKind struct {
	magic string // what files start with
	open  func(path string, opt gguf.Options) (Source, error)
}

var fileKinds []fileKind

// registerFiles adds a container. It is called from init functions only.
func registerFiles(k fileKind) { fileKinds = append(fileKinds, k) }

// Open opens the model at path: a file in a container that its first
// bytes tell, or a Hugging Face directory. What is none of these is taken for a
// broken GGUF file, whose error says what it is.
func Open(path string, opt gguf.Options) (Source, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		c, err := hf.Open(path, arch.Tables())
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	start, err := firstBytes(path)
	if err != nil {
		return nil, container.FileError(path, err)
	}
	for _, k := range fileKinds {
		if strings.HasPrefix(start, k.magic) {
			return k.open(path, opt)
		}
	}
	return openGGUF(path, opt)
}

// firstBytes returns as many bytes as the longest magic has, or what there is.
func firstBytes(path string) (string, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	longest := 0
	for _, k := range fileKinds {
		longest = max(longest, len(k.magic))
	}
	b := make([]byte, longest)
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil // it is too short for a model, which its parser says
	}
	return string(b[:n]), err
}

// Notes says what of a model's files nothing here computes, for people.
func Notes(src Source) []string {
	out := src.Notes()
	if _, c, err := src.Config(); err == nil && c.NextN > 0 {
		out = append(out, fmt.Sprintf("the file has %s that predict further tokens (MTP), blocks %d to %d: they are left alone",
			count.Of(c.NextN, "block"), c.Layers, c.Layers+c.NextN-1))
	}
	return out
}
