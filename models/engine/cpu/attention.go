package cpu

import (
	"math"

	"onebit/internal/math32"
	"onebit/kernels"
)

// attention computes softmax(q·Kᵀ/√d)·V (Vaswani et al., arXiv:1706.03762)
// with grouped queries: consecutive query heads share a key and value head.
// Keys and values are gone through once, a tile after the other, with the
// softmax of the tiles so far (Milakov and Gimelshein, arXiv:1805.02867; Dao et
// al., FlashAttention, arXiv:2205.14135). Tiles lie where positions say, so that
// results do not depend on what is computed together.
//
// It holds what one thread needs for that. A row is a query: of a column, and
// of one of the heads that share keys; those of a column lie together.
type attention struct {
	writer  cacheWriter
	reader  cacheReader
	queries []float32  // rows × width
	answers []float32  // rows × width: of the tiles so far
	scores  []float32  // rows × cacheTile
	states  []softmax  // rows
	tops    []float32  // rows: the largest scores of a tile
	sums    []float32  // rows: of a tile's weights
	shorter *attention // of cut
	// Over keys and values in floats.
	tiles []float32 // rows × width: what a tile adds up to
	// Over keys and values in int8.
	queryCodes []byte   // rows × width / 32 × queryBytes
	bounds     []uint32 // of a tile's scales in each block, as bits
	weighing
}

// A softmax is how far a row has come. Sums are of exp((score-top)·scale).
type softmax struct {
	top float32 // the largest score
	sum float64
}

const (
	// attendSpan is how many positions are decoded at a time, to meet all
	// queries of a task while they are in the first-level cache.
	attendSpan = 32
	// attendRows is how many queries are one task, in a long batch.
	attendRows = 128
	// meetRows is how many rows meet values together, if they see the same ones.
	meetRows = 12
)

// attendRun is how many columns are one task, with so many query heads to a key
// head.
func attendRun(group int) int { return max(1, attendRows/group) }

func (s *stream) newAttention() *attention {
	a := &attention{reader: s.cache.newReader()}
	a.resize(s.cache, min(attendRun(s.group()), s.batch)*s.group())
	return a
}

