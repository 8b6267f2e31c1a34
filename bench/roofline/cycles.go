package roofline

import (
	"time"

	"onebit/internal/clock"
)

// CyclesInLoop is how many cycles of the clock an iteration of Cycles takes.
const CyclesInLoop = 32

// Cycles performs so many iterations of 32 operations, each of which waits for
// the one before: xor and add of two registers, which every processor that Go
// supports does in a cycle. Its time is the clock's frequency. What it returns
// depends on all of them; who drops it has them performed all the same.
//
//go:noinline
func Cycles(iterations int) uint64 {
	x, a, b := uint64(1), uint64(0x9e3779b97f4a7c15), uint64(iterations)|1
	for range iterations {
		x = ((x ^ a) + b) ^ a
		x = ((x + b) ^ a) + b
		x = ((x ^ a) + b) ^ a
		x = ((x + b) ^ a) + b
		x = ((x ^ a) + b) ^ a
		x = ((x + b) ^ a) + b
		x = ((x ^ a) + b) ^ a
		x = ((x + b) ^ a) + b
		x = ((x ^ a) + b) ^ a
		x = ((x + b) ^ a) + b
		x = (x ^ a) + b
	}
	return x
}

// ClockRate is the frequency of the calling thread's clock, in Hz, measured three
// times: whoever interrupts it does not interrupt all of them.
func ClockRate() float64 {
	const iterations = 1 << 10 // 10 µs
	best := time.Duration(1 << 62)
	for range 3 {
		start := clock.Now()
		_ = Cycles(iterations)
		best = min(best, max(clock.Since(start), 1))
	}
	return iterations * CyclesInLoop / best.Seconds()
}
