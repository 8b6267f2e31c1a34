package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/kernels/kerneltest"
)

// BenchmarkQ1 times one thread on weights in each level of memory, by the
// variant. The activations are prepared beforehand.
//
//	go test ./kernels -run '^$' -bench 'BenchmarkQ1/format=q1_0_g128/act=q8_128/'
func BenchmarkQ1(b *testing.B) {
	for _, act := range []kernels.Scheme{kernels.Q8Per128, kernels.Q8Row, kernels.Q8Per32} {
		for _, mem := range []struct {
			name  string
			bytes int
		}{{"L2", 1 << 20}, {"L3", 32 << 20}, {"DRAM", 512 << 20}} {
			b.Run(fmt.Sprintf("format=%s/act=%s/mem=%s", formats.Q1_0_g128.Name, act, mem.name), func(b *testing.B) { benchmarkQ1(b, act, mem.bytes) })
		}
	}
}

func benchmarkQ1(b *testing.B, act kernels.Scheme, bytes int) {
	var tensor *formats.Tensor // made once, if a benchmark wants it
	for _, v := range kernels.Variants() {
		if v.Format != formats.Q1_0_g128 || v.Scheme != act || v.Name == "scalar" || v.Name == "reference" {
			continue
		}
		b.Run("variant="+v.Name, func(sub *testing.B) {
			if err := v.Available(); err != nil {
				sub.Skip(err)
			}
			if tensor == nil {
				var free func() error
				tensor, free = repeated(sub, v.Format, bytes, 2048)
				b.Cleanup(func() { free() })
			}
			timeRows(sub, v, tensor)
		})
	}
}

// BenchmarkQ1Batch times one thread on batches, 2·rows·cols·N operations each,
// by the variant. The activations are prepared beforehand.
func BenchmarkQ1Batch(b *testing.B) {
	const rows, cols = 512, 2048
	for _, n := range []int{1, 2, 4, 8, 16, 512} {
		for _, v := range kernels.Variants() {
			if v.Format != formats.Q1_0_g128 || v.Scheme != kernels.Q8Per128 && v.Scheme != kernels.Q8Per32 || v.ISA == kernels.Go {
				continue
			}
			b.Run(fmt.Sprintf("format=%s/act=%s/columns=%d/variant=%s", v.Format.Name, v.Scheme, n, v.Name), func(b *testing.B) {
				if err := v.Available(); err != nil {
					b.Skip(err)
				}
				rng := rand.New(rand.NewPCG(1, 2))
				m, err := v.Pack(kerneltest.Tensor(b, v.Format, rows, cols, rng), nil)
				if err != nil {
					b.Fatal(err)
				}
				defer m.Close()
				x := make([]float32, n*cols)
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				var a kernels.Activations
				v.Prepare(&a, x, n, cols)
				dst := make([]float32, n*rows)
				b.ResetTimer()
				for range b.N {
					v.Rows(dst, m, &a, 0, rows)
				}
				b.ReportMetric(2*float64(rows)*float64(cols)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gop/s")
				b.ReportMetric(0, "ns/op")
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
