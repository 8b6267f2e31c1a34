package cpu

import "sync"

// A loan counts who multiplies a matrix whose source makes it on demand. While the
// model is streamed, nobody has its weights between two blocks.
type loan struct {
	sync.Mutex
	users int
}

// borrow returns a matrix's weights, which are made again if nobody has them. With an
// error they are zeros.
func (e *Engine) borrow(m *matrix) (*weights, error) {
	if m.lent == nil {
		return m.weights.Load(), nil
	}
	m.lent.Lock()
	defer m.lent.Unlock()
	now := m.weights.Load()
	m.lent.users++
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

// giveBack lets go of a matrix's memory, if it is nobody else's now.
func (e *Engine) giveBack(m *matrix) {
	if m.lent != nil {
		m.lent.Lock()
		defer m.lent.Unlock()
		if m.lent.users--; m.lent.users > 0 {
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
