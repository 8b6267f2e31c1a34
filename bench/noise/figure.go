package noise

import (
	"math"
	"time"

	"golang.org/x/perf/benchmath"
)

// A Figure is the median of values, such as several passes of a profile, with its 95% interval, infinite
// where there are fewer than 6.
type Figure struct{ Center, Lo, Hi float64 }

// FigureOf makes no assumption on how the values are distributed. Of none it is
// NaN.
func FigureOf(values []float64) Figure {
	if len(values) == 0 {
		return Figure{math.NaN(), math.Inf(-1), math.Inf(1)}
	}
	s := summaryOf(values, benchmath.AssumeNothing)
	return Figure{s.Center, s.Lo, s.Hi}
}

// Bounded reports whether the interval is finite.
func (f Figure) Bounded() bool { return !math.IsInf(f.Lo, 0) && !math.IsInf(f.Hi, 0) }

// Map applies a monotonic function to all three.
func (f Figure) Map(to func(float64) float64) Figure {
	out := Figure{to(f.Center), to(f.Lo), to(f.Hi)}
	if out.Lo > out.Hi {
		out.Lo, out.Hi = out.Hi, out.Lo
	}
	return out
}

// ChangeOf is by how much each time is longer than its partner, as a share of
// that.
func ChangeOf(now, old []time.Duration) Figure {
	changes := make([]float64, min(len(now), len(old)))
	for i := range changes {
		changes[i] = float64(now[i])/float64(old[i]) - 1
	}
	return FigureOf(changes)
}
