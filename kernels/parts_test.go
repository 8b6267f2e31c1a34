package kernels_test

import (
	"math/rand/v2"
	"testing"

	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// Products of some of a submission's columns give what products of those columns alone
// do, for one thread and several, whatever ran before.
func TestProductsOfSomeColumns(t *testing.T) {
	require.Procs(t, 4)
	many, one := kernels.NewPool(4), kernels.NewPool(1)
	defer many.Close()
	defer one.Close()
	rng := rand.New(rand.NewPCG(2, 16))
	const n = 70
	parts := [][2]int{{3, 4}, {0, 3}, {3, 4}, {4, 21}, {21, 70}, {69, 70}}
	for _, v := range require.Draw(t, 3, kernels.Variants()) {
		if v.Available() != nil || v.Name == "reference" || v.Name == "scalar" {
			continue
		}
		m, err := v.Pack(kerneltest.Tensor(t, v.Format, 80, 512, rng), nil)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float32, n*m.Cols)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		for _, pool := range []*kernels.Pool{many, one} {
			var products []kernels.Product
			for _, p := range parts {
				products = append(products, kernels.Product{Variant: v, Matrix: m, From: p[0], To: p[1], Dst: make([]float32, (p[1]-p[0])*m.Rows)})
			}
			pool.Do(x, n, products...)
			pool.DoAlone(x[:m.Cols], 1, kernels.Product{Variant: v, Matrix: m, From: 0, To: 1, Dst: products[0].Dst[:m.Rows:m.Rows]})
			pool.Do(x, n, products...)
			for i, p := range parts {
				want := make([]float32, len(products[i].Dst))
				one.MatMul(want, v, m, x[p[0]*m.Cols:p[1]*m.Cols], p[1]-p[0])
				if err := kerneltest.Same(products[i].Dst, want); err != nil {
					t.Errorf("%v on %d threads, columns %v: %v", v, pool.Threads(), p, err)
				}
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
