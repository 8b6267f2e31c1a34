package metal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"onebit/formats"
	"onebit/internal/deviation"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
	"onebit/models/engine"
	"onebit/models/engine/cpu"
	"onebit/models/engine/metal"
)

// A memorySource has tensors in memory, as a file would.
type memorySource map[string]formats.Tensor

func (s memorySource) Name() string { return "test.gguf" }
func (s memorySource) Tensor(name string) (formats.Tensor, error) {
	if t, ok := s[name]; ok {
		return t, nil
	}
	return formats.Tensor{}, s.Fault(name, errors.New("is not there"))
}
func (s memorySource) Populate(string)      {}
func (s memorySource) Release(string) error { return nil }
func (s memorySource) InPlace() bool        { return true }
func (s memorySource) Part(string) int      { return 0 }
func (s memorySource) Fault(tensor string, err error) error {
	return fmt.Errorf("test.gguf: tensor %s: %w", tensor, err)
}

// product is W·x for n columns, and what computed it.
func product(t *testing.T, opener engine.Opener, w formats.Tensor, x []float32, n int) ([]float32, string) {
	t.Helper()
	e, err := opener.Open(memorySource{w.Name: w})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	weights, err := e.Load(t.Context(), []engine.Request{{Tensor: w.Name, Use: engine.Matrix}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewStream(engine.StreamOptions{Context: n, Batch: n})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, out := s.Buffer(w.Shape[1]), s.Buffer(w.Shape[0])
	s.Begin(n)
	s.Write(in, x)
	s.Multiply("op", in, []engine.Product{{Weight: weights[0], Dst: out}})
	y, err := s.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(y), weights[0].Info().Kernel
}

// Every format gives what the CPU engine does, to the bit, as it lies in the file
// and packed.
func TestFormats(t *testing.T) {
	d := device(t)
	for _, c := range []struct {
		format         *formats.Type
		native, packed string
	}{
		{formats.Q1_0_g128, "metal-lanes/q8_128", "metal-tiles/q8_128"},
		{formats.I2_S, "metal-lanes/q8_row", "metal-tiles/q8_row"},
		{formats.I2_S_ARM, "metal-lanes/q8_row", "metal-tiles/q8_row"},
		{formats.I2_S_X4, "metal-lanes/q8_row", "metal-tiles/q8_row"},
		{formats.Ternary_u32, "metal-lanes/q8_row", "metal-tiles/q8_row"},
		{formats.TQ1_0, "metal-lanes/q8_row", "metal-tiles/q8_row"},
		{formats.TQ2_0, "metal-lanes/q8_row", "metal-tiles/q8_row"},
		{formats.Q2_0, "metal-lanes/q8_128", "metal-tiles/q8_128"},
		{formats.Q2_0_g128, "metal-lanes/q8_128", "metal-tiles/q8_128"},
		{formats.PQ2_0, "metal-lanes/q8_128", "metal-tiles/q8_128"},
		{formats.PTQ1_0, "metal-lanes/q8_128", "metal-tiles/q8_128"},
		{formats.Q8_0, "metal-rows/q8_32", "metal-bytes/q8_32"},
		{formats.Q6_K, "metal-rows/q8_32", "metal-bytes/q8_32"},
		{formats.Q4_0, "metal-rows/q8_32", "metal-bytes/q8_32"},
		{formats.Q5_0, "metal-rows/q8_32", "metal-bytes/q8_32"},
		{formats.IQ4_NL, "metal-rows/q8_32", "metal-bytes/q8_32"},
		{formats.F16, "metal-dense/f32", "metal-dense/f32"},
		{formats.BF16, "metal-dense/f32", "metal-dense/f32"},
		{formats.F32, "metal-dense/f32", "metal-dense/f32"},
	} {
		t.Run(c.format.Name, func(t *testing.T) {
			const rows, cols, n = 12, 512, 3
			rng := rand.New(rand.NewPCG(1, uint64(c.format.BlockLen)))
			w := *kerneltest.Tensor(t, c.format, rows, cols, rng)
			w.Name = "w"
			x := make([]float32, n*cols)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			want, _ := product(t, cpu.Options{Packing: cpu.PackNever, Threads: 1}, w, x, n)
			for i, kernel := range []string{c.packed, c.native} {
				got, name := product(t, metal.Options{Device: d, Native: i == 1}, w, x, n)
				if name != c.format.Name+"/"+kernel {
					t.Errorf("the kernel is %s, want %s/%s", name, c.format.Name, kernel)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
		})
	}
}

// q4_k is multiplied with activations in float32, where the CPU engine has them in int8:
// to the roundings, it is the product of the scheme f32.
func TestQ4K(t *testing.T) {
	const rows, cols, n = 12, 512, 3
	rng := rand.New(rand.NewPCG(1, 256))
	x := make([]float32, max(rows, n)*cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	w := *kerneltest.Quantize(t, formats.Q4_K, rows, cols, x[:rows*cols])
	w.Name = "w"
	prefer, err := cpu.Prefer("scalar", kernels.F32)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := product(t, cpu.Options{Kernels: prefer, Packing: cpu.PackNever, Threads: 1}, w, x[:n*cols], n)
	for _, native := range []bool{false, true} {
		got, name := product(t, metal.Options{Device: device(t), Native: native}, w, x[:n*cols], n)
		if e := deviation.Of(got, want).NMSE(); name != "q4_k/metal-dense/f32" || !(e < 1e-12) {
			t.Errorf("%s: an NMSE of %.3g", name, e)
		}
	}
}

// Where commands are cut makes no difference.
func TestWork(t *testing.T) {
	d := device(t)
	rng := rand.New(rand.NewPCG(3, 1))
	const rows, cols, n = 16, 256, 7
	w := *kerneltest.Tensor(t, formats.I2_S, rows, cols, rng)
	w.Name = "w"
	x := make([]float32, n*cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	want, _ := product(t, metal.Options{Device: d}, w, x, n)
	for _, work := range []int{1, 2 * rows * cols, 3*rows*cols + 1} {
		got, _ := product(t, metal.Options{Device: d, Work: work}, w, x, n)
		if !slices.Equal(got, want) {
			t.Errorf("%d multiply-adds a command buffer: %v, want %v", work, got, want)
		}
	}
	for block, step := range steps {
		whole, err := open(t, metal.Options{Device: d}, block)
		if err != nil {
			t.Fatal(err)
		}
		defer whole.close(t)
		cut, err := open(t, metal.Options{Device: d, Work: 1}, block)
		if err != nil {
			t.Fatal(err)
		}
		defer cut.close(t)
		want, err := step(whole, 1, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := step(cut, 1, 2, 3); err != nil || !slices.Equal(got, want) {
			t.Errorf("a multiply-add a command buffer: another text, or error %v", err)
		}
	}
}

// Where commands of experts are cut makes no difference, whether those of a column share
// what they multiply or not.
func TestWorkOfExperts(t *testing.T) {
	const experts, used, rows, cols, n = 4, 2, 8, 256, 5
	d, rng := device(t), rand.New(rand.NewPCG(3, 2))
	w := *kerneltest.Tensor(t, formats.TQ2_0, experts*rows, cols, rng)
	w.Name, w.Shape = "w", []int{experts, rows, cols}
	x, choice := make([]float32, n*used*cols), make([]float32, n*2*used)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range choice {
		choice[i] = float32(rng.IntN(experts))
	}
	for _, width := range []int{cols, used * cols} {
		var results [2][]float32
		for i, work := range []int{0, 1} {
			e, err := metal.Options{Device: d, Work: work}.Open(memorySource{"w": w})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			weights, err := e.Load(t.Context(), []engine.Request{{Tensor: "w", Use: engine.Experts}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.NewStream(engine.StreamOptions{Context: n, Batch: n})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			in, chosen, out := s.Buffer(width), s.Buffer(2*used), s.Buffer(used*rows)
			s.Begin(n)
			s.Write(in, x[:n*width])
			s.Write(chosen, choice)
			s.MultiplyExperts("op", in, chosen, []engine.Product{{Weight: weights[0], Dst: out}})
			y, err := s.Read(out)
			if err != nil {
				t.Fatal(err)
			}
			results[i] = slices.Clone(y)
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("columns of %d: cut, they are %v, want %v", width, results[1], results[0])
		}
	}
}

// Siblings of several formats take the same input each in its own way.
func TestSiblings(t *testing.T) {
	d := device(t)
	const rows, cols = 8, 512
	rng, src := rand.New(rand.NewPCG(4, 1)), memorySource{}
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	var requests []engine.Request
	file := make([]byte, 0, 1<<16) // tensors of one file lie in one mapping
	for _, f := range []*formats.Type{formats.Q1_0_g128, formats.Q2_0, formats.Q2_0_g128, formats.I2_S, formats.I2_S_ARM, formats.F16} {
		w := *kerneltest.Tensor(t, f, rows, cols, rng)
		w.Name = f.Name
		at := (len(file) + 31) / 32 * 32
		file = append(file[:at], w.Data...)
		w.Data = file[at:]
		src[w.Name] = w
		requests = append(requests, engine.Request{Tensor: w.Name, Use: engine.Matrix})
	}
	var results [2][][]float32
	for i, open := range []engine.Opener{cpu.Options{Packing: cpu.PackNever, Threads: 1}, metal.Options{Device: d, Native: true}} {
		results[i] = siblings(t, open, src, requests, x, rows)
	}
	for i, want := range results[0] {
		if !slices.Equal(results[1][i], want) {
			t.Errorf("%s: %v, want %v", requests[i].Tensor, results[1][i], want)
		}
	}
}

func siblings(t *testing.T, opener engine.Opener, src memorySource, requests []engine.Request, x []float32, rows int) (out [][]float32) {
	t.Helper()
	e, err := opener.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	weights, err := e.Load(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewStream(engine.StreamOptions{Context: 1, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in := s.Buffer(len(x))
	s.Begin(1)
	s.Write(in, x)
	var products []engine.Product
	for _, w := range weights {
		products = append(products, engine.Product{Weight: w, Dst: s.Buffer(rows)})
	}
	s.Multiply("op", in, products)
	for _, p := range products {
		y, err := s.Read(p.Dst)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Clone(y))
	}
	return out
}
