package require

import (
	"hash/maphash"
	"math/rand/v2"
	"os"
	"strconv"
)

// Two variables say how much of a test runs: everything with all set, else a part
// that is drawn by seed, or anew in each process where there is none.
const (
	all  = "ONEBIT_ALL"
	seed = "ONEBIT_SEED"
)

// All reports whether tests run in full (ONEBIT_ALL=1).
func All() bool { return os.Getenv(all) != "" }

// processSeed is this process's, where none is asked for.
var processSeed = maphash.String(maphash.MakeSeed(), "")

// Seed returns what a test draws by, and logs it: ONEBIT_SEED draws the same again.
func Seed(tb interface {
	Helper()
	Logf(format string, args ...any)
}) uint64 {
	tb.Helper()
	s, err := strconv.ParseUint(os.Getenv(seed), 10, 64)
	if err != nil {
		s = processSeed
	}
	tb.Logf("%s=%d", seed, s)
	return s
}

// Draw returns one in n of the items in their order, at least one, or all of
// them under ONEBIT_ALL. What is drawn is logged as a seed.
func Draw[T any](tb interface {
	Helper()
	Logf(format string, args ...any)
}, n int, items []T) []T {
	tb.Helper()
	if All() || n <= 1 || len(items) <= 1 {
		return items
	}
	keep := (len(items) + n - 1) / n
	random := rand.New(rand.NewPCG(Seed(tb), uint64(len(items))))
	drawn := make([]T, 0, keep)
	for i, item := range items {
		if random.IntN(len(items)-i) < keep-len(drawn) {
			drawn = append(drawn, item)
		}
	}
	return drawn
}

// Numbers are those from first to last.
func Numbers(first, last int) (all []int) {
	for n := first; n <= last; n++ {
		all = append(all, n)
	}
	return all
}
