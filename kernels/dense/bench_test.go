package dense

import (
	"fmt"
	"testing"

	"onebit/kernels"
)

// BenchmarkProducts reports GFLOP/s, a multiply-add being two. What the machine can do at most is
// what `go test ./bench/roofline -bench Float` reports.
func BenchmarkProducts(b *testing.B) {
	for _, v := range Variants() {
		if v.Available() != nil {
			continue
		}
		for _, threads := range []int{1, 2} {
			pool := kernels.NewPool(threads)
			b.Cleanup(pool.Close)
			for _, s := range [][3]int{{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 256, 256}, {2048, 1024, 256}, {2048, 256, 1024}, {2048, 4096, 256}} {
				tokens, out, in := s[0], s[1], s[2]
				x, w, y := Of(make([]float32, tokens*in), tokens, in), Of(make([]float32, out*in), out, in), Of(make([]float32, tokens*out), tokens, out)
				mul := NewMultiplier(v, pool)
				for shape, product := range map[string]Product{
					"forward":  {C: y, A: x, B: w.T()},
					"backward": {C: x, A: y, B: w},
					"gradient": {C: w, A: y.T(), B: x, Add: true},
				} {
					b.Run(fmt.Sprintf("variant:%s/shape:%s/tokens:%d/out:%d/in:%d/threads:%d", v.Name, shape, tokens, out, in, threads), func(b *testing.B) {
						for b.Loop() {
							mul.Do(product)
						}
						b.ReportMetric(2*float64(tokens*out*in)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					})
				}
			}
		}
	}
}
