// Package require decides what of the tests runs: whether one may be skipped for
// something that this machine lacks (a CPU feature, a browser, a disassembler),
// which part of an exhaustive one is drawn, and what a test has to do with the
// race detector or a played machine.
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

// Skip skips the test because the machine lacks what, one name or several
// joined by commas. The test fails instead if ONEBIT_REQUIRE has one of them.
// CPU features go by the names of internal/cpu: pass Detected().Missing(…).String().
func Skip(tb TB, what, reason string) {
	tb.Helper()
	required := strings.Split(os.Getenv(variable), ",")
	for name := range strings.SplitSeq(what, ",") {
		if slices.Contains(required, name) {
			tb.Fatalf("%s names %s: %s", variable, name, reason)
		}
	}
	tb.Skipf("%s: %s", what, reason)
}
