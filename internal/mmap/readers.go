package mmap

import (
	"runtime"
	"sync/atomic"
)

// late is how many threads may still read memory whose owner thinks them done.
var late atomic.Int64

// Late says that a thread may go on to read mapped memory though nobody waits for
// what it computes; nothing is unmapped until it has called [Ended].
func Late() { late.Add(1) }

// Ended ends Late.
func Ended() { late.Add(-1) }

// awaitLate returns once no thread is late.
func awaitLate() {
	for late.Load() > 0 {
		runtime.Gosched()
	}
}
