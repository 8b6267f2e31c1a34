package gate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// trimmed is the share of a side's values that its mean leaves out at either end:
// bursts of neighbours, and not a slow mode that many processes have.
const trimmed = 0.2

// A shift is by how much the typical time of head is worse, as its trimmed mean
// tells and that of base and control together, with the variance that these have
// (Yuen, Biometrika 61:165, 1974) and its degrees of freedom.
type shift struct{ center, variance, freedom float64 }

// interval estimates head's shift with its bounds, if there are rounds enough for some.
func (t triples) interval(alpha float64) Interval {
	if len(t) == 0 {
		return Interval{0, math.Inf(-1), math.Inf(1)}
	}
	s := t.shift()
	if len(t) < leastJudged {
		return Interval{s.center, math.Inf(-1), math.Inf(1)}
	}
	return s.interval(alpha)
}

// shift estimates head's.
func (t triples) shift() shift {
	base, head := make([]float64, 0, 2*len(t)), make([]float64, 0, len(t))
	for _, v := range t {
		base, head = append(base, v[Base], v[Control]), append(head, v[Head])
	}
	b, h := trimmedMean(base), trimmedMean(head)
	s := shift{h.center - b.center, h.variance + b.variance, math.Inf(1)}
	if s.variance > 0 { // Welch's
		s.freedom = s.variance * s.variance / (h.variance*h.variance/h.freedom + b.variance*b.variance/b.freedom)
	}
	return s
}

// trimmedMean is that of values, which it sorts. The variance is of what is left in
// the middle, with what is left out put to its ends. What more than half of them are,
// as allocations that only some processes add to, is typical without any doubt.
func trimmedMean(values []float64) shift {
	slices.Sort(values)
	out := int(trimmed * float64(len(values)))
	middle := values[out : len(values)-out]
	left := float64(len(middle))
	if most := values[len(values)/2]; 2*equal(values, most) > len(values) {
		return shift{most, 0, left - 1}
	}
	for i := range out {
		values[i], values[len(values)-1-i] = middle[0], middle[len(middle)-1]
	}
	around, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - around) * (v - around)
	}
	return shift{mean(middle), sum / (left * (left - 1)), left - 1}
}

// equal is how many of sorted values are so much.
func equal(sorted []float64, value float64) int {
	first, _ := slices.BinarySearch(sorted, value)
	after, _ := slices.BinarySearch(sorted, math.Nextafter(value, math.Inf(1)))
	return after - first
}

// below is the chance of an estimate as low as this one if head is worse by so much.
func (s shift) below(worse float64) float64 {
	if s.variance > 0 {
		return s.student().CDF((s.center - worse) / math.Sqrt(s.variance))
	}
	if s.center < worse {
		return 0
	}
	return 1
}

// above is the chance of one as high.
func (s shift) above(worse float64) float64 {
	return shift{-s.center, s.variance, s.freedom}.below(-worse)
}

// interval has bounds that the truth is beyond with a chance of alpha on either
// side.
func (s shift) interval(alpha float64) Interval {
	reach := 0.0
	if s.variance > 0 {
		reach = -s.student().Quantile(alpha) * math.Sqrt(s.variance)
	}
	return Interval{s.center, s.center - reach, s.center + reach}
}

func (s shift) student() distuv.StudentsT {
	return distuv.StudentsT{Sigma: 1, Nu: s.freedom}
}
