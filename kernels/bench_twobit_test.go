package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// twoBitFormats are the formats that BenchmarkTwoBit times.
var twoBitFormats = []string{"i2_s", "i2_s_arm", "ternary_u32", "tq2_0", "q2_0", "q2_0_g128", "i2_s_x4", "tq1_0"}

// BenchmarkTwoBit times one thread on weights in each level of memory, by the
// variant. The activations are prepared beforehand.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkTwoBit/format=i2_s/'
func BenchmarkTwoBit(b *testing.B) {
	for _, format := range twoBitFormats {
		for _, mem := range []struct {
			name  string
			bytes int
		}{{"L2", 1 << 20}, {"L3", 32 << 20}, {"DRAM", 256 << 20}} {
			var tensor *formats.Tensor // made once, if a benchmark wants it
			for _, v := range kernels.Variants() {
				if v.Format.Name != format || v.Activation != kernels.DefaultActivation(format) || v.ISA == kernels.Go {
					continue
				}
				b.Run(fmt.Sprintf("format=%s/mem=%s/variant=%s", format, mem.name, v.Name), func(b *testing.B) {
					if err := v.Available(); err != nil {
						b.Skip(err)
					}
					if tensor == nil {
						var free func() error
						tensor, free = repeated(b, v.Format, mem.bytes, 2048)
						defer func() { tensor = nil; free() }()
					}
					timeRows(b, v, tensor)
				})
			}
		}
	}
}

// repeated is a matrix of about size bytes in huge pages, the same rows over
// and over.
func repeated(b *testing.B, format *formats.Type, size, cols int) (*formats.Tensor, func() error) {
	const few = 16
	part := kerneltest.Tensor(b, format, few, cols, rand.New(rand.NewPCG(1, 2)))
	one, err := format.Bytes(few, cols)
	if err != nil {
		b.Fatal(err)
	}
	two, err := format.Bytes(2*few, cols)
	if err != nil {
		b.Fatal(err)
	}
	codes := two - one
	n := size / codes
	mem, err := mmap.Alloc(n*codes + one - codes)
	if err != nil {
		b.Fatal(err)
	}
	data := mem.Bytes()
	for i := range n {
		copy(data[i*codes:], part.Data[:codes])
	}
	copy(data[n*codes:], part.Data[codes:])
	return &formats.Tensor{Name: "repeated", Type: format, Shape: []int{n * few, cols}, Data: data}, mem.Free
}

func timeRows(b *testing.B, v *kernels.Variant, tensor *formats.Tensor) {
	rows, cols := tensor.Dims()
	m, err := v.Pack(tensor, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	x := normal(rand.New(rand.NewPCG(3, 4)), cols)
	var a kernels.Activations
	a.Prepare(v, x, 1, cols)
	dst := make([]float32, rows)
	const chunk = 128 // rows, as a pool hands them out
	b.ResetTimer()
	for range b.N {
		for r := 0; r < rows; r += chunk {
			v.Rows(dst, m, &a, r, min(r+chunk, rows))
		}
	}
	b.ReportMetric(float64(len(m.Data))*float64(b.N)/b.Elapsed().Seconds()/1e9, "weight-GB/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTwoBitBatch times one thread on N columns and weights in L2, the
// activations prepared beforehand. 2 operations are a multiplication and an
// addition.
func BenchmarkTwoBitBatch(b *testing.B) {
	for _, format := range twoBitFormats {
		for _, n := range []int{1, 2, 3, 4, 8, 16, 512} {
			for _, v := range kernels.Variants() {
				if v.Format.Name != format || v.Activation != kernels.DefaultActivation(format) || v.ISA == kernels.Go {
					continue
				}
				b.Run(fmt.Sprintf("format=%s/n=%d/variant=%s", format, n, v.Name), func(b *testing.B) {
					if err := v.Available(); err != nil {
						b.Skip(err)
					}
					timeBatch(b, v, n)
				})
			}
		}
	}
}

func timeBatch(b *testing.B, v *kernels.Variant, n int) {
	const rows, cols, chunk = 512, 2048, 64
	rng := rand.New(rand.NewPCG(3, 4))
	m, err := v.Pack(kerneltest.Tensor(b, v.Format, rows, cols, rng), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var a kernels.Activations
	a.Prepare(v, normal(rng, n*cols), n, cols)
	dst := make([]float32, n*rows)
	b.ResetTimer()
	for range b.N {
		for r := 0; r < rows; r += chunk {
			v.Rows(dst, m, &a, r, r+chunk)
		}
	}
	b.ReportMetric(2*float64(n*rows*cols)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
	b.ReportMetric(0, "ns/op")
}

// normal returns n values of a normal distribution.
func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// BenchmarkPackedTernaryDenseForward is a 512×512 layer of ternary_u32
// weights, activation quantization included, on one thread.
func BenchmarkPackedTernaryDenseForward(b *testing.B) {
	const n = 512
	v, err := kernels.Best("ternary_u32")
	if err != nil {
		b.Fatal(err)
	}
	m, err := v.Pack(kerneltest.Tensor(b, v.Format, n, n, rand.New(rand.NewPCG(1, 2))), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	pool := kernels.NewPool(1)
	defer pool.Close()
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(i%17) - 8
	}
	pool.MatVec(y, v, m, x)
	b.ReportAllocs()
	for b.Loop() {
		pool.MatVec(y, v, m, x)
	}
}
