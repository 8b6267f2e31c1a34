package perplexity

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"onebit/internal/deviation"
)

// confidence is the level of every interval.
const confidence = 0.95

// KLDInterval returns the 95% confidence interval of the mean divergence.
//
// Divergences of single positions are skewed: many are small and a few large.
// So the interval is Student's for the logarithm of the mean, whose standard
// error is that of the mean over the mean (the delta method). It never goes
// below zero, and it reaches further up than down. Positions count as
// independent, which neighbours in a text are not quite. Less than two
// positions say nothing: the interval is 0 to +Inf.
func (e Estimate) KLDInterval() (lo, hi float64) {
	mean, stdErr := e.KLD.Value(), e.KLD.StdErr()
	if e.KLD.n < 2 {
		return 0, math.Inf(1)
	}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(e.KLD.n - 1)}.Quantile((1 + confidence) / 2)
	if mean <= 0 { // equal models, but for the rounding of the sum
		return mean - student*stdErr, mean + student*stdErr
	}
	factor := math.Exp(student * stdErr / mean)
	return mean / factor, mean * factor
}

// SameTopInterval returns the 95% confidence interval of SameTop (Wilson 1927).
func (e Estimate) SameTopInterval() (lo, hi float64) {
	return deviation.Share(e.SameTop.Value(), e.SameTop.n)
}

// Top5Interval returns a 95% confidence interval of Top5. It is Wilson's for
// as many yes-or-no answers as there are positions, which is the widest that
// shares between 0 and 1 can need.
func (e Estimate) Top5Interval() (lo, hi float64) { return deviation.Share(e.Top5.Value(), e.Top5.n) }
