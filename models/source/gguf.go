package source

import (
	"errors"
	"fmt"

	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/models/arch"
	"onebit/models/tokenizer"
)

func init() { registerFiles(fileKind{gguf.Magic, openGGUF}) }

func openGGUF(path string, opt gguf.Options) (Source, error) {
	f, err := gguf.Open(path, opt)
	if err != nil {
		return nil, err
	}
	return FromGGUF(f), nil
}

// FromGGUF makes a Source of a parsed file, which its Close closes.
func FromGGUF(f *gguf.File) Source { return ggufSource{f} }

type ggufSource struct{ *gguf.File }

func (s ggufSource) Config() (*arch.Table, arch.Config, error) { return ConfigFromGGUF(s.File) }
func (s ggufSource) Metadata() ([]container.KV, error)         { return s.File.Metadata(), nil }
func (s ggufSource) InPlace() bool                             { return true }
func (s ggufSource) Notes() []string                           { return nil }

func (s ggufSource) Kind() string {
	kind := fmt.Sprintf("GGUF version %d", s.Version())
	if n := len(s.Parts()); n > 0 {
		return fmt.Sprintf("%s in %d files", kind, n)
	}
	return kind
}

func (s ggufSource) Tokenizer() (*tokenizer.Tokenizer, error) {
	text, err := textOf(s.File)
	if err != nil {
		return nil, err
	}
	return tokenizer.FromGGUF(s.File, text)
}

// Rotation reads it for the architecture's sake too: of an unknown one, which
// tensors of a file are rotated is unknown too.
func (s ggufSource) Rotation() (*arch.Rotation, error) {
	if !arch.Rotated(s.File.Metadata()) {
		return nil, nil
	}
	table, c, err := s.Config()
	if err != nil {
		return nil, err
	}
	return table.ReadRotation(c, s.File.File, &s.File.Keys)
}

func (s ggufSource) Check() error {
	fail := func(key, msg string) error {
		return &container.FormatError{File: s.Name(), Offset: -1, Key: key, Msg: msg}
	}
	const keySplits = "split.count"
	if n, err := s.Uint(keySplits); err == nil && n > 1 {
		return fail(keySplits, fmt.Sprintf("this is one of the %d files of a model; open it by its path", n))
	}
	return nil
}

func (s ggufSource) Tokens() (int, string) {
	const keyTokens = "tokenizer.ggml.tokens"
	tokens, ok := s.Value(keyTokens)
	if !ok {
		return 0, ""
	}
	return tokens.Len(), keyTokens
}

// visionTower is the architecture of files that llama.cpp calls mmproj.
const visionTower = "clip"

// ConfigFromGGUF reads a model's architecture and configuration. A file whose
// architecture is unknown, or whose metadata lacks a key or gives it a value
// that no model has, is a *container.FormatError that names the key. The tensors
// are not checked; see [arch.Table.CheckInventory].
func ConfigFromGGUF(f *gguf.File) (*arch.Table, arch.Config, error) {
	name, err := f.String(arch.KeyArchitecture)
	if err != nil {
		return nil, arch.Config{}, err
	}
	t, err := arch.Lookup(name)
	if name == visionTower {
		err = errors.New("is what sees pictures beside a model (mmproj), and no model: open the model's own file, which runs without")
	}
	if err != nil {
		return nil, arch.Config{}, &container.FormatError{File: f.Name(), Offset: -1, Key: arch.KeyArchitecture, Msg: err.Error(), Err: err}
	}
	c, err := t.ReadConfig(f.File, &f.Keys)
	return t, c, err
}

// textOf returns what a file's architecture says about text, no more than its
// name if it is unknown.
func textOf(f *gguf.File) (arch.Text, error) {
	if !f.Has(arch.KeyArchitecture) {
		return arch.Text{}, nil
	}
	name, err := f.String(arch.KeyArchitecture)
	if err != nil {
		return arch.Text{}, err
	}
	t, err := arch.Lookup(name)
	if err != nil {
		return arch.Text{Arch: name}, nil
	}
	return t.Text, nil
}
