package metal

import (
	"fmt"

	"onebit/formats"
	"onebit/kernels"
	"onebit/metal"
	"onebit/metal/shaders"
)

// A Kernel is what multiplies matrices of a format on the GPU.
type Kernel struct {
	Name    string // as in engine.WeightInfo.Kernel
	Summary string // how it works, in one line
	Format  *formats.Type
	Scheme  kernels.Scheme
	Exact   bool    // it gives the bits of package kernels
	Options Options // of an engine that multiplies with it
	packed  bool
}

// kinds are the kernels by name.
var kinds = []struct {
	name, summary string
	exact         bool
	options       Options
}{
	{"metal-naive", "a thread a row, float activations: the first seed's kernel", false, Options{Naive: true}},
	{"metal-rows", "a thread a row, for GPUs before the M1", true, Options{Layout: Native}},
	{"metal-dense", "a thread for each 32nd of a row of floats", true, Options{Layout: Native}},
	{"metal-simd", "lanes over columns, four rows a simdgroup, codes apart from scales", false, Options{Layout: Packed}},
}

// Kernels returns the kernels of a format, the best last.
func Kernels(format *formats.Type) (out []Kernel) {
	for _, kind := range kinds {
		k, _, err := choose(format, kind.options)
		if err == nil && k.name == kind.name {
			out = append(out, Kernel{kind.name, kind.summary, format, k.scheme, kind.exact, kind.options, k.layout == split})
		}
	}
	return out
}

// KernelNames returns the names of all kernels.
func KernelNames() (out []string) {
	for _, kind := range kinds {
		out = append(out, kind.name)
	}
	return out
}

// String returns "format/name/activation".
func (k Kernel) String() string { return fmt.Sprintf("%s/%s/%s", k.Format.Name, k.Name, k.Scheme) }

// Layout names how the kernel wants weights: native is as the file has them, split
// codes apart from scales, and else a format of the same weights.
func (k Kernel) Layout() string {
	packed := shaders.PackedType(k.Format)
	switch {
	case k.packed:
		return "split"
	case packed != k.Format:
		return packed.Name
	}
	return "native"
}

// Requires names what a GPU needs for the kernel: "metal" and, of reductions over
// simdgroups, "apple7", the family of the M1.
func (k Kernel) Requires() []string {
	if k.packed {
		return []string{"metal", "apple7"}
	}
	return []string{"metal"}
}

// Check returns nil if the device runs the kernel, or what it lacks.
func (k Kernel) Check(d *metal.Device) error {
	if k.packed {
		return checkReduces(d)
	}
	return nil
}

// Bytes returns how many bytes a matrix has as the kernel wants it.
func (k Kernel) Bytes(rows, cols int) (int, error) {
	packed := shaders.PackedType(k.Format)
	n, err := packed.Bytes(rows, cols)
	if err != nil || !k.packed {
		return n, err
	}
	codes, err := shaders.CodesOf(packed)
	if err != nil {
		return 0, err
	}
	row := codes.SplitRowBytes(cols)
	switch {
	case codes.BlockColumns != 0:
		return rows * (row + 2*cols/int(codes.BlockColumns)), nil
	case row == codes.RowBytes(cols):
		return n, nil
	}
	return rows * row, nil
}
