package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Kind is an engine that a program was built with, by name.
type Kind struct {
	Name    string
	Summary string // what it is, in one line
	// Available returns nil if the engine runs on this machine, or why not; nil:
	// it runs anywhere.
	Available func() error
	Open      Opener
	// Default says that models run on it unless told otherwise.
	Default bool
}

var kinds []Kind

// Register adds an engine. It is called from init functions only.
func Register(k Kind) {
	if slices.ContainsFunc(kinds, func(o Kind) bool { return o.Name == k.Name }) {
		panic("engine: " + k.Name + " registered twice")
	}
	kinds = append(kinds, k)
}

// Kinds returns the engines of this program, sorted by name.
func Kinds() []Kind {
	return slices.SortedFunc(slices.Values(kinds), func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
}

// Default returns the opener of the engine that models run on unless told otherwise.
func Default() (Opener, error) {
	for _, k := range kinds {
		if k.Default {
			return k.Open, nil
		}
	}
	return nil, errors.New("no engine is linked that models run on: import onebit/models/engine/cpu")
}

// Lookup returns the engine of that name, if it runs on this machine.
func Lookup(name string) (Kind, error) {
	var known []string
	for _, k := range Kinds() {
		if k.Name == name {
			if k.Available != nil {
				if err := k.Available(); err != nil {
					return k, fmt.Errorf("engine %s: %w", name, err)
				}
			}
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, fmt.Errorf("unknown engine %q (known: %s)", name, strings.Join(known, ", "))
}
