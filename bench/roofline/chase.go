package roofline

import (
	"encoding/binary"
	"math/rand/v2"
)

// LineBytes is the length of what caches hold, or a part of it: no two steps of
// a Chain read the same, and what threads move meets at its multiples.
const LineBytes = 64

// A Chain is memory whose cache lines name each other in one cycle through all
// of them, in random order: a step can't begin before the one before it has
// read where it leads, and no prefetcher knows where that is. The time of a
// step is the latency of whatever holds the memory.
type Chain struct {
	buf    []byte
	origin uint64 // what is added to the offsets that lines hold
	at     uint64 // where the walk is
}

// NewChain makes a chain of buf, which holds no Go pointers and is not moved: a
// cycle that seed chooses. It panics if buf has no line or more than 2³² of them.
func NewChain(buf []byte, seed uint64) *Chain {
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
	c := &Chain{buf: buf, origin: chainOrigin(&buf[0])}
	for i, next := range order {
		binary.LittleEndian.PutUint64(buf[i*LineBytes:], uint64(next)*LineBytes+c.origin)
	}
	c.at = c.origin
	return c
}

// Lines is how many steps the cycle has.
func (c *Chain) Lines() int { return len(c.buf) / LineBytes }

// Walk goes so many steps further and returns the line that it ends at, from 0.
// The walk began at line 0.
func (c *Chain) Walk(steps int) int {
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
