package cpu

// HostMemory returns the memory outside the Go heap that the engine has taken
// for its weights: what was packed, and what was converted. Room that is left
// in it is not resident. It is for looking at from outside, and gone when the
// engine is closed.
func (e *Engine) HostMemory() (all [][]byte) {
	e.packed.mu.Lock()
	defer e.packed.mu.Unlock()
	for _, c := range e.packed.chunks {
		all = append(all, c.Bytes())
	}
	for _, c := range e.converted {
		if c.Bytes() != nil {
			all = append(all, c.Bytes())
		}
	}
	return all
}

// HostMemory returns the memory of keys and values, for all positions.
func (s *stream) HostMemory() [][]byte {
	if s.cache == nil {
		return nil
	}
	return [][]byte{s.cache.data}
}

// BufferBytes returns the size of the stream's activations and of what its
// attention works in, on the Go heap.
func (s *stream) BufferBytes() (bytes int) {
	for _, b := range s.buffers {
		bytes += 4 * cap(b.data)
	}
	bytes += 4 * (cap(s.cos) + cap(s.sin))
	for range len(s.attentions) {
		a := <-s.attentions
		bytes += 4 * (cap(a.rows) + cap(a.scores) + cap(a.normalizers))
		s.attentions <- a
	}
	return bytes
}

// reach says that positions below end are about to be written.
func (kv *cache) reach(end int) {
	if kv != nil {
		kv.reached = max(kv.reached, tilesOf(end))
	}
}

// giveBack returns the memory behind the first n positions to the system, but for
// the rest of their tile and the tile behind it: those who go back a few tokens and
// forth again, as in speculation, would have it cleared each time. It is a hint:
// where it fails, memory stays in use.
func (kv *cache) giveBack(n int) {
	if kv == nil {
		return
	}
	if keep := min(tilesOf(n)+1, tilesOf(kv.capacity)); keep < kv.reached {
		_ = kv.mem.Shrink(keep * kv.layerBytes())
		kv.reached = keep
	}
}
