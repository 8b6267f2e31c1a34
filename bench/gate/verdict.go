package gate

import (
	"fmt"
	"math"
)

// A Verdict says how head compares with base in one unit of one benchmark.
type Verdict int

const (
	Unsure Verdict = iota // the budget ended before anything was proved
	Same                  // proved to differ by no more than the threshold
	Faster                // proved to be better
	Slower                // proved to be worse, by an estimate beyond the threshold
	Within                // proved to be worse, by an estimate within the threshold: no failure
)

// Verdicts is how many there are.
const Verdicts = 5

func (v Verdict) String() string {
	return [Verdicts]string{"UNSURE", "SAME", "FASTER", "SLOWER", "WITHIN"}[v]
}

// MarshalText writes the verdict's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A rule is what a verdict is given by.
type rule struct {
	threshold float64 // as a logarithm of the ratio
	alarm     float64 // chance of a false claim at this look
	same      float64 // chance of a false SAME at this look
	last      bool
}

// The chance of a false claim is shared among the claims that can be false.
const (
	slowerShare  = 0.6
	fasterShare  = 0.2
	controlShare = 0.2 // that base differs from itself
)

// equivalence is the chance of a false SAME at the last look, and of bounds that
// the truth is beyond: at the threshold itself, one in twenty. It is no alarm,
// and so need not be shared among all cases. Earlier looks have less.
const (
	equivalence      = 0.05
	earlyEquivalence = 0.01
)

// leastJudged is the number of rounds that a verdict rests on at least: of fewer the
// spread is hardly known.
const leastJudged = 5

// judge gives the verdict on values, and whether that is a proof of no
// regression: head is better, or no worse than the threshold. The exact test
// says that it is worse at all; the estimate, by how much, so that code which is
// worse by less than the threshold is no failure. floor is how far apart identical
// code is known to lie, which a difference has to exceed.
func (r rule) judge(t triples, floor float64) (v Verdict, pass bool) {
	if len(t) < leastJudged {
		return Unsure, false
	}
	margin, typical := r.threshold-floor, t.shift()
	notWorse := margin > 0 && typical.below(margin) <= r.same
	notBetter := margin > 0 && typical.above(-margin) <= r.same
	switch {
	case notWorse && notBetter:
		return Same, true
	case t.above(floor) <= r.alarm*slowerShare:
		return r.worse(typical, notWorse)
	case t.below(-floor) <= r.alarm*fasterShare:
		return Faster, true
	}
	return Unsure, notWorse
}

// worse is the verdict on what is proved to be worse. Before the last look it waits
// for an interval that lies beyond the threshold, or within it: at the first look that
// proves a change, the estimate of it is too high.
func (r rule) worse(typical shift, notWorse bool) (v Verdict, pass bool) {
	switch {
	case typical.above(r.threshold) <= r.same || r.last && typical.center > r.threshold:
		return Slower, false
	case notWorse || r.last:
		return Within, notWorse
	}
	return Unsure, false
}

// floor is how far a control is known to be from its base: the distance of the
// interval of their differences from 0. What it may be beside that is chance,
// which is in head's interval too.
func floor(control []float64) float64 {
	in := hodgesLehmann(control, equivalence)
	return max(0, in.Lo, -in.Hi)
}

// differs reports whether a control differs from its base beyond chance.
func (r rule) differs(control []float64) bool {
	return hodgesLehmann(control, r.alarm*controlShare/2).sign() != 0
}

// lookAt is the share of the budget after which each look is taken: often at first,
// so that what is much slower is told within a minute.
var lookAt = []float64{0.1, 0.14, 0.18, 0.24, 0.32, 0.4, 0.5, 0.65, 0.8, 1}

// spending is the share of the chance of a false claim that each look at the
// data may use. Little is spent early, as O'Brien and Fleming do (Biometrics
// 35:549, 1979), so that the last look costs little for the others; the sum
// of the chances bounds that of any.
var spending = []float64{0.02, 0.04, 0.06, 0.08, 0.08, 0.1, 0.12, 0.14, 0.16, 0.2}

// minRounds is the number of rounds below which the last look of a family of
// n tests can prove nothing: one of 3ⁿ choices of head's places is the clearest,
// and there are two ways to look at it.
func minRounds(alarm float64, n int) int {
	last := alarm * slowerShare * spending[len(spending)-1] / float64(2*max(n, 1))
	return int(math.Ceil(-math.Log(last) / math.Log(3)))
}

// Percent prints a logarithm of a ratio as a change.
func Percent(log float64) string {
	switch {
	case math.IsInf(log, 1):
		return "+∞"
	case math.IsInf(log, -1):
		return "−∞"
	}
	return fmt.Sprintf("%+.1f%%", 100*math.Expm1(log))
}
