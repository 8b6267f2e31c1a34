package roofline

import (
	"encoding/binary"
	"slices"
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

// Fastest returns the kernel that does most work in a second, and how much that
// is. run lets a kernel work n times over and says how much it did, in any unit.
// Each kernel warms up for a millisecond or more, 1,000 steps of the clock at
// least, and has three turns as long, of which the median counts; one that is
// not half as fast as the best before it has no turns. It panics if there is no
// kernel.
func Fastest[K any](kernels []K, run func(k K, n int) (work int)) (best K, perSecond float64) {
	return fastest(kernels, run, clock.Now, max(time.Millisecond, 1000*clock.Step()))
}

func fastest[K any](kernels []K, run func(k K, n int) (work int), now func() time.Time, turnTime time.Duration) (best K, perSecond float64) {
	best = kernels[0]
	for _, k := range kernels {
		turn := func(n int) (work int, d time.Duration) {
			start := now()
			work = run(k, n)
			return work, now().Sub(start)
		}
		rate := func(work int, d time.Duration) float64 { return float64(work) / max(d, 1).Seconds() }
		n := 1
		work, d := turn(n)
		for ; d < turnTime; work, d = turn(n) {
			n *= 2
		}
		if rate(work, d) < perSecond/2 {
			continue
		}
		var rates [3]float64
		for i := range rates {
			rates[i] = rate(turn(n))
		}
		slices.Sort(rates[:])
		if rates[1] > perSecond {
			best, perSecond = k, rates[1]
		}
	}
	return best, perSecond
}
