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

// twoBitFormats are those that BenchmarkTwoBitRead times.
var twoBitFormats = formatsThat(twoBit)

// BenchmarkColumns times one thread on weights in each level of memory with N columns, by the
// variant. The activations are prepared beforehand. 2 operations are a multiplication and an addition.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkColumns/format=i2_s/mem=L2/columns=1$/'
func BenchmarkColumns(b *testing.B) {
	for _, format := range formatsThat(func(f kernels.Format) bool { return f.For(kernels.Projection) }) {
		for _, mem := range []struct {
			name  string
			bytes int
		}{{"L2", 256 << 10}, {"L3", 32 << 20}, {"DRAM", 256 << 20}} {
			var tensor *formats.Tensor // made once, if a benchmark wants it
			free := func() error { return nil }
			for _, n := range []int{1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 128, 512} {
				for _, v := range kernels.Variants() {
					if v.Format.Name != format || !timed(v) {
						continue
					}
					b.Run(fmt.Sprintf("format=%s/mem=%s/columns=%d/variant=%s/act=%s", format, mem.name, n, v.Name, v.Scheme), func(b *testing.B) {
						if err := v.Available(); err != nil {
							b.Skip(err)
						}
						if tensor == nil {
							tensor, free = repeated(b, v.Format, mem.bytes, 2048)
						}
						timeBatch(b, v, tensor, n)
					})
				}
			}
			if err := free(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// timed reports whether v is SIMD and of its format's usual scheme, or of q8_32.
func timed(v *kernels.Variant) bool {
	return v.ISA != kernels.Go && (v.Scheme == kernels.FormatOf(v.Format).Scheme || v.Scheme == kernels.Q8Per32)
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

func timeBatch(b *testing.B, v *kernels.Variant, tensor *formats.Tensor, n int) {
	rows, cols := tensor.Dims()
	m, err := v.Pack(tensor, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var a kernels.Activations
	v.Prepare(&a, kerneltest.Normal(rand.New(rand.NewPCG(3, 4)), n*cols), n, cols)
	dst := make([]float32, n*rows)
	const chunk = 64 // rows, as a pool hands them out
	b.ResetTimer()
	for range b.N {
		for r := 0; r < rows; r += chunk {
			v.Rows(dst, m, &a, r, min(r+chunk, rows))
		}
	}
	b.ReportMetric(float64(len(m.Data))*float64(b.N)/b.Elapsed().Seconds()/1e9, "weight-GB/s")
	b.ReportMetric(2*float64(n*rows*cols)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTernaryPrompt times the products of a layer of BitNet-2B-4T, those of one
// submission together, with N columns and all threads, quantization included. The
// weights are in the caches as they are in a prompt: those of 4 layers by turns.
func BenchmarkTernaryPrompt(b *testing.B) {
	const layers = 4
	for _, v := range kernels.Variants() {
		if v.Format != formats.I2_S || v.Scheme != kernels.Q8Row || v.ISA == kernels.Go {
			continue
		}
		for _, op := range []struct {
			name string
			cols int
			rows []int
		}{
			{"attn_qkv", 2560, []int{2560, 640, 640}},
			{"attn_output", 2560, []int{2560}},
			{"ffn_gate_up", 2560, []int{6912, 6912}},
			{"ffn_down", 6912, []int{2560}},
		} {
			b.Run(fmt.Sprintf("format=%s/variant=%s/op=%s", v.Format.Name, v.Name, op.name), func(b *testing.B) {
				if err := v.Available(); err != nil {
					b.Skip(err)
				}
				pool := kernels.NewPool(0)
				defer pool.Close()
				submissions := make([][]kernels.Product, layers)
				rng := rand.New(rand.NewPCG(1, 2))
				macs := 0
				for i := range submissions {
					for _, rows := range op.rows {
						m, err := v.Pack(kerneltest.Tensor(b, v.Format, rows, op.cols, rng), pool)
						if err != nil {
							b.Fatal(err)
						}
						defer m.Close()
						submissions[i] = append(submissions[i], kernels.Product{Variant: v, Matrix: m})
						macs += rows * op.cols
					}
				}
				const most = 128
				x := kerneltest.Normal(rng, most*op.cols)
				var dst [3][]float32
				for i, rows := range op.rows {
					dst[i] = make([]float32, most*rows)
				}
				for _, n := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, most} {
					b.Run(fmt.Sprintf("columns=%d", n), func(b *testing.B) {
						for range b.N {
							for _, products := range submissions {
								for i := range products {
									products[i].Dst = dst[i][:n*op.rows[i]]
								}
								pool.Do(x[:n*op.cols], n, products...)
							}
						}
						b.ReportMetric(2*float64(macs*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
						b.ReportMetric(0, "ns/op")
					})
				}
			})
		}
	}
}

// BenchmarkQ1Prompt times prompts of N tokens on native weights, as large as the
// layers of Bonsai-1.7B: pairs of products with 2048×2048 and 6144×2048, from DRAM.
func BenchmarkQ1Prompt(b *testing.B) {
	const (
		cols, most = 2048, 32
		pairs      = 28 * 3
	)
	for _, v := range kernels.Variants() {
		if v.Format != formats.Q1_0_g128 || v.Scheme != kernels.Q8Per128 || v.ISA == kernels.Go || v.Layout != kernels.Native {
			continue
		}
		b.Run(fmt.Sprintf("format=%s/variant=%s", v.Format.Name, v.Name), func(b *testing.B) {
			if err := v.Available(); err != nil {
				b.Skip(err)
			}
			pool := kernels.NewPool(0)
			defer pool.Close()
			tensor, free := repeated(b, v.Format, pairs*(2048+6144)*cols/128*18, cols)
			defer free()
			var matrices []*kernels.Matrix
			for range pairs {
				for _, rows := range []int{2048, 6144} {
					size := rows * cols / 128 * 18
					part := &formats.Tensor{Name: "part", Type: v.Format, Shape: []int{rows, cols}, Data: tensor.Data[:size]}
					tensor.Data = tensor.Data[size:]
					m, err := v.Pack(part, pool)
					if err != nil {
						b.Fatal(err)
					}
					matrices = append(matrices, m)
				}
			}
			x := kerneltest.Normal(rand.New(rand.NewPCG(3, 4)), most*cols)
			dst := make([]float32, most*6144)
			for _, n := range []int{2, 4, 5, 6, 8, 13, 16, most} {
				b.Run(fmt.Sprintf("columns=%d", n), func(b *testing.B) {
					for range b.N {
						for _, m := range matrices {
							pool.MatMul(dst[:n*m.Rows], v, m, x[:n*cols], n)
						}
					}
				})
			}
		})
	}
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
