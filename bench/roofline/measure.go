package roofline

import (
	"encoding/binary"
	"time"

	"onebit/internal/clock"
	"onebit/internal/mmap"
)

// Pages are the size of the pages that memory lies on.
type Pages string

const (
	Huge  Pages = "huge"  // where the system has them
	Small Pages = "small" // the smallest, where the system lets choose: on Linux
)

// NewBuffer returns n bytes outside the Go heap, every one of them written. The
// caller frees it.
func NewBuffer(n int, pages Pages) (*mmap.Anon, error) {
	a, err := mmap.Alloc(n)
	if err != nil {
		return nil, err
	}
	buf := a.Bytes()
	if pages == Small {
		a.SmallPages(n)
	}
	for i := 0; i+8 <= len(buf); i += 8 {
		// Multiples of 2⁶⁴/φ: no two words are alike.
		binary.LittleEndian.PutUint64(buf[i:], uint64(i+8)*0x9e3779b97f4a7c15)
	}
	for i := len(buf) &^ 7; i < len(buf); i++ {
		buf[i] = 1
	}
	return a, nil
}

// best returns the kernel that does most work in a second, and how much that
// is. run lets a kernel work n times over and says how much it did, in any unit.
// Each kernel warms up for a millisecond or more, 1,000 steps of the clock at
// least, and has a turn as long; those near the fastest have three more, one
// after the other. The best turn of each counts: what disturbs one makes it
// slower. It panics if there is no kernel.
func best[K any](kernels []K, run func(k K, n int) (work int)) (best K, perSecond float64) {
	return fastest(kernels, run, clock.Now, max(time.Millisecond, 1000*clock.Step()))
}

// near is which share of the fastest rate a kernel has that may be the fastest.
const near = 0.7

func fastest[K any](kernels []K, run func(k K, n int) (work int), now func() time.Time, turnTime time.Duration) (best K, perSecond float64) {
	turn := func(k K, n int) (rate float64, d time.Duration) {
		start := now()
		work := run(k, n)
		d = max(now().Sub(start), 1)
		return float64(work) / d.Seconds(), d
	}
	best = kernels[0]
	n, rates := make([]int, len(kernels)), make([]float64, len(kernels))
	try := func(i int) {
		rate, _ := turn(kernels[i], n[i])
		if rates[i] = max(rates[i], rate); rate > perSecond {
			best, perSecond = kernels[i], rate
		}
	}
	for i, k := range kernels {
		n[i] = 1
		for _, d := turn(k, 1); d < turnTime; _, d = turn(k, n[i]) {
			n[i] *= 2
		}
		try(i)
	}
	for range 3 {
		for i := range kernels {
			if rates[i] >= near*perSecond {
				try(i)
			}
		}
	}
	return best, perSecond
}

// Dispatch is the time in which a pool's threads do nothing together.
func Dispatch(pool Pool) time.Duration {
	task := func(int) {}
	_, rate := best([]int{0}, func(_, n int) int {
		for range n {
			pool.ForEach(pool.Threads(), task)
		}
		return n
	})
	return time.Duration(1e9 / rate)
}
