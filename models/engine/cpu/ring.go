package cpu

import (
	"fmt"
	"slices"

	"onebit/models/engine"
)

// A ring is the cache of blocks that look at a window. Its tiles come around again: tile t
// lies where tile t-n did, if there are n. There are as many as one batch touches, from the
// first position that its first token looks at to its last, and one more, so that a
// draft can be taken back, or more of a text.
type ring struct {
	*cache
	last   int // the last tile that was written, since the text began
	marked []byte
	at     int // position of the mark, behind tile markedLast
	to     int // the last tile that was written then
}

// ringTiles is how many tiles there are, at most those of the context.
func ringTiles(window int, opt *engine.StreamOptions) int {
	const draft = 16 // tokens that are taken in to be taken back
	return min(tilesOf(window-1+max(opt.Batch, draft))+1, tilesOf(opt.Context))
}

// place returns where a tile lies.
func (kv *cache) place(tile int) int {
	if kv.window == 0 {
		return tile
	}
	return tile % tilesOf(kv.capacity)
}

// write says that positions below end are about to be written.
func (r *ring) write(end int) {
	if r != nil {
		r.last = max(r.last, tilesOf(end)-1)
	}
}

// has reports whether all that a token looks at behind the first n positions is still there.
func (r *ring) has(n int) bool {
	return n == 0 || r.last-firstTile(n, r.window)/cacheTile < tilesOf(r.capacity)
}

// check returns an error if the ring cannot go back to the first n positions.
func (r *ring) check(n, position int) error {
	if r == nil || r.has(n) || r.marked != nil && n == r.at {
		return nil
	}
	return fmt.Errorf("%w to %d of %d tokens: blocks that look at the last %d keep no more than %d, and nothing was marked there",
		engine.ErrNoRollback, n, position, r.window, r.capacity)
}

// truncate goes back, if check found that it can.
func (r *ring) truncate(n int) {
	switch {
	case r == nil:
	case n == 0: // another text, of which the mark is not
		r.last, r.marked = -1, nil
	case !r.has(n):
		copy(r.data, r.marked)
		r.last = r.to
	}
}

// mark keeps a copy of all tiles, of a position.
func (r *ring) mark(position int) {
	if r != nil {
		r.marked = append(slices.Grow(r.marked[:0], len(r.data)), r.data[:r.reached*r.layerBytes()]...)
		r.at, r.to = position, r.last
	}
}

// lengthen gives the tiles up to one what lies in others.
func (r *ring) lengthen(tiles, all int) {
	if r == nil {
		return
	}
	size := r.layerBytes()
	for tile := max(tiles, all-tilesOf(r.capacity)); tile < all; tile++ {
		copy(r.data[r.place(tile)*size:][:size], r.data[r.place(tiles-1)*size:])
	}
	r.last = all - 1
}
