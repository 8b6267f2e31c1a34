package kernels

import "onebit/formats"

// A Format is what is known of a weight format beside its bytes, which are the
// business of package formats.
type Format struct {
	Type   *formats.Type
	Scheme Scheme // that it is meant to run with
	Roles  Roles  // what models keep in it
	Short  bool   // short measurements cover it too
}

// Roles are what a model's weights are for.
type Roles uint8

const (
	Projection Roles = 1 << iota // the matrices of a block
	Head                         // embeddings and heads
	Norm                         // the gains of norms
)

var known = map[*formats.Type]Format{}

// RegisterFormat makes f what FormatOf returns for its type. It is for init
// functions of packages that multiply it.
func RegisterFormat(f Format) {
	if _, ok := known[f.Type]; ok {
		panic("kernels: format " + f.Type.Name + " registered twice")
	}
	known[f.Type] = f
}

// FormatOf returns what is known of t: if nothing is, it has no role, and the
// reference multiplies it with float32 activations.
func FormatOf(t *formats.Type) Format {
	if f, ok := known[t]; ok {
		return f
	}
	return Format{Type: t, Scheme: F32}
}

// For reports whether models keep weights of that role in f.
func (f Format) For(role Roles) bool { return f.Roles&role != 0 }
