// Package words has the words and numbers that all kinds of report use for the same things.
package words

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"onebit/bench/results"
)

// A UniqueList has each text once, in the order of first appearance, and what was said with it.
type UniqueList struct {
	List []string
	With map[string][]string
}

// Add adds a text, or what is said with one that is there.
func (u *UniqueList) Add(text string, with ...string) {
	if u.With == nil {
		u.With = make(map[string][]string)
	}
	said, has := u.With[text]
	if !has {
		u.List = append(u.List, text)
	}
	u.With[text] = append(said, with...)
}

// MostChanges is how many changes a first screen has room for.
const MostChanges = 8

// Slower says by how much more, or less, time something takes.
func Slower(ratio float64) string {
	if ratio < 1 {
		return Percent(1-ratio) + " faster"
	}
	return Percent(ratio-1) + " slower"
}

// Compare orders strings with their numbers by value: q2 before q16, 640×2560 before 2560×640.
func Compare(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		na, nb := leadingDigits(a), leadingDigits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

func If(ok bool, text string) string {
	if !ok {
		return ""
	}
	return text
}

// Decibels is how far an error lies below the signal.
func Decibels(nmse float64) string {
	if nmse <= 0 {
		return "none"
	}
	return fmt.Sprintf("−%.0f dB", -10*math.Log10(nmse))
}

// Microseconds is a time in the unit of the column, to three digits.
func Microseconds(ns float64) string {
	us := ns / 1000
	switch {
	case us >= 99.95:
		return fmt.Sprintf("%.0f", us)
	case us >= 9.995:
		return fmt.Sprintf("%.1f", us)
	}
	return fmt.Sprintf("%.2f", us)
}

// Mapped is what a function makes of each of a list; nil of none.
func Mapped[T, R any](list []T, of func(T) R) (out []R) {
	for _, x := range list {
		out = append(out, of(x))
	}
	return out
}

// CommonFolder is the beginning, up to a slash, that all paths share.
func CommonFolder(paths []string) string {
	slices.Sort(paths)
	first, last := paths[0], paths[len(paths)-1]
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	return first[:strings.LastIndex(first[:n], "/")+1]
}

func Parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// ExactOrNone is "" for what is no number.
func ExactOrNone(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return Exact(v)
}

func Time(ns float64) string { return results.UnitOf(results.NsPerOp).Format(ns) }

func Seconds(s float64) string { return Time(s * 1e9) }

// UnknownSpread stands where samples are too few, or too unlike, for an interval.
const UnknownSpread = "±?"

// Spread is how far an interval reaches on either side of its center: a share of that, one below
// a per cent to a tenth, and from twice as much on a factor, which is what divides on the other side. One of a factor of
// ten, as of two samples, says nothing of the next run.
func Spread(share float64) string {
	switch {
	case !(share < 9):
		return UnknownSpread
	case share > 1:
		return fmt.Sprintf("×÷%.1f", 1+share)
	}
	if share >= 0.0005 && share < 0.0095 {
		return fmt.Sprintf("±%.1f %%", 100*share)
	}
	return fmt.Sprintf("±%.0f %%", 100*share)
}

// Times formats a ratio.
func Times(r float64) string {
	switch {
	case math.IsNaN(r) || math.IsInf(r, 0):
		return "?"
	case r >= 99.95:
		return fmt.Sprintf("%.0f×", r)
	case r >= 9.995:
		return fmt.Sprintf("%.1f×", r)
	}
	return fmt.Sprintf("%.2f×", r)
}

// Percent formats a fraction.
func Percent(f float64) string {
	if f >= 0.995 {
		return fmt.Sprintf("%.0f %%", 100*f)
	}
	return fmt.Sprintf("%.2g %%", 100*f)
}

// Names lists variants within a sentence.
func Names(list []string) string {
	if len(list) > 4 {
		return fmt.Sprintf("%s and %d others", strings.Join(list[:3], ", "), len(list)-3)
	}
	return List(list)
}

// List lists all within a sentence.
func List(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// VersusBest heads the ratios by which ties are told. They are no quotients of the times beside them.
const VersusBest = "vs best"

// VersusAbout says so.
const VersusAbout = "how many times longer than the best, and the 95% interval: the median of the ratios between neighbours in time, by which ties are told, and not the ratio of the times shown"

// Bits prints bits per weight so that 1.125 and 2.0625 can be told from their neighbours.
func Bits(v float64) string { return fmt.Sprintf("%.4g", v) }

// Geomean returns the geometric mean of xs as the exponential of the running mean of their
// logarithms, which can't overflow. It is not defined unless there is a value and all are positive.
func Geomean(xs []float64) (mean float64, ok bool) {
	logs := 0.0
	for i, x := range xs {
		if !(x > 0) {
			return math.NaN(), false
		}
		logs += (math.Log(x) - logs) / float64(i+1)
	}
	return math.Exp(logs), len(xs) > 0
}

// Exact prints the fewest digits that read back as v.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func SignedPercent(v float64) string {
	if math.Abs(v) < 1e-9 {
		return "0"
	}
	return fmt.Sprintf("%+.3g%%", v)
}
