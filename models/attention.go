package models

import (
	"math"

	"onebit/kernels"
)

// attention computes softmax(q·Kᵀ/√d)·V (Vaswani et al., arXiv:1706.03762)
// with grouped queries: consecutive query heads share a key and value head.
// It holds what one thread needs for that.
type attention struct {
	acts   kernels.Activations
	matrix kernels.Matrix
	scores []float32 // one per position
}

func (s *Session) newAttention() *attention {
	a := &attention{scores: make([]float32, s.cache.capacity)}
	a.matrix.Format, a.matrix.Layout, a.matrix.Scale = s.cache.format, kernels.Native, 1
	a.matrix.Cols = s.cache.dim
	return a
}

// group is the number of query heads that share keys and values.
func (s *Session) group() int { return s.model.Config.Heads / s.model.Config.KVHeads }

// head writes to dst what query q gets from key and value head number head of
// the block in progress, at a position. Scores are the matrix-vector product
// of the keys with the query.
func (a *attention) head(dst, q []float32, s *Session, head, position int) {
	kv, scores := s.cache, a.scores[:position+1]
	a.acts.Prepare(s.cacheVariant, q, 1, kv.dim)
	for from := 0; from < len(scores); from += cacheTile {
		rows := min(len(scores)-from, cacheTile)
		a.matrix.Rows, a.matrix.Data = rows, kv.keys(from/cacheTile, s.block, head)[:rows*kv.dim*kv.width]
		s.cacheVariant.Rows(scores[from:from+rows], &a.matrix, &a.acts, 0, rows)
	}
	softmax(scores, s.scoreScale)
	clear(dst)
	for from := 0; from < len(scores); from += cacheTile {
		kv.weighted(dst, scores[from:min(from+cacheTile, len(scores))], kv.values(from/cacheTile, s.block, head))
	}
}

// softmax turns scores, times scale, into weights in place. The sum is in
// float64. A score that is NaN makes every weight NaN.
func softmax(scores []float32, scale float32) {
	top := float32(math.Inf(-1))
	for _, x := range scores {
		if x > top {
			top = x
		}
	}
	var sum lanes
	exp(&sum, scores, top, scale)
	inverse := float32(1 / sum.fold())
	for i := range scores {
		scores[i] *= inverse
	}
}
