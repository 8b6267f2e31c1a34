// Package require decides whether a test may be skipped for something that
// this machine lacks: a CPU feature, a browser, a disassembler.
package require

import (
	"os"
	"slices"
	"strings"
)

// variable names what must not be lacking, in a comma-separated list.
const variable = "ONEBIT_REQUIRE"

// TB is what Skip needs of testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Skip skips the test because what is lacking, for the given reason; where
// ONEBIT_REQUIRE names it, the test fails instead.
func Skip(tb TB, what, reason string) {
	tb.Helper()
	if slices.Contains(strings.Split(os.Getenv(variable), ","), what) {
		tb.Fatalf("%s names %s: %s", variable, what, reason)
	}
	tb.Skipf("%s: %s", what, reason)
}
