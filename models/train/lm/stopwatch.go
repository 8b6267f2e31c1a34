package lm

import (
	"time"

	"onebit/internal/clock"
)

// A Part is one of what a step's time goes to.
type Part int

// The parts. Products are those of projections and head, the rounding of their
// weights and activations included; Attention has its own.
const (
	Products Part = iota
	Attention
	Norms
	Loss
	Update // the optimizer
	Other  // gates, sums, the embedding
	parts
)

func (p Part) String() string {
	return [...]string{"products", "attention", "norms", "loss", "optimizer", "other"}[p]
}

// A Stopwatch adds up the time of each part.
type Stopwatch struct{ Spent [parts]time.Duration }

// start begins a part and returns what ends it.
func (s *Stopwatch) start(p Part) (stop func()) {
	began := clock.Now()
	return func() { s.Spent[p] += clock.Since(began) }
}

// Total returns the time of all parts.
func (s *Stopwatch) Total() (sum time.Duration) {
	for _, d := range s.Spent {
		sum += d
	}
	return sum
}
