package lm

import (
	"fmt"
	"testing"

	"onebit/models/arch"
	"onebit/models/train"
)

// BenchmarkAdvance is a step of each recipe, on random text: tokens per second, what share its parts
// have, and floating-point operations of the matrix products of projections and head
// (six a weight and token) per second of the whole step.
func BenchmarkAdvance(b *testing.B) {
	for _, r := range Recipes() {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("recipe=%s/threads=%d", r.Base, threads), func(b *testing.B) {
				table, err := arch.Lookup(r.Architecture)
				if err != nil {
					b.Fatal(err)
				}
				s, err := r.shape(table)
				if err != nil {
					b.Fatal(err)
				}
				m := newModel(b, s, threads)
				o := train.NewOptimizer(m.build.Pool, train.AdamW{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}, m.Params())
				ids := randomTokens(r.Pass*r.Context, r.Vocab)
				step := func() {
					train.ZeroGrad(m.Params())
					m.Freeze()
					loss := 0.0
					for range r.Batch / r.Pass {
						loss = m.Pass(ids, ids)
					}
					m.Thaw()
					defer m.Time.start(Update)()
					if _, err := o.Step(1, 1e-4, loss); err != nil {
						b.Fatal(err)
					}
				}
				step()
				*m.Time = Stopwatch{}
				for b.Loop() {
					step()
				}
				for p := range parts {
					b.ReportMetric(100*m.Time.Spent[p].Seconds()/m.Time.Total().Seconds(), p.String()+"-%")
				}
				tokens := float64(b.N * r.Batch * r.Context)
				b.ReportMetric(tokens/b.Elapsed().Seconds(), "tok/s")
				b.ReportMetric(6*float64(m.Weights())*tokens/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
