// Package gopher has two small language models inside the binary, so that there is
// one to run and to measure without a download: its weights are trained, not
// random. Both know Go's documentation and nothing else.
//
// They are made by "onebit train ternary" and "onebit train 1bit"; docs/train.md
// has the commands, the machine and how well they predict.
package gopher

import (
	_ "embed"
	"slices"

	"onebit/formats/gguf"
	"onebit/models/source"
)

//go:embed ternary.gguf
var ternary []byte

//go:embed 1bit.gguf
var oneBit []byte

// Text is documentation of the kind that the models know and, being onebit's own, of
// none that they were trained on: the beginning of package formats/container's.
//
//go:embed text.txt
var Text string

// The models' names. Default is the one that is taken unless another is named.
const (
	Ternary = "gopher-ternary"
	OneBit  = "gopher-1bit"
	Default = Ternary
)

var files = map[string][]byte{Ternary: ternary, OneBit: oneBit}

// Names returns the models' names, the default first.
func Names() []string { return []string{Ternary, OneBit} }

// Has reports whether a model has that name.
func Has(name string) bool { return slices.Contains(Names(), name) }

// File returns the bytes of a model's GGUF file, which must not be changed, nil if
// no model has that name.
func File(name string) []byte { return files[name] }

// Open returns a model, which must be one of Names, as package models opens files.
func Open(name string) (source.Source, error) {
	f, err := gguf.Parse(files[name], name, gguf.Options{})
	if err != nil {
		return nil, err
	}
	return source.FromGGUF(f), nil
}
