package train

import (
	"cmp"
	"fmt"
	"slices"

	"onebit/formats"
	"onebit/kernels"
)

// A Form is how a [BitLinear] rounds its weights.
type Form struct {
	Name    string
	Summary string
	// Type is the format that holds the rounded weights; nil for floats.
	Type *formats.Type
	// Rounding is that of the activations which the form is meant to run with.
	Rounding *Rounding

	// scale returns the one scale γ of the weights, and the mean that is taken
	// from them first. Nil: the scales are Type's, a block's each.
	scale func(pool *kernels.Pool, w []float32) (gamma, mean float32)
	// addEps says that weights are divided by γ + 1e-5, and not by γ.
	addEps bool
}

var forms []*Form

func registerForm(f *Form) *Form {
	forms = append(forms, f)
	return f
}

// Forms returns every form, sorted by name.
func Forms() []*Form {
	sorted := slices.Clone(forms)
	slices.SortFunc(sorted, func(a, b *Form) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
}

// LookupForm returns the form of that name.
func LookupForm(name string) (*Form, error) {
	var names []string
	for _, f := range Forms() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("unknown form of weights %q (known: %v)", name, names)
}

// floats reports whether the weights are multiplied as they are.
func (f *Form) floats() bool { return f.Type == nil }

// ternary reports whether the weights have one scale.
func (f *Form) ternary() bool { return f.scale != nil }
