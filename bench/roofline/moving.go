package roofline

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"onebit/bench/results"
	"onebit/internal/cpu"
)

// Accesses.
const (
	Read  = "read"
	Write = "write"
	Copy  = "copy" // half of the bytes to the other half
)

// A Pool is threads that share tasks, such as a kernels.Pool.
type Pool interface {
	Threads() int
	ForEach(n int, task func(i int))
}

// A Prober tells in what state the machine is after a sample. See bench.Prober.
type Prober interface{ Probe() []results.Metric }

// An access is what is done with memory, under the name that it has in names of cases.
type access struct {
	designs func() []design
	prepare func(part []byte)                  // so that it shows whether every byte was moved
	moved   func(part []byte, sum uint64) bool // whether it was
}

// A design is one way to move memory. A reading one returns the sum of all words.
type design struct {
	name string
	move func(part []byte) (sum uint64)
}

var accesses = map[string]*access{
	Read: {
		designs: func() (all []design) {
			for _, k := range running(archReadKernels, cpu.Detected()) {
				all = append(all, design{k.Name, func(part []byte) uint64 { return sum(k, part) }})
			}
			return all
		},
		prepare: func([]byte) {},
		moved:   func(part []byte, sum uint64) bool { return sum == sumGo(part) },
	},
	Write: {
		designs: func() (all []design) {
			for _, k := range running(archWriteKernels, cpu.Detected()) {
				all = append(all, design{k.Name, func(part []byte) uint64 { fill(k, part, filling); return 0 }})
			}
			return all
		},
		prepare: func(part []byte) { clear(part) },
		moved:   func(part []byte, _ uint64) bool { return bytes.Count(part, []byte{filling}) == len(part) },
	},
	Copy: {
		designs: func() (all []design) {
			for _, k := range running(archCopyKernels, cpu.Detected()) {
				all = append(all, design{k.Name, func(part []byte) uint64 {
					dst, src := halves(part)
					copyTo(k, dst, src)
					return 0
				}})
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
	half := len(part) / 2 / LineBytes * LineBytes
	return part[:half], part[half : 2*half]
}

// A Moving reads, writes or copies bytes in rotation. Each thread moves its part of
// them n times over without meeting the others, so the rate holds no dispatch cost.
type Moving struct {
	Prober               // a RoundTrip, if no other is set
	Release func() error // what Close does

	access  string
	pool    Pool
	data    [][]byte
	parts   [][][]byte // of the data, by thread
	design  design
	next, n int
	sums    []uint64 // by thread: of what it moved last
	task    func(thread int)
}

// NewMoving has no design yet: Choose finds one, or Use.
func NewMoving(access string, pool Pool, data ...[]byte) *Moving {
	m := &Moving{
		access: access, pool: pool, sums: make([]uint64, pool.Threads()), parts: make([][][]byte, pool.Threads()),
		Release: func() error { return nil }, Prober: NewRoundTrip(pool),
	}
	m.task = m.moveShare
	m.use(data)
	return m
}

// enough are the bytes by which the fastest design is chosen: of more, the same
// one is.
const enough = 256 << 20

// Choose finds the design that is the fastest, and returns its name: what moves the
// first of the data fastest will move all of them.
func (m *Moving) Choose() string {
	all := m.data
	if first := all[0]; len(first) > enough {
		m.use([][]byte{first[:enough]})
	}
	m.Fastest()
	m.use(all)
	return m.design.name
}

// Use takes a design that was chosen before.
func (m *Moving) Use(name string) error {
	all := accesses[m.access].designs()
	i := slices.IndexFunc(all, func(d design) bool { return d.name == name })
	if i < 0 {
		return fmt.Errorf("no kernel is called %q that can %s", name, m.access)
	}
	m.design = all[i]
	return nil
}

func (m *Moving) use(data [][]byte) {
	m.data, m.next = data, 0
	for thread := range m.parts {
		m.parts[thread] = make([][]byte, len(data))
		for i, d := range data {
			m.parts[thread][i] = part(d, thread, len(m.parts))
		}
	}
}

// Fastest chooses the design and returns how often it moves the data in a
// second. Which is the fastest depends on the cache that holds them.
func (m *Moving) Fastest() (perSecond float64) {
	m.design, perSecond = best(accesses[m.access].designs(), func(d design, n int) int {
		m.design = d
		m.move(n)
		return n
	})
	return perSecond
}

// Run moves the data n times.
func (m *Moving) Run(_ context.Context, n int) error {
	m.move(n)
	return nil
}

func (m *Moving) move(n int) {
	m.n = n
	m.pool.ForEach(len(m.sums), m.task)
	m.next = (m.next + n) % len(m.data)
}

// moveShare moves a thread's part of what is next, n times. A first cache's part
// takes 50 ns: nothing is divided between two, and the sum is written once, for
// the other threads' are on the same line of memory.
func (m *Moving) moveShare(thread int) {
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
func (m *Moving) Verify(ctx context.Context) ([]results.Metric, error) {
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

// Close calls Release.
func (m *Moving) Close() error { return m.Release() }
