package kernels

import (
	"slices"
	"testing"
	"time"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/internal/require"
)

// A worker that loses its CPU within a task is one that waits in it here. The product
// ends without it, later ones run without it, and what it gives in the end, or that it
// panics, is nobody's; then it works again.
func TestStraggler(t *testing.T) {
	for name, end := range map[string]func(){
		"gives results": func() {},
		"panics":        func() { panic("late") },
	} {
		t.Run(name, func(t *testing.T) { testStraggler(t, end) })
	}
}

func testStraggler(t *testing.T, end func()) {
	const rows = 256
	require.Procs(t, 2)
	p := NewPool(2)
	defer p.Close()
	got, want := make([]float32, rows), make([]float32, rows)
	late, goOn := make(chan struct{}), make(chan struct{})
	v := &Variant{Format: formats.Q8_0, Scheme: Q8Per32, ISA: Go, Layout: Native, Kernels: make([]Kernel, 1)}
	m := &Matrix{Rows: rows, Cols: 128, Format: v.Format, Layout: v.Layout, Data: make([]byte, rows*136)}
	multiply := func(value func(row int) float32) {
		for r := range want {
			want[r] = value(r)
		}
		p.MatVec(got, v, m, make([]float32, m.Cols))
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	fill := func(dst []float32, r0, r1 int, value func(row int) float32) {
		for r := r0; r < r1; r++ {
			dst[r] = value(r)
		}
	}

	ones := func(int) float32 { return 1 }
	v.Kernels[0].Rows = func(dst []float32, its *Matrix, _ *Activations, r0, r1 int) {
		if &dst[0] != &got[0] { // the worker's own memory
			close(late)
			<-goOn
			if its.Data == nil {
				t.Error("the matrix was closed while a worker reads it")
			}
			fill(dst, r0, r1, func(int) float32 { return -1 })
			end()
			return
		}
		<-late
		fill(dst, r0, r1, ones)
	}
	multiply(ones)
	if p.team.Patience <= 0 {
		t.Error("a task that was stolen took no time")
	}

	number := func(row int) float32 { return float32(row) }
	v.Kernels[0].Rows = func(dst []float32, _ *Matrix, _ *Activations, r0, r1 int) { fill(dst, r0, r1, number) }
	multiply(number)
	weights, err := mmap.Alloc(1)
	if err != nil {
		t.Fatal(err)
	}
	freed := make(chan error, 1)
	go func() { freed <- weights.Free() }()
	select {
	case err := <-freed:
		t.Error("memory was freed while a worker may read it")
		freed <- err
	case <-time.After(10 * time.Millisecond):
	}
	data := m.Data
	m.Data = nil // as Close does
	close(goOn)
	if err := <-freed; err != nil {
		t.Error(err)
	}
	m.Data = data
	if !slices.Equal(got, want) {
		t.Errorf("what came too late was written: %v, want %v", got, want)
	}

	back := make(chan struct{})
	v.Kernels[0].Rows = func(dst []float32, _ *Matrix, _ *Activations, r0, r1 int) {
		if &dst[0] == &got[0] {
			<-back // the worker's first task, or this would wait forever
		} else if r0 == rows/2 {
			close(back)
		}
		fill(dst, r0, r1, ones)
	}
	multiply(ones)
}
