package models

import (
	"fmt"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/models/arch"
)

// BenchmarkAttention times the attention of Bonsai-1.7B's heads, for a token
// and for a batch of a prompt, after so many positions. Eight blocks take
// turns, so that keys and values come from memory as they do in a model.
func BenchmarkAttention(b *testing.B) {
	c := arch.Config{Layers: 8, Heads: 16, KVHeads: 8, HeadDim: 128, Context: 1 << 14}
	pool := kernels.NewPool(0)
	defer pool.Close()
	m := &Model{Config: c, pool: pool}
	for _, format := range []*formats.Type{formats.F16, formats.Q8_0} {
		for _, depth := range []int{2048, 8192} {
			for _, columns := range []int{1, 128} {
				s, err := m.NewSession(SessionOptions{Context: depth + columns, Cache: format})
				if err != nil {
					b.Fatal(err)
				}
				s.resize(columns)
				fillCache(s, depth)
				b.Run(fmt.Sprintf("cache=%s/depth=%d/columns=%d", format.Name, depth, columns), func(b *testing.B) {
					for b.Loop() {
						for s.block = range c.Layers {
							s.attend("attn")
						}
					}
					seconds := b.Elapsed().Seconds() / float64(b.N*c.Layers)
					b.ReportMetric(seconds*1e6/float64(columns), "µs/token")
					b.ReportMetric(float64(s.cache.bytes(depth+columns))/seconds, "cache-B/s")
				})
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// fillCache gives every position keys and values, and the batch queries.
func fillCache(s *Session, positions int) {
	for i := range s.q {
		s.q[i] = float32(i%7) - 3
	}
	for i := range s.k {
		s.k[i], s.v[i] = float32(i%5)-2, float32(i%3)-1
	}
	one := s.cache.heads * s.cache.dim
	var acts kernels.Activations
	for block := range s.cache.blocks {
		for p := range positions {
			s.cache.put(block, p, s.k[:one], s.v[:one], &acts)
		}
	}
	s.position = positions
}
