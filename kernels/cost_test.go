package kernels_test

import (
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// A dispatch takes nothing with one thread and longer with each more, and what is
// worth it is what saves more than that.
func TestWorth(t *testing.T) {
	require.Procs(t, 8)
	before := 0.0
	for threads := 1; threads <= 8; threads++ {
		p := kernels.NewPool(threads)
		d := kernels.DispatchTime(threads)
		if threads == 1 {
			if d != 0 || p.Worth(1e9) {
				t.Errorf("one thread takes %g ns to dispatch to, and a second of tasks is worth that: %v", d, p.Worth(1e9))
			}
		} else if even := d * float64(threads) / float64(threads-1); d <= before || p.Worth(0.99*even) || !p.Worth(1.01*even) {
			t.Errorf("%d threads: a dispatch takes %g ns, with one less %g; tasks of %g save as much", threads, d, before, even)
		}
		before = d
		p.Close()
	}
}

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
			r := kernels.NewRecorder(4)
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
