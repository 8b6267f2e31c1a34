package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A Metric is one value with its unit, such as {"nmse", 3.1e-9}.
type Metric struct {
	Unit  string
	Value float64
}

// Check reports a value that no measurement gives: not a number, infinite, or a
// negative time in whatever unit.
func (m Metric) Check() error {
	if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) || m.Value < 0 && isTime(m.Unit) {
		return fmt.Errorf("%v %s is not a measurement", m.Value, m.Unit)
	}
	return nil
}

// isTime reports whether a unit counts seconds or parts of them: ns/op, pack-ns,
// p99-sec, but not tok/s.
func isTime(unit string) bool {
	amount, _, _ := strings.Cut(unit, "/")
	words := strings.FieldsFunc(amount, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"ns", "us", "µs", "ms", "s", "sec"}, w)
	})
}

// Finite rejects what the results file could not hold, and what no right
// result has.
func Finite(metrics []Metric) error {
	for _, m := range metrics {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			return fmt.Errorf("%s is %v", m.Unit, m.Value)
		}
	}
	return nil
}

// SortUnits puts values in the order of Units.
func SortUnits(values []Metric) {
	slices.SortStableFunc(values, func(a, b Metric) int { return unitOrder(a.Unit) - unitOrder(b.Unit) })
}

func unitOrder(unit string) int {
	for i, u := range Units {
		if u.Name == unit {
			return i
		}
	}
	return len(Units)
}
