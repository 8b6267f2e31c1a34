package train

import (
	"fmt"
	"math"
)

// A NotFiniteError is where training left the numbers.
type NotFiniteError struct {
	Step   int
	Loss   float64
	Tensor string  // the first parameter with such a number; "" if none has
	What   string  // "weight" or "gradient"
	Index  int     // in the tensor
	Value  float32 // NaN or an infinity
}

func (e *NotFiniteError) Error() string {
	text := fmt.Sprintf("step %d: the loss is %v", e.Step, e.Loss)
	if e.Tensor == "" {
		return text + ", with finite weights and gradients: the input or an activation is not finite"
	}
	return fmt.Sprintf("%s; tensor %s: %s %d is %v; a lower learning rate, a longer warm-up or clipped gradients may help", text, e.Tensor, e.What, e.Index, e.Value)
}

// checkFinite returns an error if the loss is not finite or a gradient, whose
// norm is given, is not.
func checkFinite(step int, loss, norm float64, params []*Param) error {
	if isFinite(loss) && isFinite(norm) {
		return nil
	}
	e := &NotFiniteError{Step: step, Loss: loss, Index: -1}
	// A weight comes first: it is what makes gradients such.
	for _, what := range []string{"weight", "gradient"} {
		for _, p := range params {
			numbers := p.W
			if what == "gradient" {
				numbers = p.Grad
			}
			for i, v := range numbers {
				if !isFinite(float64(v)) {
					e.Tensor, e.What, e.Index, e.Value = p.Name, what, i, v
					return e
				}
			}
		}
	}
	return e
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
