package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/formats/gguf"
	"onebit/internal/term"
	"onebit/models/arch"
	"onebit/models/engine"
)

// An Architecture is a family of models: what one consists of, and a block's
// computation. Each is one file that registers it.
type Architecture struct {
	arch.Table

	forward func(b *Block, s *Session)
	// state is what a block keeps of a text; nil: keys and values.
	state func(c arch.Config, block int) engine.State
	// grouped is the projection that takes the values of a gated delta net's
	// heads, by its name in the table.
	grouped string
}

// stateOf returns what a block keeps of a text.
func (a *Architecture) stateOf(c arch.Config, block int) engine.State {
	if a.state != nil {
		return a.state(c, block)
	}
	return engine.KV{Heads: c.KVHeads, Dim: c.HeadDim}
}

// states are what the blocks keep.
func (a *Architecture) states(c arch.Config) []engine.State {
	out := make([]engine.State, c.Layers)
	for i := range out {
		out[i] = a.stateOf(c, i)
	}
	return out
}

var architectures = map[string]*Architecture{}

// register adds a. It is called while the package's variables are initialized.
func register(a *Architecture) *Architecture {
	if architectures[a.Name] != nil {
		panic("models: architecture registered twice")
	}
	a.Text.Arch = a.Name
	for _, p := range a.Presets {
		p.Table, p.Config.Arch = &a.Table, a.Name
	}
	architectures[a.Name] = a
	return a
}

// Lookup returns the architecture of that general.architecture.
func Lookup(name string) (*Architecture, error) {
	if a := architectures[name]; a != nil {
		return a, nil
	}
	var known []string
	for _, a := range Architectures() {
		known = append(known, a.Name)
	}
	return nil, fmt.Errorf("unknown architecture %s (known: %s)", term.QuoteAlways(name), strings.Join(known, ", "))
}

// Architectures returns every architecture, sorted by name.
func Architectures() []*Architecture {
	var out []*Architecture
	for _, a := range architectures {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *Architecture) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// tables returns that of every architecture, sorted by name.
func tables() []*arch.Table {
	var out []*arch.Table
	for _, a := range Architectures() {
		out = append(out, &a.Table)
	}
	return out
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
	a, err := Lookup(name)
	if name == visionTower {
		err = errors.New("is what sees pictures beside a model (mmproj), and no model: open the model's own file, which runs without")
	}
	if err != nil {
		return nil, arch.Config{}, &container.FormatError{File: f.Name(), Offset: -1, Key: arch.KeyArchitecture, Msg: err.Error(), Err: err}
	}
	c, err := a.ReadConfig(f.File, &f.Keys)
	return &a.Table, c, err
}

// Presets returns every preset, sorted by name.
func Presets() []*arch.Preset {
	var out []*arch.Preset
	for _, a := range architectures {
		out = append(out, a.Presets...)
	}
	slices.SortFunc(out, func(a, b *arch.Preset) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// LookupPreset returns the preset of that name.
func LookupPreset(name string) (*arch.Preset, error) {
	var known []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return nil, fmt.Errorf("unknown preset %q (known: %s)", name, strings.Join(known, ", "))
}

// ProjectionShapes returns the distinct shapes of the projections in a
// transformer block of a preset.
func ProjectionShapes(preset string) ([]formats.Shape, error) {
	p, err := LookupPreset(preset)
	if err != nil {
		return nil, err
	}
	return p.Table.ProjectionShapes(p.Config), nil
}

// Chats returns every known layout of conversations, sorted by name.
func Chats() []*arch.Chat {
	out := []*arch.Chat{arch.ChatML}
	for _, a := range architectures {
		for _, c := range append([]*arch.Chat{a.Text.Chat}, a.Text.Others...) {
			if c != nil && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b *arch.Chat) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// LookupChat returns the layout of that name.
func LookupChat(name string) (*arch.Chat, error) {
	var known []string
	for _, c := range Chats() {
		if c.Name == name {
			return c, nil
		}
		known = append(known, c.Name)
	}
	return nil, fmt.Errorf("unknown chat template %s; known ones are %s", term.QuoteAlways(name), strings.Join(known, ", "))
}
