package models_test

import (
	"fmt"
	"testing"

	"onebit/models"
	"onebit/models/gopher"
)

// BenchmarkColumns is what a pass of several tokens costs the models inside the
// program, behind 128 others: of one text, as a draft is verified, and of as many texts.
// Most of their products take as little as it takes to share them among threads.
//
//	go test ./models -run '^$' -bench BenchmarkColumns
func BenchmarkColumns(b *testing.B) {
	for _, name := range gopher.Names() {
		m := must(models.Load(b.Context(), must(gopher.Open(name)), models.Options{}))
		defer m.Close()
		ids := text(128, m.Config.Vocab)
		var texts []*models.Session
		for range 8 {
			s := must(m.NewSession(models.SessionOptions{Context: 256}))
			defer s.Close()
			must(s.Prefill(b.Context(), ids))
			texts = append(texts, s)
		}
		group := must(m.NewGroup())
		defer group.Close()
		goBack := func(b *testing.B, texts []*models.Session) {
			for _, s := range texts {
				if err := s.Truncate(len(ids)); err != nil {
					b.Fatal(err)
				}
			}
		}
		for _, n := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("model=%s/draft=%d", name, n-1), func(b *testing.B) {
				for b.Loop() {
					for _, err := range texts[0].Logits(ids[:n]) {
						if err != nil {
							b.Fatal(err)
						}
					}
					goBack(b, texts[:1])
				}
			})
			b.Run(fmt.Sprintf("model=%s/texts=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					must(group.Decode(texts[:n], ids[:n]))
					goBack(b, texts[:n])
				}
			})
		}
	}
}
