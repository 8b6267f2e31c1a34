package cpu

import "onebit/kernels"

// attention computes softmax(q·Kᵀ/√d)·V (Vaswani et al., arXiv:1706.03762)
// with grouped queries: consecutive query heads share a key and value head.
// It holds what one thread needs for that.
type attention struct {
	acts   kernels.Activations // of a cache that quantizes
	rows   []float32           // attendSpan × width: keys or values
	scores []float32           // queries × positions
	// normalizers are what the weights of each query are to be multiplied with.
	normalizers []float32
}

const (
	// attendSpan is how many positions are decoded at a time, to meet all
	// queries of a task while they are in the first-level cache.
	attendSpan = 32
	// attendRun is how many columns of a head are one task.
	attendRun = 16
)

func (s *stream) newAttention() *attention {
	queries := min(attendRun, s.batch) * s.group()
	return &attention{
		rows:        make([]float32, attendSpan*s.cache.dim),
		scores:      make([]float32, queries*roundUp(s.cache.capacity, attendSpan)),
		normalizers: make([]float32, queries),
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// answer writes to s.dst what the queries s.q of columns [from, end) get, those
// of so many heads from one on, which share keys and values. What is wanted
// from the cache next is fetched meanwhile.
func (a *attention) answer(s *stream, head, heads, from, end int) {
	kv, kvHead, dim, width := s.cache, head/s.group(), s.cache.dim, s.q.width
	last := s.position + end // how many positions the last column looks at
	stride := roundUp(last, attendSpan)
	// Only those who call Start with more than a session's batch make them grow.
	a.scores, a.normalizers = grow(a.scores, (end-from)*heads*stride), grow(a.normalizers, (end-from)*heads)
	for at := 0; at < last; at += attendSpan {
		keys := kv.floats(kv.keys(at/cacheTile, s.block, kvHead), at, min(attendSpan, last-at), a.rows)
		ahead := kv.values(0, s.block, kvHead)
		if next := at + attendSpan; next < last {
			ahead = kv.keys(next/cacheTile, s.block, kvHead)[next%cacheTile*kv.rowBytes:]
		}
		for c := max(from, at-s.position); c < end; c++ {
			// A few rows more are no slower than rows that fill no kernel's tile.
			rows := min(attendSpan, roundUp(s.position+c+1-at, 8))
			for h := range heads {
				s.vec.scores(a.scores[((c-from)*heads+h)*stride+at:][:rows], s.q.data[c*width+(head+h)*dim:][:dim], keys, ahead)
				ahead = nil // fetched once
			}
		}
	}
	for c := from; c < end; c++ {
		for h := range heads {
			i := (c-from)*heads + h
			a.normalizers[i] = s.vec.softmax(a.scores[i*stride:][:s.position+c+1], s.scoreScale)
			clear(s.dst.data[c*width+(head+h)*dim:][:dim])
		}
	}
	for at := 0; at < last; at += attendSpan {
		values := kv.floats(kv.values(at/cacheTile, s.block, kvHead), at, min(attendSpan, last-at), a.rows)
		ahead := kv.keys(0, s.block, (kvHead+1)%kv.heads)
		if next := at + attendSpan; next < last {
			ahead = kv.values(next/cacheTile, s.block, kvHead)[next%cacheTile*kv.rowBytes:]
		}
		for c := max(from, at-s.position); c < end; c++ {
			rows := min(attendSpan, s.position+c+1-at)
			for h := range heads {
				weights := a.scores[((c-from)*heads+h)*stride+at:][:rows]
				s.vec.weighted(s.dst.data[c*width+(head+h)*dim:][:dim], weights, values, ahead)
				ahead = nil
			}
		}
	}
	for c := from; c < end; c++ {
		for h := range heads {
			by := a.normalizers[(c-from)*heads+h]
			dst := s.dst.data[c*width+(head+h)*dim:][:dim]
			for i := range dst {
				dst[i] *= by
			}
		}
	}
}

// softmax turns scores, times scale, into weights in place, of which it
// returns the reciprocal of the sum. The sum is in float64. A score that is
// NaN makes that NaN.
func (v *Vectors) softmax(scores []float32, scale float32) (normalizer float32) {
	return float32(1 / v.exp(lanes{}, scores, v.maximum(scores), scale).fold())
}
