package kernels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/internal/cpu"
)

// A Variant is one implementation of the matrix products of one weight format
// under one activation scheme. Variants are listed, forced, verified and
// timed alike; nothing global chooses between them.
//
// All variants of a format and scheme return the same float32 bits for the
// same input, whatever their ISA, thread count or batch size (see doc.go).
type Variant struct {
	Name    string        // "avx2"; unique with Format and Scheme
	Summary string        // how it works, in one line
	Format  *formats.Type // the weights it multiplies
	Scheme  Scheme        // how it takes the activations
	ISA     *ISA
	Layout  *Layout // how its weights lie in memory

	// Kernels multiply, each its number of columns: the last of them whose From is not
	// above it. They are in the order of From, and the first takes one column.
	Kernels []Kernel

	// AssumesFinite says that weights which are not finite count as others, so
	// that only Validate finds them.
	AssumesFinite bool

	// Preference breaks ties of ISA rank in Best; packed layouts have the
	// higher.
	Preference int
	// Prefers is added to Preference on the machine that Best chooses for: it is
	// for CPUs on which the order of variants is another. Nil: 0. Nothing else
	// may depend on the CPU beyond its features: a name is one kernel.
	Prefers func(Machine) int
}

// A Kernel multiplies some number of columns.
type Kernel struct {
	From int // the fewest columns that it is for
	// Order is how it wants quantized activations arranged. Nil: as the row has them.
	Order *Order
	Rows  MatMulFunc
	// TaskRows is how many rows of m a task multiplies; nil: those of ChunkBytes.
	TaskRows func(m *Matrix, threads int) int
}

// A MatVecFunc writes rows [r0, r1) of column col to dst[r0:r1]. r0 is a
// multiple of Layout.RowTile; r1 too, unless it is the last row.
type MatVecFunc func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int)

// A MatMulFunc writes rows [r0, r1) of all columns of a: dst[c·m.Rows + r]. r0
// and r1 are as for a MatVecFunc.
type MatMulFunc func(dst []float32, m *Matrix, a *Activations, r0, r1 int)

// ByColumn is the kernel that multiplies any number of columns one by one.
func ByColumn(order *Order, multiply MatVecFunc) Kernel {
	return Kernel{Order: order, Rows: func(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
		for c := range a.N {
			multiply(dst[c*m.Rows:(c+1)*m.Rows], m, a, c, r0, r1)
		}
	}}
}

var variants []*Variant // in order

// Register adds v to the registry, from wherever it comes. It is for init
// functions, and panics if there is a variant of that name, format and scheme, or
// if no kernel takes one column.
func Register(v *Variant) {
	for _, w := range variants {
		if w.Name == v.Name && w.Format == v.Format && w.Scheme == v.Scheme {
			panic("kernels: " + v.String() + " registered twice")
		}
	}
	if len(v.Kernels) == 0 || v.Kernels[0].From > 1 || !slices.IsSortedFunc(v.Kernels, func(a, b Kernel) int { return a.From - b.From }) {
		panic("kernels: those of " + v.String() + " do not begin with one column and go up from there")
	}
	at, _ := slices.BinarySearchFunc(variants, v, inOrder)
	variants = slices.Insert(variants, at, v)
}

func inOrder(a, b *Variant) int {
	m := Host()
	return cmp.Or(
		cmp.Compare(a.Format.Name, b.Format.Name),
		cmp.Compare(a.Scheme, b.Scheme),
		cmp.Compare(a.Rank(m), b.Rank(m)),
		cmp.Compare(a.Name, b.Name),
	)
}

// Variants returns every variant built into this program, sorted by format,
// activation, rank on this machine and name. Variants of other architectures
// are not built; ISAs lists what there is. The slice is the registry's own: it
// is not to be changed.
func Variants() []*Variant { return slices.Clip(variants) }

// kernel returns the one that multiplies n columns.
func (v *Variant) kernel(n int) *Kernel {
	i := len(v.Kernels) - 1
	for v.Kernels[i].From > n {
		i--
	}
	return &v.Kernels[i]
}

// Prepare makes a the n columns x (n × cols), quantized and arranged for v. The pool
// does this for its products; it is exported for tests and for kernels driven by hand.
func (v *Variant) Prepare(a *Activations, x []float32, n, cols int) {
	a.Quantize(v.ISA, v.Scheme, x, n, cols)
	if v.Scheme != F32 {
		a.Arrange(v.kernel(n).Order)
	}
}

