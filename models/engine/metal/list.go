package metal

import (
	"errors"
	"fmt"
	"strings"

	"onebit/formats"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
)

// A Kernel is what multiplies matrices of a format on the GPU: a variant of
// package shaders.
type Kernel struct {
	Name    string // as in engine.WeightInfo.Kernel
	Summary string // how it works, in one line
	Format  *formats.Type
	Scheme  kernels.Scheme
	Exact   bool    // it gives the bits of package kernels, which that of q4_k does but for the order of sums
	Options Options // of an engine that multiplies with it
	variant *shaders.Variant
}

// inexact are the variants that add in another order than package kernels, or
// floats.
var inexact = map[string]bool{"metal-naive": true, "metal-simd": true}

// Kernels returns the kernels of a format, the fastest that is expected last.
func Kernels(format *formats.Type) (out []Kernel) {
	const rows, cols = 32, 1024 // which suit every variant
	for _, v := range shaders.Variants() {
		k := Kernel{v.Name, v.Summary, format, schemeOf(&v, format), !inexact[v.Name] && format != formats.Q4_K, Options{Variant: v.Name}, &v}
		if k.fits(rows, cols) == nil {
			out = append(out, k)
		}
	}
	return out
}

// fits returns nil if the kernel multiplies a matrix of that shape.
func (k Kernel) fits(rows, cols int) error {
	_, err := k.variant.Plan(shaders.PackedType(k.Format), actColumns(k.Scheme), rows, cols, 1)
	return err
}

// KernelNames returns the names of all kernels.
func KernelNames() (out []string) {
	for _, v := range shaders.Variants() {
		out = append(out, v.Name)
	}
	return out
}

// checkName returns an error if no kernel has that name.
func checkName(name string) error {
	for _, known := range append(KernelNames(), "") {
		if name == known {
			return nil
		}
	}
	return fmt.Errorf("unknown variant %q (known: %s)", name, strings.Join(KernelNames(), ", "))
}

// String returns "format/name/activation".
func (k Kernel) String() string { return fmt.Sprintf("%s/%s/%s", k.Format.Name, k.Name, k.Scheme) }

// Layout names how the kernel wants weights: native is as the file has them, split
// codes apart from scales, tiles what lanes of a simdgroup read, and else a format of
// the same weights.
func (k Kernel) Layout() string {
	if packed := shaders.PackedType(k.Format); packed != k.Format && k.variant.Layout == shaders.Native {
		return packed.Name
	}
	return string(k.variant.Layout)
}

// Requires names what a GPU needs for the kernel: "metal" and, of reductions over
// simdgroups, "apple7", the family of the M1.
func (k Kernel) Requires() []string {
	if k.variant.Simdgroups {
		return []string{"metal", "apple7"}
	}
	return []string{"metal"}
}

var errSimdgroups = errors.New("it reduces over simdgroups, which GPUs do from Apple7, the M1, on")

// Check returns nil if the device runs the kernel, or what it lacks.
func (k Kernel) Check(d *metal.Device) error {
	if k.variant.Simdgroups && !d.Supports(metal.Apple7) {
		return fmt.Errorf("%s on %s: %w", k.Name, d.Name(), errSimdgroups)
	}
	return nil
}

// Bytes returns how many bytes a matrix has as the kernel wants it, or an error if
// it multiplies none of that shape.
func (k Kernel) Bytes(rows, cols int) (int, error) {
	if err := k.fits(rows, cols); err != nil {
		return 0, err
	}
	packed := shaders.PackedType(k.Format)
	codes, err := shaders.CodesOf(packed)
	if err != nil || k.variant.Layout == shaders.Native {
		return packed.Bytes(rows, cols)
	}
	if k.variant.Layout == shaders.Tiled {
		bits, scales := codes.TileBytes(cols)
		return shaders.Tiles(rows) * (bits + scales), nil
	}
	scales := 0
	if codes.BlockColumns != 0 {
		scales = 2 * cols / int(codes.BlockColumns)
	}
	return rows * (codes.SplitRowBytes(cols) + scales), nil
}
