package lm

import (
	"fmt"
	"testing"
)

// BenchmarkPass is the forward and backward pass of models as large as the default
// ones, on one thread.
func BenchmarkPass(b *testing.B) {
	for _, f := range formsOf[:2] {
		b.Run(fmt.Sprintf("form=%s", f.form.Name), func(b *testing.B) {
			s := tiny(b, f.architecture, f.form, f.embedding, 256, 512)
			s.Config.Layers, s.Config.FFN, s.Config.Vocab = 6, 768, 2048
			m := newModel(b, s, 1)
			ids := randomTokens(s.Length, s.Config.Vocab)
			m.Pass(ids, ids)
			*m.Time = Stopwatch{}
			for b.Loop() {
				m.Pass(ids, ids)
			}
			for p := range parts {
				b.ReportMetric(100*m.Time.Spent[p].Seconds()/m.Time.Total().Seconds(), p.String()+"-%")
			}
			b.ReportMetric(float64(b.N*len(ids))/b.Elapsed().Seconds(), "tok/s")
		})
	}
}
