package arch

import (
	"fmt"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/internal/term"
)

var tables []*Table // sorted by name

// Register adds t and its presets. It is for init functions: each architecture is one
// file of package architectures, or of a program's own.
func Register(t *Table) {
	at, found := slices.BinarySearchFunc(tables, t.Name, func(t *Table, name string) int { return strings.Compare(t.Name, name) })
	if found {
		panic("arch: architecture registered twice")
	}
	t.Text.Arch = t.Name
	for _, p := range t.Presets {
		p.Table, p.Config.Arch = t, t.Name
	}
	tables = slices.Insert(tables, at, t)
}

// Tables returns that of every architecture, sorted by name.
func Tables() []*Table { return slices.Clone(tables) }

// Lookup returns the architecture of that general.architecture.
func Lookup(name string) (*Table, error) {
	return lookup("architecture", term.QuoteAlways(name), name, tables, func(t *Table) string { return t.Name })
}

// Presets returns every preset, sorted by name.
func Presets() (out []*Preset) {
	for _, t := range tables {
		out = append(out, t.Presets...)
	}
	slices.SortFunc(out, func(a, b *Preset) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// LookupPreset returns the preset of that name.
func LookupPreset(name string) (*Preset, error) {
	return lookup("preset", fmt.Sprintf("%q", name), name, Presets(), func(p *Preset) string { return p.Name })
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
func Chats() []*Chat {
	out := []*Chat{ChatML}
	for _, t := range tables {
		for _, c := range append([]*Chat{t.Text.Chat}, t.Text.Others...) {
			if c != nil && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Chat) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// LookupChat returns the layout of that name.
func LookupChat(name string) (*Chat, error) {
	return lookup("chat template", term.QuoteAlways(name), name, Chats(), func(c *Chat) string { return c.Name })
}

// lookup returns the one of that name, or an error that lists what is known.
func lookup[T any](kind, quoted, name string, all []*T, nameOf func(*T) string) (*T, error) {
	var known []string
	for _, x := range all {
		if nameOf(x) == name {
			return x, nil
		}
		known = append(known, nameOf(x))
	}
	return nil, fmt.Errorf("unknown %s %s (known: %s)", kind, quoted, strings.Join(known, ", "))
}
