package kernels

import (
	"sync"
	"testing"
	"time"

	"onebit/formats"
	"onebit/internal/require"
)

// Each thread of a pool has a Scratch of its own, the same from one submission to
// the next, whether columns are prepared by every thread or by all together.
func TestScratchIsAThreads(t *testing.T) {
	type calls struct{ n int }
	var scratch, other Scratch[calls]
	var mu sync.Mutex
	seen := map[*calls]bool{}
	const rows, cols, threads = 4096, 64, 3
	v := &Variant{
		Name: "counts", Format: formats.F32, Scheme: Q8Row, ISA: Go, Layout: Native,
		Kernels: []Kernel{ByColumn(nil, func(dst []float32, m *Matrix, a *Activations, col, r0, r1 int) {
			mine := scratch.Of(a)
			mine.n++ // a race, if another thread has it
			if other.Of(a) == mine {
				t.Error("two Scratches are one")
			}
			mu.Lock()
			seen[mine] = true
			mu.Unlock()
		})},
	}
	require.Procs(t, threads)
	p := NewPool(threads)
	defer p.Close()
	p.team.Patience = time.Hour // no task is done twice
	m := &Matrix{Rows: rows, Cols: cols, Format: formats.F32, Layout: Native, Data: make([]byte, 4*rows*cols)}
	calledFor := 0
	for range 20 {
		for _, n := range []int{1, 5} {
			p.MatMul(make([]float32, n*rows), v, m, make([]float32, n*cols), n)
			calledFor += n * rows / chunkRows(m, threads)
		}
	}
	total := 0
	for c := range seen {
		total += c.n
	}
	if len(seen) > threads || total != calledFor {
		t.Errorf("%d scratches for %d threads, %d of %d calls", len(seen), threads, total, calledFor)
	}
	var a Activations
	first := scratch.Of(&a)
	if scratch.Of(&a) != first {
		t.Error("activations prepared by hand have a new scratch each time")
	}
}
