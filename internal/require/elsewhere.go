package require

import "os"

// emulated says that instructions, or an operating system, are played.
const emulated = "ONEBIT_EMULATED"

// Emulated reports whether tests run on a played machine, such as qemu's or
// Wine's (ONEBIT_EMULATED=1): what is the same code on every machine, and slow
// there, has been tried on a real one.
func Emulated() bool { return os.Getenv(emulated) != "" }

// Skipper is what Unraced and Unplayed need of testing.TB.
type Skipper interface {
	Helper()
	Skip(args ...any)
}

// Unraced skips a test that has nothing to show the race detector, and says why.
func Unraced(tb Skipper, why string) {
	tb.Helper()
	if Race {
		tb.Skip("not raced: " + why)
	}
}

// Unplayed skips a test that would show on a played machine what it has shown on a
// real one, and says why.
func Unplayed(tb Skipper, why string) {
	tb.Helper()
	if Emulated() {
		tb.Skip("not on a played machine: " + why)
	}
}
