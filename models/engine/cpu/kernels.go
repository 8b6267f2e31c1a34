package cpu

import (
	"fmt"
	"slices"
	"strings"

	"onebit/formats"
	"onebit/internal/cpu"
	"onebit/kernels"
	_ "onebit/kernels/all"
)

// Kernels choose what an engine computes with. The zero value is the best of
// this machine. See [Prefer].
type Kernels struct {
	// Variant chooses what multiplies weights of a format; nil, or a nil
	// result, is the best.
	Variant func(t *formats.Type) (*kernels.Variant, error)
	// Vectors computes outside the products; nil: the best.
	Vectors *Vectors
}

func (k *Kernels) vectors() *Vectors {
	if k.Vectors != nil {
		return k.Vectors
	}
	return BestVectors(cpu.Detected())
}

// startsInPlace reports whether the file's bytes are multiplied at first and
// stay mapped.
func (p Packing) startsInPlace() bool { return p == PackNever || p == PackBehind }

// never reports whether the file's layout is that of all weights.
func (p Packing) never() bool { return p == PackNever || p == Stream }

// variantFor chooses for a format; inPlace asks for the file's own layout.
func (k *Kernels) variantFor(t *formats.Type, inPlace bool) (*kernels.Variant, error) {
	if k.Variant != nil {
		v, err := k.Variant(t)
		if err != nil {
			return nil, err
		}
		if v != nil && (!inPlace || v.Layout == kernels.Native) {
			return v, v.Available()
		}
		if v != nil {
			return nativeVariant(t, v.Scheme, v.ISA.Requires)
		}
	}
	if inPlace {
		return nativeVariant(t, kernels.FormatOf(t).Scheme, cpu.Detected())
	}
	return kernels.Best(t.Name)
}

// nativeVariant is kernels.BestFor among those that read the file's bytes.
func nativeVariant(t *formats.Type, act kernels.Scheme, features cpu.Set) (*kernels.Variant, error) {
	var best *kernels.Variant
	for _, v := range kernels.Variants() { // each format's by rank
		if v.Format == t && v.Scheme == act && v.Layout == kernels.Native && v.AvailableOn(features) == nil {
			best = v
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no variant multiplies %s in place with %s activations", t.Name, act)
	}
	return best, nil
}

// Prefer takes the variant of that name wherever a format has it. For formats
// that lack it, and for what is computed outside the products, the best that
// needs no instructions beyond those of the named one stands in, so that
// "avx512vnni" has an fp16 head run in AVX-512 and "scalar" nothing but Go.
// The scheme is the format's usual one, or act if that is not empty; float
// formats and the variant reference always take float32 activations. Without act,
// a variant that the format has in other schemes alone has its own. An empty name
// is the best variant of this machine.
// [CheckChoice] refuses what has to be a mistake.
func Prefer(name string, act kernels.Scheme) (Kernels, error) {
	features, known := cpu.Detected(), name == ""
	for _, v := range kernels.Variants() {
		if v.Name == name {
			features, known = v.ISA.Requires, true
			if lacks := cpu.Detected().Missing(features); lacks != 0 {
				return Kernels{}, fmt.Errorf("variant %s needs %s, which this CPU lacks", name, lacks)
			}
		}
	}
	if !known {
		return Kernels{}, fmt.Errorf("unknown variant %q", name)
	}
	return Kernels{Vectors: BestVectors(features), Variant: func(t *formats.Type) (*kernels.Variant, error) {
		scheme := kernels.FormatOf(t).Scheme
		if act != "" && scheme != kernels.F32 {
			scheme = act
		}
		schemes := []kernels.Scheme{scheme, kernels.F32}
		if act == "" {
			schemes = append(schemes, kernels.Schemes()...)
		}
		for _, scheme := range schemes {
			if v, err := kernels.Lookup(t.Name, name, scheme); err == nil {
				return v, nil
			}
		}
		return kernels.BestFor(t.Name, scheme, cpu.Host().With(features))
	}}, nil
}

// A ChoiceError is a choice of kernels that is wrong on every machine.
type ChoiceError struct{ Msg string }

func (e *ChoiceError) Error() string { return e.Msg }

// Reference is the variant that dequantizes weights and sums in float64.
const Reference = "reference"

// CheckChoice refuses a name that no variant has, and one together with a scheme in which
// no format has it, in whose place Prefer takes the best of the scheme: a *ChoiceError.
// A variant of another architecture is another error.
func CheckChoice(name string, act kernels.Scheme) error {
	var known, has []string
	for _, v := range kernels.Variants() {
		known = append(known, v.Name)
		if v.Name == name {
			has = append(has, string(v.Scheme))
		}
	}
	if name == "" || has != nil && (act == "" || name == Reference || slices.Contains(has, string(act))) {
		return nil
	}
	if has != nil {
		slices.Sort(has)
		return &ChoiceError{fmt.Sprintf("%s takes activations in %s: no format has it in %s", name, strings.Join(slices.Compact(has), " or "), act)}
	}
	base, _, _ := strings.Cut(name, "-")
	for _, isa := range kernels.ISAs() {
		if err := isa.Foreign(); isa.Name == base && err != nil {
			return fmt.Errorf("variant %s: %w", name, err)
		}
	}
	slices.Sort(known)
	return &ChoiceError{fmt.Sprintf("unknown variant %q (known: %s)", name, strings.Join(slices.Compact(known), ", "))}
}
