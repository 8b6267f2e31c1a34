package kernels_test

import (
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/kernels"
)

func TestClosedMatrixPanics(t *testing.T) {
	const rows, cols = 256, 128
	require.Procs(t, 2)
	p := kernels.NewPool(2)
	defer p.Close()
	for _, v := range kernels.Variants() {
		if v.Layout == kernels.Native || v.Available() != nil || v.Format == formats.I2_S_X4 {
			continue
		}
		size, err := v.Format.Bytes(rows, cols)
		if err != nil {
			continue // wants longer rows
		}
		m, err := v.Pack(&formats.Tensor{Type: v.Format, Shape: []int{rows, cols}, Data: make([]byte, size)}, p)
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		dst, x := make([]float32, rows), make([]float32, cols)
		if got := recovered(func() { p.MatVec(dst, v, m, x) }); got != "kernels: matrix is closed" {
			t.Fatalf("%v: MatVec panics with %v", v, got)
		}
		var a kernels.Activations
		if got := recovered(func() { v.Rows(dst, m, &a, 0, rows) }); got != "kernels: matrix is closed" {
			t.Fatalf("%v: Rows panics with %v", v, got)
		}
	}
}

func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
