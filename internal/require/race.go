//go:build race

package require

// Race says that the race detector is on. It makes code ten times as slow and
// sees nothing of assembly: a test without goroutines, or one of what an
// instruction computes, has nothing to show it.
const Race = true
