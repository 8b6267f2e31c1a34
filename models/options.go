package models

import (
	"fmt"
	"sync"

	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// Options are the choices in opening a model. The zero value is right for a
// program that just wants to run one.
type Options struct {
	// Variant chooses what multiplies weights of a format; nil, or a nil
	// result, is the best of this machine. See [PreferVariant].
	Variant func(t *formats.Type) (*kernels.Variant, error)
	// Packing says when weights are brought into a variant's layout.
	Packing Packing
	// Head is a format to convert the output head to, such as q8_0 for a
	// head in fp16. Nil: as it is. Model.HeadError says what that costs in
	// precision; in memory it is the new head, since the old one's pages are
	// released as it is read.
	Head *formats.Type
	// Pool runs the model and stays the caller's. Nil: the model makes one
	// of Threads threads (0: all).
	Pool    *kernels.Pool
	Threads int
	// GGUF settles what a file leaves open.
	GGUF gguf.Options
}

// Packing is when weights are packed.
type Packing int

const (
	// PackFirst packs every matrix before the model is ready.
	PackFirst Packing = iota
	// PackNever uses the file's bytes in place, with variants that can; of a
	// checkpoint that is ternarized, what that gives.
	PackNever
	// PackBehind starts like PackNever and packs in the background, one
	// transformer block after the other. Results do not depend on how far
	// it is. A checkpoint that is ternarized on the way into memory is packed
	// first.
	PackBehind
	// Stream uses the file's bytes in place and lets go of a block's pages
	// once it has run: for models larger than memory. What stays is what lies
	// outside the blocks, and the block that is running. Every batch of
	// tokens reads the whole model from the page cache or the disk. It is an
	// error for a checkpoint that would have to be ternarized each time.
	Stream
)

// startsInPlace reports whether the file's bytes are multiplied at first and
// stay mapped.
func (o *Options) startsInPlace() bool { return o.Packing == PackNever || o.Packing == PackBehind }

// neverPacks reports whether the file's layout is that of all weights.
func (o *Options) neverPacks() bool { return o.Packing == PackNever || o.Packing == Stream }

// variantFor chooses for a format; inPlace asks for the file's own layout.
func (o *Options) variantFor(t *formats.Type, inPlace bool) (*kernels.Variant, error) {
	if o.Variant != nil {
		v, err := o.Variant(t)
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
		return nativeVariant(t, kernels.DefaultScheme(t.Name), cpu.Detected())
	}
	return kernels.Best(t.Name)
}

// ranked has the variants, each format's by rank. They are sorted once: a model
// asks for every tensor.
var ranked = sync.OnceValue(kernels.Variants)

// nativeVariant is kernels.BestFor among those that read the file's bytes.
func nativeVariant(t *formats.Type, act kernels.Scheme, features cpu.Set) (*kernels.Variant, error) {
	var best *kernels.Variant
	for _, v := range ranked() {
		if v.Format == t && v.Scheme == act && v.Layout == kernels.Native && v.AvailableOn(features) == nil {
			best = v
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no variant multiplies %s in place with %s activations", t.Name, act)
	}
	return best, nil
}

// PreferVariant is an Options.Variant that takes the variant of that name
// wherever a format has it. For formats that lack it, the best variant that
// needs no instructions beyond those of the named one stands in, so that
// "avx512vnni" has an fp16 head run in AVX-512 and "scalar" nothing but Go.
// The scheme is the format's usual one, or act if that is not empty; float
// formats and the variant reference always take float32 activations. An empty
// name is the best variant of this machine.
func PreferVariant(name string, act kernels.Scheme) (func(t *formats.Type) (*kernels.Variant, error), error) {
	features, known := cpu.Detected(), name == ""
	for _, v := range kernels.Variants() {
		if v.Name == name {
			features, known = v.ISA.Requires, true
			if lacks := cpu.Detected().Missing(features); lacks != 0 {
				return nil, fmt.Errorf("variant %s needs %s, which this CPU lacks", name, lacks)
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("unknown variant %q", name)
	}
	return func(t *formats.Type) (*kernels.Variant, error) {
		scheme := kernels.DefaultScheme(t.Name)
		if act != "" && scheme != kernels.F32 {
			scheme = act
		}
		for _, scheme := range []kernels.Scheme{scheme, kernels.F32} {
			if v, err := kernels.Lookup(t.Name, name, scheme); err == nil {
				return v, nil
			}
		}
		return kernels.BestFor(t.Name, scheme, cpu.Host().With(features))
	}, nil
}
