package noise

import (
	"math"
	"slices"

	"github.com/montanaflynn/stats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// A variance is an estimate of one, with the degrees of freedom behind it: 0
// if there are none, infinite if it is certain.
type variance struct{ value, dof float64 }

// varianceOf is the sample variance.
func varianceOf(values []float64) variance {
	if len(values) < 2 {
		return variance{}
	}
	sum, mean := 0.0, meanOf(values)
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	dof := float64(len(values) - 1)
	return variance{sum / dof, dof}
}

// squares is the variance of values whose mean is known to be 0.
func squares(values []float64) variance {
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	return variance{sum / float64(len(values)), float64(len(values))}
}

// pool estimates what distribution the variances of a class come from: the
// variance of each case is drawn from value·dof/χ²(dof). The estimate is that
// of Smyth, Linear models and empirical Bayes methods (Statistical
// Applications in Genetics and Molecular Biology 3(1), 2004), section 6.2:
// it matches the mean and the variance of the variances' logarithms.
func pool(class []variance) variance {
	class = slices.DeleteFunc(slices.Clone(class), func(v variance) bool { return v.dof == 0 })
	if len(class) < leastPooled {
		return variance{}
	}
	values := make([]float64, len(class))
	for i, v := range class {
		values[i] = v.value
	}
	mean := meanOf(values)
	// A variance far below the others is luck, such as that of two medians
	// that agree to the last digit. Its logarithm would drown theirs.
	least := luck * Median(values)
	if least == 0 {
		return variance{mean, math.Inf(1)}
	}
	logs, chance := make([]float64, len(class)), 0.0
	for i, v := range class {
		logs[i] = math.Log(max(v.value, least)) - mathext.Digamma(v.dof/2) + math.Log(v.dof/2)
		chance += trigamma(v.dof/2) / float64(len(class))
	}
	beyond := varianceOf(logs).value - chance
	if beyond <= 0 {
		return variance{mean, math.Inf(1)}
	}
	half := trigammaInverse(beyond)
	return variance{math.Exp(meanOf(logs) + mathext.Digamma(half) - math.Log(half)), 2 * half}
}

// moderate is the estimate of one case's variance from its own samples and
// from what its class is like.
func (v variance) moderate(class variance) variance {
	switch dof := v.dof + class.dof; {
	case dof == 0:
		return variance{}
	case math.IsInf(class.dof, 1):
		return class
	default:
		return variance{(v.value*v.dof + class.value*class.dof) / dof, dof}
	}
}

// reach is how far a number of that variance strays from its mean on either
// side, in all but 5% of cases: Student's t for its degrees of freedom, by the
// deviation. It is infinite if nothing is known.
func (v variance) reach() float64 {
	const upper = 1 - (1-confidence)/2
	switch {
	case v.dof == 0:
		return math.Inf(1)
	case v.dof > 1e6:
		return distuv.UnitNormal.Quantile(upper) * math.Sqrt(v.value)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: v.dof}
	return t.Quantile(upper) * math.Sqrt(v.value)
}

// ofMedian is the share of the variance of n normal values that their median
// has: exact for 1, within 2% for odd numbers, too large by at most a fifth
// for even ones, and π/2n in the end.
func ofMedian(n int) float64 { return math.Pi / 2 / (float64(n) + math.Pi/2 - 1) }

// trigamma is the second derivative of log Γ.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// trigammaInverse solves trigamma(x) = y by Newton's method on 1/trigamma,
// which is nearly linear (Smyth 2004, appendix).
func trigammaInverse(y float64) float64 {
	switch {
	case y > 1e7:
		return 1 / math.Sqrt(y)
	case y < 1e-6:
		return 1 / y
	}
	x := 0.5 + 1/y
	for range 50 {
		now := trigamma(x)
		step := now * (1 - now/y) / (-2 * mathext.Zeta(3, x))
		x += step
		if math.Abs(step) < 1e-8*x {
			break
		}
	}
	return x
}

// meanOf panics on an empty slice only, which no caller here passes.
func meanOf(values []float64) float64 {
	m, err := stats.Mean(values)
	if err != nil {
		panic("noise: mean of nothing")
	}
	return m
}
