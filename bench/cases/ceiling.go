package cases

import (
	"context"
	"errors"
	"math/bits"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/cpu"
	"onebit/kernels"
)

// A ceiling is the case that only reads a group's weights: its bytes per
// second are what %roof of the group's products is a share of.
type ceiling struct {
	group  *group
	config // of a product that reads these bytes
	bytes  int
}

func (c ceiling) name() string {
	src := c.group.src
	return names.Read{
		Format: src.Format.Name, Rows: src.Rows, Cols: src.Cols, Bytes: c.bytes, Threads: c.threads, Cache: c.cache(),
	}.String()
}

func (c ceiling) benchCase() bench.Case {
	return bench.Case{
		Name: c.name(), Group: c.group.name(), Bytes: int64(c.bytes), Ceiling: true,
		Check: c.group.env.limits.check(c.threads), Solo: c.solo(),
		Setup: func(context.Context) (bench.Instance, error) { return c.setup() },
	}
}

// solo is the ceiling that one thread reads. Out of caches, that is: a core by
// itself may read all that memory gives.
func (c ceiling) solo() string {
	if c.cold || c.threads == 1 {
		return ""
	}
	c.threads = 1
	return c.name()
}

func (c ceiling) setup() (bench.Instance, error) {
	if err := c.group.acquire(); err != nil {
		return nil, err
	}
	_, matrices, err := c.group.matrices(c.variant, c.cold)
	if err != nil {
		c.group.release()
		return nil, err
	}
	data := make([][]byte, len(matrices))
	for i, m := range matrices {
		data[i] = m.Data
	}
	env := c.group.env
	r := readingOf(env.pool(c.threads), data)
	r.Prober, r.release = newRoundTrip(r.pool), c.group.release
	at := readPlace{c.threads, c.cold, bits.Len(uint(c.bytes))}
	kernel, known := env.readers[at]
	if !known {
		r.choose(data)
		env.readers[at] = r.kernel
	} else {
		r.kernel, r.sum = kernel, kernel.Sum
	}
	return r, nil
}

// A readPlace is what decides which kernel reads the fastest: how many threads, and from
// where, which of as many bytes, to a factor of two, is the same.
type readPlace struct {
	threads int
	cold    bool
	size    int
}

// enough are the bytes by which the fastest kernel is chosen: of more, the same
// one is.
const enough = 256 << 20

// A reading is a ceiling that is set up: bytes that are read in rotation. Each
// thread reads its share of them n times over without meeting the others, so
// the rate holds no dispatch cost.
type reading struct {
	pool    *kernels.Pool
	data    [][]byte
	parts   [][][]byte // of the data, by thread
	kernel  roofline.ReadKernel
	sum     func([]byte) uint64 // the kernel's
	next, n int
	sums    []uint64 // by thread: what it read last
	task    func(thread int)
	release func() error
	bench.Prober
}

func newReading(pool *kernels.Pool, data [][]byte) *reading {
	r := readingOf(pool, data)
	r.Prober = newRoundTrip(pool)
	r.choose(data)
	return r
}

// choose finds the kernel: what reads the first of the data fastest will read all of them.
func (r *reading) choose(data [][]byte) {
	if first := data[0]; len(first) > enough {
		r.use([][]byte{first[:enough]})
	}
	r.fastest()
	r.use(data)
}

// readingOf has no kernel yet.
func readingOf(pool *kernels.Pool, data [][]byte) *reading {
	r := &reading{pool: pool, sums: make([]uint64, pool.Threads()), parts: make([][][]byte, pool.Threads())}
	r.task = r.readShare
	r.use(data)
	return r
}

func (r *reading) use(data [][]byte) {
	r.data, r.next = data, 0
	for thread := range r.parts {
		r.parts[thread] = make([][]byte, len(data))
		for i, d := range data {
			r.parts[thread][i] = r.share(d, thread)
		}
	}
}

// fastest chooses the kernel and returns how often it reads the data in a
// second. Which is the fastest depends on the cache that holds them.
func (r *reading) fastest() (perSecond float64) {
	r.kernel, perSecond = roofline.Fastest(roofline.ReadKernels(cpu.Detected()), func(k roofline.ReadKernel, n int) int {
		r.sum = k.Sum
		r.read(n)
		return n
	})
	r.sum = r.kernel.Sum
	return perSecond
}

func (r *reading) Run(_ context.Context, n int) error {
	r.read(n)
	return nil
}

func (r *reading) read(n int) {
	r.n = n
	r.pool.ForEach(len(r.sums), r.task)
	r.next = (r.next + n) % len(r.data)
}

// readShare reads a thread's part of what is next, n times. A first cache's part
// takes 50 ns: nothing is divided between two, and the sum is written once, for
// the other threads' are on the same line of memory.
func (r *reading) readShare(thread int) {
	parts, at, sum := r.parts[thread], r.next, uint64(0)
	for range r.n {
		sum = r.sum(parts[at])
		if at++; at == len(parts) {
			at = 0
		}
	}
	r.sums[thread] = sum
}

// share is the bytes that a thread reads.
func (r *reading) share(data []byte, thread int) []byte {
	return roofline.Part(data, thread, len(r.sums))
}

// Verify proves that every byte was read, by comparing sums of all words.
func (r *reading) Verify(context.Context) ([]results.Metric, error) {
	r.next = 0
	r.read(1)
	for thread, got := range r.sums {
		if want := goSum(r.share(r.data[0], thread)); got != want {
			return nil, errors.New("the reading kernel " + r.kernel.Name + " does not read every byte")
		}
	}
	return nil, nil
}

// goSum is the sum of all words, by the kernel that runs everywhere.
func goSum(b []byte) uint64 { return roofline.ReadKernels(0)[0].Sum(b) }

func (r *reading) Close() error { return r.release() }
