package kernels_test

import (
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestVocabularySizedMatrix multiplies a head of Bonsai's size, 151936 × 2048,
// with every variant that is best on some machine. The generic path would take
// long; unrolled, which equals it, stands in.
func TestVocabularySizedMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const rows, cols, distinct = 151936, 2048, 128
	rng := rand.New(rand.NewPCG(1, 8))
	part := kerneltest.Tensor(t, formats.Q1_0_g128, distinct, cols, rng)
	size, err := formats.Q1_0_g128.Bytes(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	tensor := &formats.Tensor{Name: "head", Type: formats.Q1_0_g128, Shape: []int{rows, cols}, Data: make([]byte, size)}
	for at := 0; at < size; at += copy(tensor.Data[at:], part.Data) {
	}
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	pool := kernels.NewPool(0)
	defer pool.Close()
	want := make([]float32, rows)
	for _, v := range kernels.Variants() {
		if v.Format != formats.Q1_0_g128 || v.Scheme != kernels.Q8Per128 || v.Name == "scalar" || v.Available() != nil {
			continue
		}
		m, err := v.Pack(tensor, pool)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, rows)
		pool.MatVec(got, v, m, x)
		if v.Name == "unrolled" { // the first of the list
			copy(want, got)
		}
		if err := kerneltest.Same(got, want); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	for r := distinct; r < rows; r++ {
		if want[r] != want[r%distinct] {
			t.Fatalf("row %d is %v, row %d, the same weights, %v", r, want[r], r%distinct, want[r%distinct])
		}
	}
}
