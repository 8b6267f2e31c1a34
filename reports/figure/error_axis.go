package figure

import (
	"fmt"
	"math"
	"onebit/bench/results"
	"slices"
)

// At is where an error stands on an axis from NewErrorAxis; not a number if it is none.
func (a Axis) At(e float64) float64 {
	if a.Broken > 0 && e <= Negligible {
		return a.floor
	}
	return DrawnError(e)
}

// DrawnError is an error as it counts in comparisons; not a number if it is none.
func DrawnError(e float64) float64 { return math.Max(e, Negligible) }

// Negligible is the error below which variants count as equally accurate: what float32 rounding
// leaves. Errors below it, zero included, are drawn on this line.
const Negligible = 1e-9

// breakFrom is how many times the negligible error the least of the others is from which on the axis
// between them is left out: empty decades would squeeze what is to be compared.
const breakFrom = 100

// NewErrorAxis is logarithmic. Where nothing stands between errors that are negligible and all others, it is
// broken: the former stand at its foot.
func NewErrorAxis(errors []float64, unit string) Axis {
	var drawn []float64
	for _, e := range errors {
		if e > Negligible {
			drawn = append(drawn, e)
		}
	}
	exact := len(drawn) < len(errors)
	foot := Negligible
	broken := exact && len(drawn) > 0 && slices.Min(drawn) > breakFrom*Negligible
	if broken {
		foot = slices.Min(drawn) / math.Max(4, math.Pow(slices.Max(drawn)/slices.Min(drawn), 0.3))
	}
	if exact {
		drawn = append(drawn, foot)
	}
	a := NewAxis(drawn, true, 6, func(v float64) string {
		if isNear(v, foot) && exact {
			return "≤ " + errorText(Negligible, unit)
		}
		return errorText(v, unit)
	})
	if exact {
		a.floor = foot
	}
	if broken {
		a.Broken = 2 * foot
	}
	// A single value, or values close together, still need a readable axis.
	a.Min, a.Max = a.Min/2, a.Max*2
	return a
}

// errorText is an error and, if it is one of power, as a signal-to-noise ratio in dB.
func errorText(e float64, unit string) string {
	text := results.UnitOf(unit).Format(e)
	if unit == results.NMSE && e > 0 {
		text += fmt.Sprintf(", %.0f dB", -10*math.Log10(e))
	}
	return text
}
