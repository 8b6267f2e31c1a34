package kerneltest_test

import (
	"fmt"
	"log"

	"onebit/formats"
	"onebit/kernels"
)

// lookup is a kernel of one's own: it takes the four codes of a byte from a table.
var lookup = &kernels.Variant{
	Name: "table", Summary: "four codes at a time from a table, pure Go",
	Format: formats.Ternary_u32, Scheme: kernels.Q8Row, ISA: kernels.Go, Layout: kernels.Native,
	Kernels: []kernels.Kernel{kernels.ByColumn(nil, func(dst []float32, m *kernels.Matrix, a *kernels.Activations, col, r0, r1 int) {
		q := a.Q[col*a.Stride:][:a.Stride]
		for r := r0; r < r1; r++ {
			var sum int32
			for i, b := range m.Row(r, (m.Cols+15)/16*4) {
				for j, code := range codes[b] {
					sum += code * int32(q[4*i+j])
				}
			}
			dst[r] = 0 + kernels.Term(m.Scale, a.Scale(col, 0), sum)
		}
	})},
}

// codes has the weights that a byte of ternary_u32 stands for.
var codes = func() (table [256][4]int32) {
	for b := range table {
		for j := range table[b] {
			table[b][j] = int32(b>>(2*j)&3) - 1
		}
	}
	return table
}()

// Once registered it is found, listed, measured and chosen like those that come
// with the module.
func init() { kernels.Register(lookup) }

// A program registers a kernel of its own and multiplies with it. That it
// computes what all others do is for a test:
//
//	func TestLookup(t *testing.T) { kerneltest.Run(t, lookup) }
func Example() {
	const rows, cols = 2, 32
	w := make([]float32, rows*cols) // the first row is 1, the second 1, 0, −1, 1, …
	for i := range w {
		w[i] = 1
		if i >= cols {
			w[i] = float32(1 - i%cols%3)
		}
	}
	tensor := &formats.Tensor{Name: "w", Type: formats.Ternary_u32, Shape: []int{rows, cols}}
	size, err := tensor.Type.Bytes(rows, cols)
	if err != nil {
		log.Fatal(err)
	}
	tensor.Data = make([]byte, size)
	if err := tensor.Matrix().Quantize(w); err != nil {
		log.Fatal(err)
	}

	v, err := kernels.Lookup("ternary_u32", "table", kernels.Q8Row)
	if err != nil {
		log.Fatal(err)
	}
	pool := kernels.NewPool(2)
	defer pool.Close()
	m, err := v.Pack(tensor, pool)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	x, y := make([]float32, cols), make([]float32, rows)
	for i := range x {
		x[i] = 0.5
	}
	pool.MatVec(y, v, m, x)
	fmt.Println(v, y)
	// Output: ternary_u32/table/q8_row [16 0.5]
}
