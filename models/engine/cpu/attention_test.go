package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"onebit/formats"
	"onebit/models/engine"
)

// newTestEngine returns an engine without weights.
func newTestEngine(t testing.TB, opt Options) *Engine {
	t.Helper()
	e, err := opt.Open(noSource{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e.(*Engine)
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
	for _, format := range []*formats.Type{formats.F32, formats.F16, formats.Q8_0, formats.Q4_0} {
		for _, depth := range []int{1024, 4096, 8192} {
			s := newTestStream(b, e, engine.StreamOptions{States: states, Context: depth + 128, Batch: 128, Cache: format})
			q, k, v, out := s.Buffer(heads*dim), s.Buffer(kv.Heads*dim), s.Buffer(kv.Heads*dim), s.Buffer(heads*dim)
			for _, columns := range []int{1, 128} {
				for i, x := range []engine.Buffer{q, k, v} {
					x := x.(*buffer)
					x.resize(columns)
					for j := range x.data {
						x.data[j] = float32(j%(7-2*i)) - 2
					}
				}
				if columns == 1 {
					fillCache(s, k.(*buffer).column(0), v.(*buffer).column(0), depth)
				}
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
	var w cacheWriter
	for block := range s.cache.blocks {
		for p := range positions {
			s.cache.put(block, p, k, v, &w)
		}
	}
	s.position = positions
}

// Attention over a long text is as near to that in float64 as the rounding of
// single numbers lets it be, of a batch's first and last columns.
func TestLongAttention(t *testing.T) {
	const heads, dim, batch, positions = 4, 64, 50, 400
	for _, v := range AllVectors() {
		if v.Available() != nil {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			e := newTestEngine(t, Options{Threads: 2, Kernels: Kernels{Vectors: v}})
			s := newTestStream(t, e, engine.StreamOptions{
				States: []engine.State{engine.KV{Heads: heads / 2, Dim: dim}}, Context: positions, Batch: batch, Cache: formats.F32,
			})
			q, k, val, out := s.Buffer(heads*dim), s.Buffer(heads/2*dim), s.Buffer(heads/2*dim), s.Buffer(heads*dim)
			var keys, values []float32 // of all positions
			var wrong, all float64
			for range positions / batch {
				for _, b := range []engine.Buffer{q, k, val} {
					x := make([]float32, batch*b.Width())
					for i := range x {
						x[i] = float32(2 * rng.NormFloat64())
					}
					s.Write(b, x)
				}
				keys, values = append(keys, k.(*buffer).data...), append(values, val.(*buffer).data...)
				s.Begin(batch)
				s.Enter(0)
				s.Attend("attn", out, q, k, val)
				for _, c := range []int{0, batch - 1} {
					want := exactAttention(q.(*buffer).column(c), keys, values, dim, s.Position()+c+1)
					for i, x := range out.(*buffer).column(c) {
						wrong += (float64(x) - want[i]) * (float64(x) - want[i])
						all += want[i] * want[i]
					}
				}
				s.End()
			}
			t.Logf("NMSE %.3g", wrong/all)
			if !(wrong/all < 3e-13) {
				t.Errorf("an NMSE of %.3g, want less than 3e-13", wrong/all)
			}
		})
	}
}

// exactAttention answers a column's queries in float64; two heads share keys.
func exactAttention(q, keys, values []float32, dim, positions int) []float64 {
	out := make([]float64, len(q))
	for at := 0; at < len(q); at += dim {
		shared := at / dim / 2 * dim
		weights, sum := make([]float64, positions), 0.0
		for p := range weights {
			for d, x := range q[at:][:dim] {
				weights[p] += float64(x) * float64(keys[p*len(q)/2+shared+d])
			}
			weights[p] = math.Exp(weights[p] / math.Sqrt(float64(dim)))
			sum += weights[p]
		}
		for p, w := range weights {
			for d := range dim {
				out[at+d] += w / sum * float64(values[p*len(q)/2+shared+d])
			}
		}
	}
	return out
}
