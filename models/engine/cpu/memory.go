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
