package require

import "runtime"

// Procs raises GOMAXPROCS to at least n until the test ends: a pool has no more
// threads than that, and results of several are worth a test on few CPUs too.
func Procs(tb interface{ Cleanup(func()) }, n int) {
	if before := runtime.GOMAXPROCS(0); before < n {
		runtime.GOMAXPROCS(n)
		tb.Cleanup(func() { runtime.GOMAXPROCS(before) })
	}
}
