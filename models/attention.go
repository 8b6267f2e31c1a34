package models

import (
	"math"

	"onebit/kernels"
)

// attention computes softmax(q·Kᵀ/√d)·V (Vaswani et al., arXiv:1706.03762)
// with grouped queries: consecutive query heads share a key and value head.
// Both products are matrix-vector products on tiles of the cache.
//
// A position's scores lie tile by tile, and in a tile query head by query
// head, which is how both products want them: [tile][head of the group][128].
type attention struct {
	acts   kernels.Activations
	matrix kernels.Matrix
	scores []float32
	part   []float32 // [head of the group][width]: what a tile adds
}

func (s *Session) newAttention() *attention {
	group := s.group()
	tiles := (s.cache.capacity + cacheTile - 1) / cacheTile
	a := &attention{
		scores: make([]float32, tiles*group*cacheTile),
		part:   make([]float32, group*s.cache.dim),
	}
	a.matrix.Format, a.matrix.Layout, a.matrix.Scale = s.cache.format, kernels.Native, 1
	return a
}

// group is the number of query heads that share keys and values.
func (s *Session) group() int { return s.model.Config.Heads / s.model.Config.KVHeads }

// head writes what the queries q of a group, at a position of a block, get
// from key and value head number head: dst and q are group × width.
func (a *attention) head(dst, q []float32, s *Session, head, position int) {
	kv, v, group := s.cache, s.cacheVariant, s.group()
	tileLen := group * cacheTile
	scores := a.scores[:(position/cacheTile+1)*tileLen]
	for t := 0; t*tileLen < len(scores); t++ {
		k, _ := kv.tile(t, s.block, head)
		a.matrix.Rows, a.matrix.Cols, a.matrix.Data = cacheTile, kv.dim, k
		a.acts.Prepare(v, q, group, kv.dim)
		v.Rows(scores[t*tileLen:][:tileLen], &a.matrix, &a.acts, 0, min(position+1-t*cacheTile, cacheTile))
	}
	for g := range group {
		softmax(scores, g*cacheTile, tileLen, position+1, s.scoreScale)
	}
	clear(dst)
	for t := 0; t*tileLen < len(scores); t++ {
		_, values := kv.tile(t, s.block, head)
		a.matrix.Rows, a.matrix.Cols, a.matrix.Data = kv.dim, cacheTile, values
		a.acts.Prepare(v, scores[t*tileLen:][:tileLen], group, cacheTile)
		v.Rows(a.part, &a.matrix, &a.acts, 0, kv.dim)
		for i, x := range a.part {
			dst[i] += x
		}
	}
}

// softmax turns n scores into weights, in place: those at first, first+1 … in
// runs of 128 that begin stride apart. What a last run has beyond them
// becomes zero.
func softmax(scores []float32, first, stride, n int, scale float32) {
	top := float32(math.Inf(-1))
	for at, left := first, n; left > 0; at, left = at+stride, left-cacheTile {
		for _, x := range scores[at:][:min(left, cacheTile)] {
			if x > top {
				top = x
			}
		}
	}
	var sum float64
	for at, left := first, n; left > 0; at, left = at+stride, left-cacheTile {
		run := scores[at:][:cacheTile]
		used := run[:min(left, cacheTile)]
		for i, x := range used {
			e := expFloat32(float32((x - top) * scale))
			used[i] = e
			sum += float64(e)
		}
		clear(run[len(used):])
	}
	inverse := float32(1 / sum)
	for at, left := first, n; left > 0; at, left = at+stride, left-cacheTile {
		run := scores[at:][:min(left, cacheTile)]
		for i := range run {
			run[i] *= inverse
		}
	}
}
