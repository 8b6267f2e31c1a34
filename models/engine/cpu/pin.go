package cpu

import "sync"

// pins count the users of a matrix whose source makes it on demand. While a model is
// streamed, its weights are in memory for one block at a time.
type pins struct {
	sync.Mutex
	users int
}

// pin returns a matrix's weights, which are made again if nothing has pinned them. With an
// error they are zeros.
func (e *Engine) pin(m *matrix) (*weights, error) {
	if m.pins == nil {
		return m.weights.Load(), nil
	}
	m.pins.Lock()
	defer m.pins.Unlock()
	now := m.weights.Load()
	m.pins.users++
	if now.matrix.Data != nil {
		return now, nil
	}
	t, err := e.source.Tensor(m.name)
	if err != nil {
		size, _ := now.matrix.Layout.Bytes(m.format, m.rows, m.cols)
		t.Data = make([]byte, size)
	}
	return m.hold(t.Data), err
}

// unpin releases a matrix's memory with its last user.
func (e *Engine) unpin(m *matrix) {
	if m.pins != nil {
		m.pins.Lock()
		defer m.pins.Unlock()
		if m.pins.users--; m.pins.users > 0 {
			return
		}
		m.tensor.Data = nil
		m.hold(nil)
	}
	e.release(m.name)
}

// hold makes data, in the source's own layout, the weights.
func (m *matrix) hold(data []byte) *weights {
	now := m.weights.Load()
	again := *now.matrix
	again.Data = data
	w := &weights{now.variant, &again}
	m.weights.Store(w)
	return w
}
