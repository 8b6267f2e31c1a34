package cpu

import "fmt"

// Lengthen implements engine.Lengthener. Whole tiles are repeated, whatever lies in
// them.
func (s *stream) Lengthen(n int) error {
	switch {
	case n < s.position || n > s.context:
		return fmt.Errorf("cannot lengthen a text of %d tokens to %d in a context of %d", s.position, n, s.context)
	case s.position == 0 || s.position%cacheTile != 0:
		return fmt.Errorf("cannot lengthen a text of %d tokens: want a multiple of %d", s.position, cacheTile)
	}
	for _, kv := range s.caches {
		kv.grow(n)
	}
	if s.whole != nil {
		s.whole.repeat(tilesOf(s.position), tilesOf(n))
	}
	s.ring.lengthen(tilesOf(s.position), tilesOf(n))
	for _, d := range s.deltas {
		d.advance(n - s.position)
	}
	s.position = n
	return nil
}

// repeat copies the first tiles to those behind them, as often as it takes to have
// so many in all.
func (kv *cache) repeat(tiles, all int) {
	size := kv.layerBytes()
	for tile := tiles; tile < all; tile++ {
		copy(kv.data[tile*size:][:size], kv.data[tile%tiles*size:])
	}
}
