// Package count writes numbers of things for people.
package count

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Of returns "1 sample" and "3 samples" for the noun "sample", "2 studies" for
// "study". The noun may be a phrase that ends in one.
func Of[T int | int64](n T, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Grouped writes a count with its thousands apart: 248,302,272.
func Grouped[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	var out strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}

// Unread is from where on nobody reads the digits before the decimal point: no
// measurement needs them.
const Unread = 1e7

// Significant prints three significant digits, and every digit before the
// decimal point while they can be read.
func Significant(v float64) string {
	switch a := math.Abs(v); {
	case a >= Unread:
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
