package models

import (
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

// Rotation reads it for the architecture's sake too: without one that is known
// nobody can tell what of a file is rotated.
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
	a, err := Lookup(name)
	if err != nil {
		return arch.Text{Arch: name}, nil
	}
	return a.Text, nil
}
