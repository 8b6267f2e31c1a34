package history

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Check reports what no history says: a file may hold anything.
func (h *History) Check() error {
	if h == nil || len(h.Series) == 0 || len(h.Points) == 0 {
		return errors.New("no series")
	}
	for i, s := range h.Series {
		n := len(s.Values)
		switch {
		case s.Machine < 0 || s.Machine >= len(h.Machines):
			return fmt.Errorf("series %d: machine %d of %d", i, s.Machine, len(h.Machines))
		case n == 0 || len(s.At) != n || len(s.Files) != n:
			return fmt.Errorf("series %d: %d values, at %d points, of %d", i, n, len(s.At), len(s.Files))
		case !slices.IsSorted(s.At) || s.At[0] < 0 || int(s.At[n-1]) >= len(h.Points):
			return fmt.Errorf("series %d: points in another order, or beyond the %d that there are", i, len(h.Points))
		case slices.ContainsFunc(s.Values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }):
			return fmt.Errorf("series %d: a value is no number", i)
		}
	}
	return nil
}

// Check reports options that mean nothing.
func (o Options) Check() error {
	if !(o.alpha() >= 1e-6 && o.alpha() <= 0.5) {
		return fmt.Errorf("alpha %v: give a chance from 0.000001 to 0.5", o.Alpha)
	}
	return nil
}