// Rows computes rows [r0, r1) of all columns of a, which was prepared for v,
// on the calling goroutine: dst[c·m.Rows+r]. r0 is a multiple of the layout's
// RowTile; so is r1, unless it is the last row.
func (v *Variant) Rows(dst []float32, m *Matrix, a *Activations, r0, r1 int) {
	if len(m.Data) == 0 {
		panic(matrixIsClosed)
	}
	v.kernel(a.N).Rows(dst, m, a, r0, r1)
}

// ShowsBadWeights reports whether v multiplies weights in place and gives a
// product that is not finite, whatever it multiplies with, for each row with
// something that Validate would refuse. A caller that multiplies need not read the
// weights a second time to validate them.
func (v *Variant) ShowsBadWeights() bool {
	return v.Layout == Native && v.Format.BadIsNotFinite() && !v.AssumesFinite
}

// Rank is that of v on m: Best takes the variant with the highest.
func (v *Variant) Rank(m Machine) int {
	rank := 10*v.ISA.rank + v.Preference
	if v.Prefers != nil {
		rank += v.Prefers(m)
	}
	return rank
}

// String returns "format/variant/activation".
func (v *Variant) String() string {
	return v.Format.Name + "/" + v.Name + "/" + string(v.Scheme)
}

// Available returns nil if v runs on this machine, or an error that names
// what is missing.
func (v *Variant) Available() error { return v.AvailableOn(cpu.Detected()) }

// AvailableOn is Available for a machine with the given features.
func (v *Variant) AvailableOn(features cpu.Set) error {
	if m := v.ISA.missing(features); m != "" {
		return fmt.Errorf("variant %s of %s needs %s", v.Name, v.Format.Name, m)
	}
	return nil
}

// Lookup returns a variant by name. If it is known but belongs to another
// architecture, the error says so.
func Lookup(format, name string, act Scheme) (*Variant, error) {
	var known []string
	for _, v := range variants {
		if v.Format.Name != format || v.Scheme != act {
			continue
		}
		if v.Name == name {
			return v, nil
		}
		known = append(known, v.Name)
	}
	if len(known) == 0 {
		return nil, noVariant(format, act)
	}
	base, _, _ := strings.Cut(name, "-")
	for _, isa := range ISAs() {
		if isa.Name == base && isa.Foreign() != nil {
			return nil, isa.Foreign()
		}
	}
	return nil, fmt.Errorf("unknown variant %q of %s/%s (known: %s)", name, format, act, strings.Join(known, ", "))
}

// Find finds a variant by FORMAT/VARIANT/SCHEME, as its String has it. Without a scheme it
// is the format's usual one, or else any that has the variant.
func Find(text string) (*Variant, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, errors.New("give FORMAT/VARIANT or FORMAT/VARIANT/SCHEME, such as q1_0_g128/scalar")
	}
	format, err := formats.Lookup(parts[0])
	if err != nil {
		return nil, err
	}
	if len(parts) == 3 {
		return Lookup(parts[0], parts[1], Scheme(parts[2]))
	}
	v, err := Lookup(parts[0], parts[1], FormatOf(format).Scheme)
	if err == nil {
		return v, nil
	}
	for _, v := range Variants() {
		if v.Format.Name == parts[0] && v.Name == parts[1] {
			return v, nil
		}
	}
	return nil, err
}

// Best returns the variant that this machine should use for a format under
// the format's usual activation scheme.
func Best(format string) (*Variant, error) {
	t, err := formats.Lookup(format)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 { // the reference would be the best
		return nil, noVariant(format, F32)
	}
	return BestFor(format, FormatOf(t).Scheme, Host())
}

// BestFor returns the variant that ranks highest on m, of those that it runs:
// by ISA, then by preference, which may look at the CPU's vendor and family.
func BestFor(format string, act Scheme, m Machine) (*Variant, error) {
	var best *Variant
	for _, v := range variants {
		if v.Format.Name == format && v.Scheme == act && v.ISA.runsOn(m.Features) &&
			(best == nil || v.Rank(m) > best.Rank(m)) {
			best = v
		}
	}
	if best == nil {
		return nil, noVariant(format, act)
	}
	return best, nil
}

// noVariant tells a format without kernels from a program without any.
func noVariant(format string, act Scheme) error {
	if len(known) == 0 {
		return errors.New("no kernels are registered: import onebit/kernels/all, or a family such as onebit/kernels/q1")
	}
	return fmt.Errorf("no variant multiplies %s with %s activations", format, act)
}
