package kernels_test

import (
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// TestVocabularySizedMatrix multiplies a head of Bonsai's size, 151936 × 2048,
// with a part of the variants that are best on some machine. The generic path would take
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
	multiply := func(v *kernels.Variant) []float32 {
		m, err := v.Pack(tensor, pool)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float32, rows)
		pool.MatVec(y, v, m, x)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		return y
	}
	unrolled, err := kernels.Lookup("q1_0_g128", "unrolled", kernels.Q8Per128)
	if err != nil {
		t.Fatal(err)
	}
	want := multiply(unrolled)
	var others []*kernels.Variant
	for _, v := range kernels.Variants() {
		if v.Format == unrolled.Format && v.Scheme == unrolled.Scheme && v != unrolled && v.Name != "scalar" && v.Available() == nil {
			others = append(others, v)
		}
	}
	for _, v := range require.Draw(t, 4, others) {
		if err := kerneltest.Same(multiply(v), want); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
	for r := distinct; r < rows; r++ {
		if want[r] != want[r%distinct] {
			t.Fatalf("row %d is %v, row %d, the same weights, %v", r, want[r], r%distinct, want[r%distinct])
		}
	}
}
