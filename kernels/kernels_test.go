package kernels_test

import (
	"math/rand/v2"
	"testing"

	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestVariantsEqualScalar holds every variant that runs here to the generic
// path of its scheme, one column and several, one thread and several.
func TestVariantsEqualScalar(t *testing.T) {
	pools := []*kernels.Pool{kernels.NewPool(1), kernels.NewPool(3)}
	for _, v := range kernels.Variants() {
		if v.Name == "reference" || v.Name == "scalar" {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			if err := v.Available(); err != nil {
				t.Skip(err)
			}
			want, err := kernels.Lookup(v.Format.Name, "scalar", v.Activation)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for _, shape := range [][2]int{{1, 256}, {4, 512}, {16, 256}, {36, 768}, {100, 2048}} {
				rows, cols := shape[0], shape[1]
				tensor := kerneltest.Tensor(t, v.Format, rows, cols, rng)
				mv, err := v.Pack(tensor, pools[1])
				if err != nil {
					t.Fatal(err)
				}
				ms, err := want.Pack(tensor, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{1, 2, 5} {
					x := make([]float32, n*cols)
					for i := range x {
						x[i] = float32(rng.NormFloat64())
					}
					ys := make([]float32, n*rows)
					pools[0].MatMul(ys, want, ms, x, n)
					for _, pool := range pools {
						yv := make([]float32, n*rows)
						pool.MatMul(yv, v, mv, x, n)
						if err := kerneltest.Same(yv, ys); err != nil {
							t.Errorf("%d×%d, %d columns, %d threads: %v", rows, cols, n, pool.Threads(), err)
						}
					}
				}
				if err := mv.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
