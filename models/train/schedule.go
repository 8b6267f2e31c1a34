package train

import "math"

// A Schedule is the learning rate of each step, counted from 1.
type Schedule func(step int) float64

// Constant is the same rate always.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// WarmupCosine rises in a line to peak, which it reaches at step warmup, and falls
// along half a cosine to floor, which it reaches at step steps.
func WarmupCosine(peak, floor float64, warmup, steps int) Schedule {
	return func(step int) float64 {
		switch {
		case step < warmup:
			return peak * float64(step) / float64(warmup)
		case step >= steps:
			return floor
		}
		done := float64(step-warmup) / float64(steps-warmup)
		return floor + (peak-floor)*(1+math.Cos(math.Pi*done))/2
	}
}
