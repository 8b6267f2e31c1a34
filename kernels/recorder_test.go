package kernels_test

import (
	"slices"
	"testing"

	"onebit/formats"
	"onebit/internal/require"
	"onebit/internal/threads"
	"onebit/kernels"
)

// recordedProducts returns n columns and a matrix to multiply them with, so many times.
func recordedProducts(t *testing.T, rows, cols, n, times int) (x []float32, products []kernels.Product) {
	t.Helper()
	v, err := kernels.Lookup(formats.Q8_0.Name, "unrolled", kernels.Q8Per32)
	if err != nil {
		t.Fatal(err)
	}
	size, err := formats.Q8_0.Bytes(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.Pack(&formats.Tensor{Name: "m", Type: formats.Q8_0, Shape: []int{rows, cols}, Data: make([]byte, size)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	for range times {
		products = append(products, kernels.Product{Variant: v, Matrix: m, Dst: make([]float32, n*rows)})
	}
	return make([]float32, n*cols), products
}

func TestRecorder(t *testing.T) {
	x, products := recordedProducts(t, 256, 128, 1, 3)
	require.Procs(t, 4)
	for _, n := range []int{1, 2, 4} {
		p := kernels.NewPool(n)
		defer p.Close()
		r := p.NewRecorder()
		p.ForEach(9, func(int) {})
		if got := len(r.Marks(0)); got != 0 {
			t.Fatalf("%d marks of a pool that has no recorder", got)
		}
		p.Record(r)
		p.Do(x, 1, products...)
		p.ForEach(9, func(int) {})
		p.Record(nil)
		p.ForEach(9, func(int) {})

		var states []threads.State
		seen := map[int8]bool{}
		for thread := range n {
			for i, m := range r.Marks(thread) {
				if i > 0 && m.At < r.Marks(thread)[i-1].At {
					t.Fatalf("thread %d: mark %d is older than the one before", thread, i)
				}
				if m.State == threads.Multiplying {
					seen[m.Product] = true
				}
				if m.Dispatch != 1 && m.Dispatch != 2 || m.Dispatch == 1 && m.State == threads.Running || m.Dispatch == 2 && m.State == threads.Multiplying {
					t.Fatalf("thread %d: %+v", thread, m)
				}
				if thread > 0 && (m.State == threads.Idle || m.State == threads.Dispatching) {
					t.Errorf("thread %d is %+v, as only the caller is", thread, m)
				}
			}
		}
		for _, m := range r.Marks(0) {
			if m.State == threads.Dispatching || m.State == threads.Idle {
				states = append(states, m.State)
			}
		}
		if want := []threads.State{threads.Dispatching, threads.Idle, threads.Dispatching, threads.Idle}; !slices.Equal(states, want) {
			t.Errorf("%d threads: the caller's dispatches are %v, want %v", n, states, want)
		}
		if len(seen) != 3 {
			t.Errorf("%d threads: products %v were multiplied, want 3", n, seen)
		}
		if n == 1 && r.Marks(0)[1].State != threads.Quantizing {
			t.Errorf("a product begins with %+v, want the quantizing of its input", r.Marks(0)[1])
		}
	}
}

// What is handed in costs nothing in the end, and nothing was there before.
func TestRecorderAllocates(t *testing.T) {
	x, products := recordedProducts(t, 256, 128, 1, 2)
	require.Procs(t, 2)
	p := kernels.NewPool(2)
	defer p.Close()
	r := p.NewRecorder()
	task := func(int) {}
	work := func() {
		r.Reset()
		p.Do(x, 1, products...)
		p.ForEach(8, task)
	}
	for _, recorder := range []*threads.Recorder{nil, r} {
		p.Record(recorder)
		for range 20 {
			work() // logs grow with what a thread comes to do
		}
		if n := testing.AllocsPerRun(100, work); n != 0 {
			t.Errorf("recorder %v: %v allocations", recorder != nil, n)
		}
	}
}

func TestRecorderOfAnotherPool(t *testing.T) {
	require.Procs(t, 2)
	p := kernels.NewPool(2)
	defer p.Close()
	if got := recovered(func() { p.Record(threads.NewRecorder(3)) }); got != "threads: the recorder is for another number of threads" {
		t.Errorf("panic %v", got)
	}
}

// BenchmarkRecorder is what a recorder adds to a dispatch.
func BenchmarkRecorder(b *testing.B) {
	require.Procs(b, 2)
	for _, name := range []string{"plain", "recorded"} {
		b.Run(name, func(b *testing.B) {
			p := kernels.NewPool(2)
			defer p.Close()
			r := p.NewRecorder()
			if name == "recorded" {
				p.Record(r)
			}
			task := func(int) {}
			for b.Loop() {
				p.ForEach(2, task)
				r.Reset()
			}
		})
	}
}
