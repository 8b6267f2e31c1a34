// Package deviation measures how far numbers are from what they should be.
package deviation

import "math"

// A Sum is how far numbers y are from their reference r. The zero Sum is that of
// no numbers.
type Sum struct {
	Error  float64 // Σ(y−r)²
	Signal float64 // Σr²
	MaxAbs float64 // the largest |y−r|
}

// Of compares y with r, which must be as long. What is not finite in either
// shows in the sums.
func Of[Y, R float32 | float64](y []Y, r []R) Sum {
	var s Sum
	y = y[:len(r)]
	for i, v := range r {
		want := float64(v)
		d := float64(y[i]) - want
		s.Error += d * d
		s.Signal += want * want
		s.MaxAbs = max(s.MaxAbs, math.Abs(d))
	}
	return s
}

// Add counts what o does.
func (s *Sum) Add(o Sum) {
	s.Error += o.Error
	s.Signal += o.Signal
	s.MaxAbs = max(s.MaxAbs, o.MaxAbs)
}

// NMSE returns the normalized mean squared error, Σ(y−r)²/Σr²: 0 between equals,
// also where both are nothing.
func (s Sum) NMSE() float64 {
	if s.Error == 0 {
		return 0
	}
	return s.Error / s.Signal
}
