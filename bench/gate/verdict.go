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
	Slower                // proved to be worse, and not proved to be within the threshold
)

func (v Verdict) String() string { return [...]string{"UNSURE", "SAME", "FASTER", "SLOWER"}[v] }

// MarshalText writes the verdict's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads it.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Unsure, Same, Faster, Slower} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("there is no verdict %q", text)
}

// A rule is what a verdict is given by.
type rule struct {
	threshold float64 // as a logarithm of the ratio
	alarm     float64 // chance of a false SLOWER or FASTER at this look
}

// equivalence is the chance of a false SAME: at the threshold itself, one in
// twenty. It is no alarm, and so need not be shared among all cases.
const equivalence = 0.05

// judge gives the verdict on differences: of each round log(head/base), signed
// so that positive is worse. floor is how far identical code lay apart, which
// a difference has to exceed.
func (r rule) judge(d []float64, floor float64) Verdict {
	if len(d) == 0 {
		return Unsure
	}
	strict := hodgesLehmann(d, r.alarm)
	wide := hodgesLehmann(d, equivalence)
	switch {
	case -r.threshold <= wide.Lo-floor && wide.Hi+floor <= r.threshold:
		return Same
	case strict.Lo > floor && wide.Hi > r.threshold:
		return Slower
	case strict.Hi < -floor && wide.Lo < -r.threshold:
		return Faster
	}
	return Unsure
}

// passes reports whether a verdict on d is no regression: it is proved to be
// better, or no worse than the threshold.
func (r rule) passes(v Verdict, d []float64, floor float64) bool {
	switch v {
	case Same, Faster:
		return true
	case Slower:
		return false
	}
	return len(d) > 0 && hodgesLehmann(d, equivalence).Hi+floor <= r.threshold
}

// spending is the share of the chance of a false alarm that each look at the
// data may use. Little is spent early, as O'Brien and Fleming do (Biometrics
// 35:549, 1979), so that the last look costs little for the others; the sum
// of the chances bounds that of any.
var spending = []float64{0.05, 0.15, 0.30, 0.50}

// lookAt is the share of the budget after which each look is taken.
var lookAt = []float64{0.4, 0.6, 0.8, 1}

// minRounds is the number of rounds below which the last look of a family of
// n tests can prove nothing.
func minRounds(alarm float64, n int) int {
	last := alarm * spending[len(spending)-1] / float64(max(n, 1))
	return int(math.Ceil(-math.Log2(last)))
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
