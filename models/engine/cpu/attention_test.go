package cpu

import (
	"fmt"
	"testing"

	"onebit/formats"
	"onebit/kernels"
	"onebit/models/engine"
)

// newTestEngine returns an engine without weights.
func newTestEngine(t testing.TB, opt Options) *Engine {
	t.Helper()
	e, err := newEngine(noSource{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// noSource has no tensors.
type noSource struct{ engine.Source }

func (noSource) InPlace() bool { return true }

func newTestStream(t testing.TB, e *Engine, opt engine.StreamOptions) *stream {
	t.Helper()
	s, err := e.NewStream(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*stream)
}

// BenchmarkAttention times the attention of Bonsai-1.7B's heads, for a token
// and for a batch of a prompt, after so many positions. Eight blocks take
// turns, so that keys and values come from memory as they do in a model.
func BenchmarkAttention(b *testing.B) {
	const heads, dim = 16, 128
	kv := engine.KV{Heads: 8, Dim: dim}
	e := newTestEngine(b, Options{})
	states := make([]engine.State, 8)
	for i := range states {
		states[i] = kv
	}
	for _, format := range []*formats.Type{formats.F16, formats.Q8_0} {
		for _, depth := range []int{2048, 8192} {
			for _, columns := range []int{1, 128} {
				s := newTestStream(b, e, engine.StreamOptions{States: states, Context: depth + columns, Batch: 128, Cache: format})
				q, k, v, out := s.Buffer(heads*dim), s.Buffer(kv.Heads*dim), s.Buffer(kv.Heads*dim), s.Buffer(heads*dim)
				for i, x := range []engine.Buffer{q, k, v} {
					x := x.(*buffer)
					x.resize(columns)
					for j := range x.data {
						x.data[j] = float32(j%(7-2*i)) - 2
					}
				}
				fillCache(s, k.(*buffer).column(0), v.(*buffer).column(0), depth)
				s.Begin(columns)
				b.Run(fmt.Sprintf("cache=%s/depth=%d/columns=%d", format.Name, depth, columns), func(b *testing.B) {
					for b.Loop() {
						for block := range states {
							s.Enter(block)
							s.Attend("attn", out, q, k, v)
						}
					}
					seconds := b.Elapsed().Seconds() / float64(b.N*len(states))
					b.ReportMetric(seconds*1e6/float64(columns), "µs/token")
					b.ReportMetric(float64(s.cache.bytes(depth+columns))/seconds, "cache-B/s")
				})
			}
		}
	}
}

// fillCache gives every position the same keys and values.
func fillCache(s *stream, k, v []float32, positions int) {
	var acts kernels.Activations
	for block := range s.cache.blocks {
		for p := range positions {
			s.cache.put(block, p, k, v, &acts)
		}
	}
	s.position = positions
}
