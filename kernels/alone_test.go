package kernels_test

import (
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// DoAlone leaves the other threads where they are and gives what Do does, for a
// column and for batches, whatever ran before.
func TestDoAlone(t *testing.T) {
	require.Procs(t, 4)
	pool := kernels.NewPool(4)
	defer pool.Close()
	rng := rand.New(rand.NewPCG(1, 16))
	for _, v := range kernels.Variants() {
		if v.Available() != nil || v.Name == "reference" || v.Name == "scalar" {
			continue
		}
		m, err := v.Pack(kerneltest.Tensor(t, v.Format, 64, 512, rng), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 5, 17} {
			x, want, got := make([]float32, n*m.Cols), make([]float32, n*m.Rows), make([]float32, n*m.Rows)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			pool.MatMul(want, v, m, x, n)
			r := pool.NewRecorder()
			pool.Record(r)
			pool.DoAlone(x, n, kernels.Product{Variant: v, Matrix: m, Dst: got})
			pool.Record(nil)
			if err := kerneltest.Same(got, want); err != nil {
				t.Errorf("%v, %d columns: %v", v, n, err)
			}
			for thread := 1; thread < 4; thread++ {
				if marks := r.Marks(thread); len(marks) != 0 {
					t.Errorf("%v, %d columns: thread %d did %v", v, n, thread, marks)
				}
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
