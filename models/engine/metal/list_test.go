package metal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/internal/deviation"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/metal/softmetal/frameworks"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/metal"
)

// What is listed is what multiplies: under its name, as many bytes, and to the
// bit where that is promised. metal-naive, of floats, has float32 sums of all
// columns.
func TestKernels(t *testing.T) {
	const rows, cols = 8, 1024
	d := device(t)
	for _, format := range formats.Types() {
		if kernels.FormatOf(format).Roles == 0 {
			continue
		}
		for _, k := range metal.Kernels(format) {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				if err := k.Check(d); err != nil {
					t.Skip(err)
				}
				rng := rand.New(rand.NewPCG(5, uint64(format.BlockLen)))
				w := *kerneltest.Tensor(t, format, rows, cols, rng)
				w.Name = "w"
				x := make([]float32, cols)
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				k.Options.Device = d
				got, name := product(t, k.Options, w, x, 1)
				if name != k.String() {
					t.Errorf("the kernel is %s", name)
				}
				prefer, err := cpu.Prefer("scalar", k.Scheme)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := product(t, cpu.Options{Kernels: prefer, Packing: cpu.PackNever, Threads: 1}, w, x, 1)
				if k.Exact && !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
				if e := deviation.Of(got, want).NMSE(); !(e < 1e-12) {
					t.Errorf("an NMSE of %.3g", e)
				}
				checkBytes(t, k, w)
			})
		}
	}
}

func checkBytes(t *testing.T, k metal.Kernel, w formats.Tensor) {
	t.Helper()
	e, err := k.Options.Open(memorySource{"w": w})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	weights, err := e.Load(t.Context(), []engine.Request{{Tensor: "w", Use: engine.Matrix}})
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := k.Bytes(w.Dims())
	if got := weights[0].Info().Bytes; err != nil || got != bytes {
		t.Errorf("%d bytes, listed are %d; %v", got, bytes, err)
	}
}

// A GPU that is too old says so before anything is loaded.
func TestKernelsOfOldGPUs(t *testing.T) {
	d, lib := faulty(t)
	lib.Family(frameworks.Apple5)
	defer lib.Family(frameworks.Apple7)
	if k := metal.Kernels(formats.Q1_0_g128); !slices.ContainsFunc(k, func(k metal.Kernel) bool { return k.Name == "metal-simd" && slices.Contains(k.Requires(), "apple7") }) {
		t.Error("metal-simd is not said to need Apple7")
	}
	for _, k := range metal.Kernels(formats.Q1_0_g128) {
		if err := k.Check(d); (err != nil) != slices.Contains(k.Requires(), "apple7") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}
