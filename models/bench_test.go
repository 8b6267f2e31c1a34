package models_test

import (
	"fmt"
	"testing"

	"onebit/models"
)

// BenchmarkModel times the tests of llama-bench, prompt processing (pp) and
// text generation (tg), on tiny models: what the engine costs around the
// matrix products, which take little of their time.
func BenchmarkModel(b *testing.B) {
	const tokens = 64
	for _, name := range []string{"tiny", "tiny-bitnet"} {
		x := newFixture(b, must(models.LookupPreset(name)))
		for _, threads := range []int{1, 2} {
			m := x.open(b, models.Options{Threads: threads})
			s := session(b, m, models.SessionOptions{})
			ids := text(tokens, m.Config.Vocab)
			run := func(test string, f func()) {
				b.Run(fmt.Sprintf("model=%s/test=%s/threads=%d", name, test, threads), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						s.Truncate(0)
						f()
					}
					b.ReportMetric(float64(tokens*b.N)/b.Elapsed().Seconds(), "tok/s")
				})
			}
			run("pp64", func() { must(s.Prefill(ids)) })
			run("tg64", func() {
				for _, id := range ids {
					must(s.Decode(id))
				}
			})
		}
	}
}
