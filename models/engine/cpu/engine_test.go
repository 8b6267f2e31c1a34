package cpu_test

import (
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/models/engine/cpu"
	"onebit/models/engine/enginetest"
)

// The engine with products that round nothing, for each implementation of what
// is beside them; and as it comes, for each packing.
func TestEngine(t *testing.T) {
	for _, v := range cpu.AllVectors() {
		if v.Available() != nil {
			continue
		}
		t.Run("exact/"+v.Name, func(t *testing.T) {
			require.Unraced(t, "the engine as it comes is")
			enginetest.Run(t, enginetest.Subject{
				Engine: cpu.Options{
					Kernels: cpu.Kernels{Variant: exact, Vectors: v}, Packing: cpu.PackNever, Threads: 2,
				},
				Cache: formats.F32, Products: 1e-11, Attention: 1e-11, Floats: 1e-12,
			})
		})
	}
	for name, packing := range map[string]cpu.Packing{"packed": cpu.PackFirst, "in place": cpu.PackNever, "packed behind": cpu.PackBehind, "streamed": cpu.Stream} {
		t.Run(name, func(t *testing.T) {
			require.Procs(t, 3)
			enginetest.Run(t, enginetest.Subject{
				Engine: cpu.Options{Packing: packing, Threads: 3},
				Cache:  formats.F16, Products: 5e-3, Attention: 1e-6, Floats: 1e-12,
			})
		})
	}
}

// exact multiplies with float32 activations.
func exact(t *formats.Type) (*kernels.Variant, error) {
	if kernels.FormatOf(t).Scheme == kernels.F32 {
		return nil, nil
	}
	return kernels.Lookup(t.Name, "reference", kernels.F32)
}
