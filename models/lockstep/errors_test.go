package lockstep

import (
	"math"
	"testing"
)

// Values that are no numbers are not taken for equal ones.
func TestErrorsOfNaN(t *testing.T) {
	var all tally
	all.add(differenceOf([]float32{1, float32(math.NaN())}, []float32{1, 2}))
	all.add(differenceOf([]float32{1, 2}, []float32{1, 2}))
	if e := all.errors(); !math.IsNaN(e.NMSE) || !math.IsNaN(e.MaxAbs) || !math.IsNaN(e.Cosine) {
		t.Errorf("%+v, want NaN", e)
	}
}