// resize makes room for rows. Only a caller of start with more than a
// session's batch makes it grow.
func (a *attention) resize(kv *cache, rows int) {
	a.queries, a.answers = grow(a.queries, rows*kv.dim), grow(a.answers, rows*kv.dim)
	a.scores, a.states = grow(a.scores, rows*cacheTile), grow(a.states, rows)
	a.tops, a.sums, a.by, a.parts = grow(a.tops, rows), grow(a.sums, rows), grow(a.by, rows), grow(a.parts, rows)
	if kv.int8 {
		a.resizeInt8(rows, kv.dim/q8Len)
	} else {
		a.tiles = grow(a.tiles, rows*kv.dim)
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// start makes rows of the queries of columns [from, end), of so many heads from
// one on.
func (a *attention) start(s *stream, head, heads, from, end int) {
	dim, width := s.cache.dim, s.q.width
	a.resize(s.cache, (end-from)*heads)
	for c := from; c < end; c++ {
		copy(a.queries[(c-from)*heads*dim:][:heads*dim], s.q.data[c*width+head*dim:])
	}
	if s.cache.int8 {
		bytes := dim / q8Len * queryBytes
		for r := range a.states {
			a.writer.acts.Quantize(s.cache.vec.ISA, kernels.Q8Per32, a.queries[r*dim:][:dim], 1, dim)
			packQuery(a.queryCodes[r*bytes:], &a.writer.acts)
		}
	}
	clear(a.answers)
	for r := range a.states {
		a.states[r] = softmax{top: float32(math.Inf(-1))}
	}
}

// answer writes to s.dst what the queries s.q of columns [from, end) get, those
// of so many heads from one on, which share keys and values.
func (a *attention) answer(s *stream, head, heads, from, end int) {
	a.start(s, head, heads, from, end)
	kv, kvHead, dim := s.kept(), head/s.group(), s.cache.dim
	last := s.position + end // how many positions the last column looks at
	window := s.windows[s.block]
	for at := firstTile(s.position+from, window); at < last; at += cacheTile {
		t := tile{
			attention: a, stream: s, heads: heads, first: s.position + from + 1 - at, positions: min(cacheTile, last-at), window: window,
			keys: kv.keys(at/cacheTile, s.block, kvHead), values: kv.values(at/cacheTile, s.block, kvHead),
		}
		if at+cacheTile < last {
			t.next = kv.keys(at/cacheTile+1, s.block, kvHead)
		} else {
			t.next = kv.keys(0, s.block, (kvHead+1)%kv.heads)
		}
		if rows := t.rows(); rows < len(a.states) {
			t.attention = a.cut(rows, dim)
		}
		t.meet()
	}
	for r, state := range a.states {
		by := float32(1 / state.sum)
		s.vec.Scale(s.dst.data[(from+r/heads)*s.dst.width+(head+r%heads)*dim:][:dim], by, a.answers[r*dim:][:dim])
	}
}

// firstTile returns where the first tile begins that a column at a position looks at.
func firstTile(position, window int) int {
	if window == 0 {
		return 0
	}
	return max(0, position+1-window) / cacheTile * cacheTile
}

// cut is a of its first rows.
func (a *attention) cut(rows, dim int) *attention {
	if a.shorter == nil {
		a.shorter = &attention{}
	}
	shorter := a.shorter
	*shorter = *a
	shorter.states, shorter.queries, shorter.answers = a.states[:rows], a.queries[:rows*dim], a.answers[:rows*dim]
	shorter.scores = a.scores[:rows*cacheTile]
	if len(a.queryCodes) > 0 {
		shorter.queryCodes = a.queryCodes[:rows*dim/q8Len*queryBytes]
	}
	return shorter
}

// A tile is what rows meet at a time.
type tile struct {
	*attention
	*stream
	heads        int // rows of a column
	first        int // how many positions the first column sees from the tile's start on; fewer than 1: none
	positions    int // that there are
	window       int // how many positions a row sees; 0: all
	keys, values []byte
	next         []byte // the keys of the next tile
}

// sees returns how many positions of the tile a row sees.
func (t *tile) sees(row int) int { return max(0, min(t.positions, t.first+row/t.heads)) }

// hides returns how many positions at the tile's start a row has behind its window.
func (t *tile) hides(row int) int {
	if t.window == 0 {
		return 0
	}
	return max(0, t.first+row/t.heads-t.window)
}

// rows returns how many rows there are before those that have all of the tile behind
// their window.
func (t *tile) rows() int {
	if t.window == 0 {
		return len(t.states)
	}
	return min(len(t.states), (t.positions+t.window-t.first)*t.heads)
}

// meet takes all rows that see the tile through it.
func (t *tile) meet() {
	from := max(0, 1-t.first) * t.heads // the first row that sees any
	if t.cache.int8 {
		t.meetInt8(from)
		return
	}
	t.score(from)
	if t.cache.halves {
		t.soften(from)
		for r, part := range t.parts {
			if part != 1 {
				weights := t.scores[(from+r)*cacheTile:][:cacheTile]
				t.vec.Scale(weights, part, weights)
			}
		}
	} else {
		t.by = t.by[:len(t.states)-from]
		for r := range t.by {
			scores, hidden := t.scores[(from+r)*cacheTile:][:t.sees(from+r)], t.hides(from+r)
			t.by[r] = t.states[from+r].advance(t.vec, scores[hidden:], t.scoreScale)
			clear(scores[:hidden])
		}
	}
	t.weigh(from)
	dim := t.cache.dim
	for r, by := range t.by {
		at := (from + r) * dim
		t.vec.blend(t.answers[at:][:dim], t.tiles[at:][:dim], by)
	}
}

// soften turns the scores of rows, from one on, into weights relative to each row's
// largest of the tile, and joins their sums. It is for keys and values that
// rounding has left less exact than its powers of two.
func (t *tile) soften(from int) {
	for r := from; r < len(t.states) && t.sees(r) < cacheTile; r++ {
		hidden := t.scores[r*cacheTile:][t.sees(r):cacheTile]
		cover(hidden, float32(math.Inf(-1)))
	}
	for r := len(t.states) - 1; r >= from && t.hides(r) > 0; r-- {
		cover(t.scores[r*cacheTile:][:t.hides(r)], float32(math.Inf(-1)))
	}
	rows := len(t.states) - from
	t.by, t.parts = t.by[:rows], t.parts[:rows]
	t.vec.soften(t.scores[from*cacheTile:], t.tops[:rows], t.sums[:rows], t.scoreScale*math.Log2E)
	t.join(t.states[from:])
}

func cover(x []float32, with float32) {
	for i := range x {
		x[i] = with
	}
}

// join counts the sums of a tile in those of the rows, which is what by and parts
// say of their answers.
func (t *tile) join(states []softmax) {
	by, parts := t.by, t.parts
	for r := range states {
		parts[r] = -float32(math.Abs(float64(t.tops[r] - states[r].top)))
	}
	t.vec.ExpSum(parts, parts, 0, t.scoreScale)
	for r := range states {
		s := &states[r]
		by[r] = 1
		if t.tops[r] > s.top {
			s.top, by[r], parts[r] = t.tops[r], parts[r], 1
		}
		s.sum = float64(s.sum*float64(by[r])) + float64(float64(parts[r])*float64(t.sums[r]))
	}
}

// spanOf returns what is decoded together of keys or values, from a position on.
func (t *tile) spanOf(rows []byte, at int) []byte {
	return rows[at*t.cache.rowBytes : min(at+attendSpan, t.positions)*t.cache.rowBytes]
}

// score multiplies the rows with the keys.
func (t *tile) score(from int) {
	dim := t.cache.dim
	for at := 0; at < t.positions; at += attendSpan {
		n := min(attendSpan, t.positions-at)
		ahead := t.spanOf(t.values, 0)
		if at+n < t.positions {
			ahead = t.spanOf(t.keys, at+n)
		}
		scores, queries := t.scores[from*cacheTile+at:], t.queries[from*dim:]
		if t.halves(from) {
			t.vec.scoresF16(scores, queries, t.cache.groups(t.keys, at, n, &t.reader), dim, n, ahead)
		} else {
			t.vec.scores(scores, queries, t.cache.floatKeys(t.keys, at, n, &t.reader), dim, n, ahead)
		}
	}
}

// weigh adds up the values by the rows' weights.
func (t *tile) weigh(from int) {
	dim := t.cache.dim
	clear(t.tiles[from*dim:])
	together := max(1, meetRows/t.heads) * t.heads // whole columns
	for at := 0; at < t.positions; at += attendSpan {
		n := min(attendSpan, t.positions-at)
		ahead := t.next[:attendSpan*t.cache.rowBytes]
		if at+n < t.positions {
			ahead = t.spanOf(t.values, at+n)
		}
		if t.halves(from) {
			t.weighHalves(from, at, n, ahead)
			continue
		}
		values := t.cache.floatValues(t.values, at, n, &t.reader)
		for r := from; r < len(t.states); r += together {
			end := min(r+together, len(t.states))
			common := t.weighRows(r, end, at, 0, n, values, ahead)
			for c := r + t.heads; c < end; c += t.heads {
				t.weighRows(c, c+t.heads, at, common, n, values, nil)
			}
			ahead = nil // fetched once
		}
	}
}

// halves says whether rows from one on are so few that decoding keys and values
// once for all of them would take longer than in each product.
func (t *tile) halves(from int) bool {
	const few = 4
	return t.cache.halves && t.vec.scoresF16 != nil && len(t.states)-from <= few && t.cache.dim%16 == 0
}

// weighHalves is what weigh does with the values of n positions behind at.
func (t *tile) weighHalves(from, at, n int, ahead []byte) {
	dim := t.cache.dim
	for r := from; r < len(t.states); r += t.heads {
		if seen := min(t.sees(r)-at, n); seen > 0 {
			t.vec.weightedF16(t.tiles[r*dim:(r+t.heads)*dim], t.scores[r*cacheTile+at:], t.values[at*t.cache.rowBytes:], dim, seen, ahead)
			ahead = nil
		}
	}
}

// weighRows adds to rows [r, end) the values of the positions [from, n) behind at
// that the first of them sees, and returns where those end.
func (t *tile) weighRows(r, end, at, from, n int, values []float32, ahead []byte) int {
	dim := t.cache.dim
	seen := min(t.sees(r)-at, n)
	if seen > from {
		t.vec.weighted(t.tiles[r*dim:end*dim], t.scores[r*cacheTile+at+from:], values[from*dim:], dim, seen-from, ahead)
	}
	return max(from, seen)
}

// advance turns scores, which are to be multiplied with scale, into weights in
// place, and counts them. It returns what to multiply sums with that had the largest
// score before. Sums are float64. A score that is NaN makes that NaN.
func (s *softmax) advance(v *Vectors, scores []float32, scale float32) (by float32) {
	top := max(s.top, v.Max(scores))
	by = 1
	if top != s.top {
		by = math32.Exp(float32((s.top - top) * scale))
	}
	s.sum = float64(s.sum*float64(by)) + v.ExpSum(scores, scores, top, scale)
	s.top = top
	return by
}
