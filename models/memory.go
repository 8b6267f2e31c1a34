package models

// PackedMemory returns the memory outside the Go heap that the model has taken
// for its weights: what was packed, and a converted head. Room that is left in it
// is not resident. It is for looking at from outside, and gone when the model is
// closed.
func (m *Model) PackedMemory() (all [][]byte) {
	m.packed.mu.Lock()
	defer m.packed.mu.Unlock()
	for _, c := range m.packed.chunks {
		all = append(all, c.Bytes())
	}
	if m.head != nil && m.head.Bytes() != nil {
		all = append(all, m.head.Bytes())
	}
	return all
}

// CacheMemory returns the memory of keys and values, for all positions.
func (s *Session) CacheMemory() []byte { return s.cache.data }

// BufferBytes returns the size of the session's activations, on the Go heap.
func (s *Session) BufferBytes() (bytes int) {
	for _, b := range [][]float32{s.x, s.h, s.q, s.k, s.v, s.att, s.gate, s.up, s.cos, s.sin, s.logits} {
		bytes += 4 * cap(b)
	}
	for range cap(s.attentions) {
		a := <-s.attentions
		bytes += cap(a.rows) + 4*(cap(a.scores)+cap(a.normalizers))
		s.attentions <- a
	}
	return bytes
}
