package cases

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// An access is what is done with memory, under one of names.Accesses.
type access struct {
	designs func() []design
	prepare func(part []byte)                  // so that it shows whether every byte was moved
	moved   func(part []byte, sum uint64) bool // whether it was
}

// A design is one of package roofline's kernels. A reading one returns the sum of all
// words.
type design struct {
	name string
	move func(part []byte) (sum uint64)
}

var accesses = map[string]*access{
	names.ReadAccess: {
		designs: func() (all []design) {
			for _, k := range roofline.ReadKernels(cpu.Detected()) {
				all = append(all, design{k.Name, k.Sum})
			}
			return all
		},
		prepare: func([]byte) {},
		moved:   func(part []byte, sum uint64) bool { return sum == goSum(part) },
	},
	names.WriteAccess: {
		designs: func() (all []design) {
			for _, k := range roofline.WriteKernels(cpu.Detected()) {
				all = append(all, design{k.Name, func(part []byte) uint64 { k.Fill(part, filling); return 0 }})
			}
			return all
		},
		prepare: func(part []byte) { clear(part) },
		moved:   func(part []byte, _ uint64) bool { return bytes.Count(part, []byte{filling}) == len(part) },
	},
	names.CopyAccess: {
		designs: func() (all []design) {
			for _, k := range roofline.CopyKernels(cpu.Detected()) {
				all = append(all, design{k.Name, func(part []byte) uint64 { k.Copy(halves(part)); return 0 }})
			}
			return all
		},
		prepare: func(part []byte) {
			dst, src := halves(part)
			for i := range dst {
				dst[i], src[i] = 0, byte(i*7+i>>8)
			}
		},
		moved: func(part []byte, _ uint64) bool { return bytes.Equal(halves(part)) },
	},
}

// filling is what a write writes.
const filling = 0x5a

// halves are what a copy copies to, and from.
func halves(part []byte) (dst, src []byte) {
	half := len(part) / 2 / roofline.LineBytes * roofline.LineBytes
	return part[:half], part[half : 2*half]
}

// goSum is the sum of all words, by the kernel that runs everywhere.
func goSum(b []byte) uint64 { return roofline.ReadKernels(0)[0].Sum(b) }

// A moving reads, writes or copies bytes in rotation. Each thread moves its part of
// them n times over without meeting the others, so the rate holds no dispatch cost.
type moving struct {
	access  string
	pool    *kernels.Pool
	data    [][]byte
	parts   [][][]byte // of the data, by thread
	design  design
	next, n int
	sums    []uint64 // by thread: of what it moved last
	task    func(thread int)
	release func() error
	bench.Prober
}

// newMoving has no design yet.
func newMoving(access string, pool *kernels.Pool, data ...[]byte) *moving {
	m := &moving{
		access: access, pool: pool, sums: make([]uint64, pool.Threads()), parts: make([][][]byte, pool.Threads()),
		release: func() error { return nil }, Prober: newRoundTrip(pool),
	}
	m.task = m.moveShare
	m.use(data)
	return m
}

// enough are the bytes by which the fastest design is chosen: of more, the same
// one is.
const enough = 256 << 20

// choose finds the design: what moves the first of the data fastest will move all of them.
func (m *moving) choose() {
	all := m.data
	if first := all[0]; len(first) > enough {
		m.use([][]byte{first[:enough]})
	}
	m.fastest()
	m.use(all)
}

func (m *moving) use(data [][]byte) {
	m.data, m.next = data, 0
	for thread := range m.parts {
		m.parts[thread] = make([][]byte, len(data))
		for i, d := range data {
			m.parts[thread][i] = roofline.Part(d, thread, len(m.parts))
		}
	}
}

// fastest chooses the design and returns how often it moves the data in a
// second. Which is the fastest depends on the cache that holds them.
func (m *moving) fastest() (perSecond float64) {
	m.design, perSecond = roofline.Fastest(accesses[m.access].designs(), func(d design, n int) int {
		m.design = d
		m.move(n)
		return n
	})
	return perSecond
}

func (m *moving) Run(_ context.Context, n int) error {
	m.move(n)
	return nil
}

func (m *moving) move(n int) {
	m.n = n
	m.pool.ForEach(len(m.sums), m.task)
	m.next = (m.next + n) % len(m.data)
}

// moveShare moves a thread's part of what is next, n times. A first cache's part
// takes 50 ns: nothing is divided between two, and the sum is written once, for
// the other threads' are on the same line of memory.
func (m *moving) moveShare(thread int) {
	parts, at, sum := m.parts[thread], m.next, uint64(0)
	for range m.n {
		sum = m.design.move(parts[at])
		if at++; at == len(parts) {
			at = 0
		}
	}
	m.sums[thread] = sum
}

// Verify proves that every byte is moved.
func (m *moving) Verify(ctx context.Context) ([]results.Metric, error) {
	of := accesses[m.access]
	m.next = 0
	m.pool.ForEach(len(m.parts), func(thread int) { of.prepare(m.parts[thread][0]) })
	m.move(1)
	right := make([]bool, len(m.parts))
	m.pool.ForEach(len(m.parts), func(thread int) { right[thread] = of.moved(m.parts[thread][0], m.sums[thread]) })
	if slices.Contains(right, false) {
		return nil, fmt.Errorf("the kernel %s does not %s every byte", m.design.name, m.access)
	}
	return nil, ctx.Err()
}

func (m *moving) Close() error { return m.release() }
