package roofline

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
)

// LineBytes is the length of what caches hold, or a part of it: no two steps of
// a chain read the same, and what threads move meets at its multiples.
const LineBytes = 64

// A chain is memory whose cache lines name each other in one cycle through all
// of them, in random order: a step can't begin before the one before it has
// read where it leads, and no prefetcher knows where that is. The time of a
// step is the latency of whatever holds the memory.
type chain struct {
	buf    []byte
	origin uint64 // what is added to the offsets that lines hold
	at     uint64 // where the walk is
}

// newChain makes a chain of buf, which holds no Go pointers and is not moved: a
// cycle that seed chooses. It panics if buf has no line or more than 2³² of them.
func newChain(buf []byte, seed uint64) *chain {
	order := make([]uint32, uint32(len(buf)/LineBytes))
	for i := range order {
		order[i] = uint32(i)
	}
	// Sattolo's shuffle makes a permutation of one cycle (Information
	// Processing Letters 22(6), 1986).
	r := rand.New(rand.NewPCG(seed, uint64(len(order))))
	for i := len(order) - 1; i > 0; i-- {
		j := r.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	c := &chain{buf: buf, origin: chainOrigin(&buf[0])}
	for i, next := range order {
		binary.LittleEndian.PutUint64(buf[i*LineBytes:], uint64(next)*LineBytes+c.origin)
	}
	c.at = c.origin
	return c
}

// Lines is how many steps the cycle has.
func (c *chain) Lines() int { return len(c.buf) / LineBytes }

// Walk goes so many steps further and returns the line that it ends at, from 0.
// The walk began at line 0.
func (c *chain) Walk(steps int) int {
	const most = 1 << 16 // in assembly, which the scheduler cannot interrupt
	for ; steps > most; steps -= most {
		c.at = chase(c.buf, c.at, most)
	}
	c.at = chase(c.buf, c.at, steps)
	return int(c.at-c.origin) / LineBytes
}

// chaseGo is the pure Go walk over offsets, and what the others are compared
// with.
func chaseGo(buf []byte, at uint64, steps int) uint64 {
	for range steps {
		at = binary.LittleEndian.Uint64(buf[at:])
	}
	return at
}

// A Walking is loads that wait for each other, along a chain.
type Walking struct {
	Prober
	Release func() error

	chain   *chain
	cached  []byte // what is to be in the caches before; nil for what they don't hold
	elapsed time.Duration
}

// NewWalking walks through memory that caches hold, or do not.
func NewWalking(buf []byte, seed uint64, cached bool) *Walking {
	w := &Walking{chain: newChain(buf, seed)}
	if cached {
		w.cached = buf
	}
	return w
}

// Run brings the chain into the caches, from which other cases have removed it,
// before it is timed: a walk would take longer for that than a sample lasts.
func (w *Walking) Run(_ context.Context, n int) error {
	if w.cached != nil {
		sumGo(w.cached)
		sumGo(w.cached)
		w.chain.Walk(min(w.chain.Lines(), 1<<12))
	}
	start := clock.Now()
	w.chain.Walk(n)
	w.elapsed = clock.Since(start)
	return nil
}

// Elapsed is without what brings the chain into the caches.
func (w *Walking) Elapsed() time.Duration { return w.elapsed }

// Verify proves that the chain is a cycle through all of its lines: it begins
// again after as many steps, and not after a part of them that divides it.
func (w *Walking) Verify(context.Context) ([]results.Metric, error) {
	const most = 1 << 17 // steps: 8 MiB, some milliseconds
	lines := w.chain.Lines()
	if lines > most {
		return nil, nil
	}
	if half, whole := w.chain.Walk(lines/2), w.chain.Walk(lines-lines/2); half == 0 || whole != 0 {
		return nil, fmt.Errorf("the chain is no cycle of %d lines: it is at line %d after them", lines, whole)
	}
	return nil, nil
}

// Close calls Release.
func (w *Walking) Close() error { return w.Release() }
