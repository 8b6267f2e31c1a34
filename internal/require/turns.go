package require

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Taker is what Turns needs of testing.TB.
type Taker interface {
	Skipper
	Name() string
	Logf(format string, args ...any)
}

// Turns skips a test that takes seconds unless it is the one that is drawn of
// those named, each of which asks so. Under ONEBIT_ALL all of them run.
func Turns(tb Taker, tests ...string) {
	tb.Helper()
	if All() {
		return
	}
	if !slices.Contains(tests, tb.Name()) {
		panic("require: a test takes turns with others only")
	}
	random := rand.New(rand.NewPCG(Seed(tb), uint64(len(tests))))
	if drawn := tests[random.IntN(len(tests))]; drawn != tb.Name() {
		tb.Skip(drawn + " is drawn of " + strings.Join(tests, ", ") + "; ONEBIT_ALL=1 runs all")
	}
}
