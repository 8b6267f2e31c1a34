package cpu

import (
	"math"

	"onebit/formats"
	"onebit/internal/mmap"
)

// Weights are checked as they are read: when they are packed or, of those used
// in place, by the first products with them, where bad weights have products
// that are not finite ([kernels.Variant.ShowsBadWeights]). A prompt then begins
// without the file having been read once for nothing.

// Check looks at all weights that nothing has been multiplied with yet.
func (e *Engine) Check() error {
	if e.unchecked.Load() == 0 {
		return nil
	}
	var unseen []unchecked
	for _, m := range e.layers {
		if !m.checked.Load() && !m.converted() {
			unseen = append(unseen, unchecked{&m.tensor, func() { e.markChecked(m) }})
		}
	}
	for _, x := range e.experts {
		if !x.checked.Load() {
			unseen = append(unseen, unchecked{&x.tensor, func() { e.markExpertsChecked(x) }})
		}
	}
	errs := make([]error, len(unseen))
	err := mmap.Guard(func() error {
		e.pool.ForEach(len(unseen), func(i int) {
			errs[i] = unseen[i].tensor.Matrix().Validate()
		})
		return nil
	})
	if err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			e.refused.Store(true)
			return e.source.Fault(unseen[i].tensor.Name, err)
		}
		unseen[i].mark()
	}
	return nil
}

// An unchecked tensor is one that was not looked at yet, and mark says that it was.
type unchecked struct {
	tensor *formats.Tensor
	mark   func()
}

// markChecked says that m's weights were looked at.
func (e *Engine) markChecked(m *matrix) {
	if !m.checked.Swap(true) && m.weights.Load() != nil {
		e.unchecked.Add(-1)
	}
}

// look remembers whether a product was not finite. One column of it tells.
func (s *stream) look() {
	for i, p := range s.products {
		m := s.multiplied[i]
		switch {
		case m.checked.Load():
		case allFinite(p.Dst[:m.rows]):
			s.engine.markChecked(m)
		default:
			s.doubtful = true
		}
	}
}

// verdict is what became of the operations so far: if a product was not finite,
// the engine takes a look at its weights.
func (s *stream) verdict() (err error) {
	err, s.failed = s.failed, nil
	if s.doubtful && err == nil {
		s.doubtful = false
		err = s.engine.Check()
	}
	return err
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
