package models

import (
	"math"

	"onebit/internal/mmap"
)

// Weights are checked as they are read: when they are packed or, of those used
// in place, by the first products with them, where bad weights have products
// that are not finite ([kernels.Variant.ShowsBadWeights]). A prompt then begins
// without the file having been read once for nothing.

// Check looks at all weights that nothing has been multiplied with yet, and
// returns what is wrong with them, as Open does for a model that is packed
// first. [Session.Prefill] does as much for a model's first prompt before it
// returns anything; the other ways through a Session begin with Check.
func (m *Model) Check() error {
	if !m.unchecked.Load() {
		return nil
	}
	var layers []*Linear
	for l := range m.linears() {
		if !l.converted() {
			layers = append(layers, l)
		}
	}
	errs := make([]error, len(layers))
	err := mmap.Guard(func() error {
		m.pool.ForEach(len(layers), func(i int) {
			t := &layers[i].tensor
			rows, cols := t.Dims()
			errs[i] = t.Type.Validate(t.Data, rows, cols)
		})
		return nil
	})
	if err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			m.refused.Store(true)
			return m.source.Fault(layers[i].Name, err)
		}
	}
	m.unchecked.Store(false)
	return nil
}

// checkProducts ends a session's first pass through a model that was unchecked:
// if all products were finite, so are all weights; if not, it takes a look.
func (s *Session) checkProducts() error {
	if s.doubtful {
		return s.model.Check()
	}
	s.model.unchecked.Store(false)
	return nil
}

// allFinite looks at exponents only.
func allFinite(x []float32) bool {
	const exponent = 0x7f800000
	for _, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return false
		}
	}
	return true
}
