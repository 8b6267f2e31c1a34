package threads

// lineTime is how long a cache line takes from one core to another, in nanoseconds:
// on the machines of docs/measurements/threads.md 40 to 50 where cores are near, 210
// to 240 where they are far.
const lineTime = 100

// DispatchTime estimates how many nanoseconds a dispatch to so many threads takes
// beyond its tasks, by the cache lines that one core must wait to get from another.
// Each of the other threads has its queue's line fetched by the caller, which fills
// it, and again by itself; one after the other they write the gate as they enter and
// as they leave; and all read the epoch, what is to be done, and what the other
// queues have left. At the end the caller reads the gate.
func DispatchTime(threads int) float64 {
	others := threads - 1
	if others < 1 {
		return 0
	}
	filled := others
	begun := 3 + others // epoch, task and own queue; and the gate
	ended := 2*others + 1
	return lineTime * float64(filled+begun+ended)
}

// Worth reports whether tasks that take one thread so many nanoseconds end sooner on
// so many threads, as far as can be told before.
func Worth(threads int, nanoseconds float64) bool {
	return nanoseconds-nanoseconds/float64(threads) > DispatchTime(threads)
}
