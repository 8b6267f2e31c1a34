package cases

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"onebit/bench/roofline"
	"onebit/internal/mmap"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// An env is what all groups of a suite share: threads, what the machine does at
// most, and how much memory it takes to miss the last-level cache.
type env struct {
	pools      map[int]*kernels.Pool
	maxThreads int
	limits     *roofline.Limits
	readers    map[readPlace]string // the fastest, where one was looked for
	coldBytes  int                  // that copies of a matrix fill, to be cold
	model      string
	ggufTypes  []string
	memoryVerb string
	folder     folder // see Options.Folder
	doubts     []string
	gpu        *gpu // nil: no case is for it

	// spare is memory that no group uses at present. A group's copies take
	// hundreds of megabytes: their pages are made once, not for each group.
	spare []*mmap.Anon
}

func newEnv(threads []int, host sysinfo.Host) *env {
	return &env{
		pools: map[int]*kernels.Pool{}, readers: map[readPlace]string{}, maxThreads: maxOf(threads), doubts: hostDoubts(host),
		limits: &roofline.Limits{Emulated: host.Emulated(), Measure: roofline.MeasureLimits},
	}
}

const (
	// coldCaches and coldLeast are how much copies of a matrix fill to be cold:
	// so many last-level caches, and no less than this. Caches do not forget
	// what is oldest: of a rotation over 1.25 caches they hold a part.
	coldCaches = 4
	coldLeast  = 256 << 20

	// defaultLLC stands in where the size of the last-level cache is unknown:
	// as large as any desktop's.
	defaultLLC = 96 << 20
)

// cold is how many bytes are to rotate for a machine's caches.
func cold(host sysinfo.Host) sysinfo.Bytes {
	return max(coldCaches*lastLevelCache(host), coldLeast)
}

// setCold chooses coldBytes where so many layouts of a matrix rotate at once.
func (r *env) setCold(host sysinfo.Host, layouts int) {
	r.coldBytes = int(r.roomToMiss(host, layouts, "cache=cold rotates", "over"))
}

// roomToMiss is as many bytes as it takes to miss the caches, or as memory allows for
// one of so many, with a warning of what is done with less.
func (r *env) roomToMiss(host sysinfo.Host, of int, done, with string) sysinfo.Bytes {
	want, llc := cold(host), lastLevelCache(host)
	bytes := min(want, memoryRoom(host)/sysinfo.Bytes(max(of, 1)))
	if bytes < want {
		r.warn(fmt.Sprintf("%s %s %v and not %s %v, for which memory has no room. The last-level cache has %v: %s",
			done, with, bytes, with, want, llc, coldMeaning(bytes, llc)))
	}
	return bytes
}

// levelHolds is the bytes of a level of the caches that so many threads have: each core
// its own, but for l3. It is 0 of memory.
func levelHolds(host sysinfo.Host, level string, threads int) (int, error) {
	cache := map[string]sysinfo.Value[sysinfo.Bytes]{"l1d": host.L1d, "l2": host.L2, "l3": host.L3}[level]
	if level != "l3" {
		cache.V *= sysinfo.Bytes(threads)
	}
	return int(cache.V), cache.Err
}

// coldMeaning says what figures of so many bytes are, which are fewer than they
// should be.
func coldMeaning(bytes, llc sysinfo.Bytes) string {
	switch {
	case bytes <= llc:
		return "it holds them all, and cold figures are warm ones"
	case bytes >= coldCaches*llc:
		return "they miss it, but a larger cache around it, such as a server's, holds them"
	}
	return fmt.Sprintf("it holds a part of them (%.2g times its size), and cold figures are too fast", float64(bytes)/float64(llc))
}

// memoryRoom is how much of memory copies may take: the machine is not ours
// alone.
func memoryRoom(host sysinfo.Host) sysinfo.Bytes {
	room := sysinfo.Bytes(math.MaxInt64)
	if m := host.MemAvailable; m.OK() {
		room = m.V
	}
	if m := host.MemLimit; m.OK() && m.V > 0 {
		room = min(room, sysinfo.Bytes(m.V))
	}
	return room / 2
}

func lastLevelCache(host sysinfo.Host) sysinfo.Bytes {
	switch {
	case host.L3.OK():
		return host.L3.V
	case host.L2.OK():
		return host.L2.V
	}
	return defaultLLC
}

func maxOf(threads []int) int {
	n := 1
	for _, t := range threads {
		n = max(n, t)
	}
	return n
}

// warn adds what the results should be read with.
func (r *env) warn(text string) {
	if !slices.Contains(r.doubts, text) {
		r.doubts = append(r.doubts, text)
	}
}

func (r *env) allDoubts() []string { return r.doubts }

func (r *env) gpuEmulator() string { return r.gpu.emulator() }

// pool returns the worker pool of that many threads.
func (r *env) pool(threads int) *kernels.Pool {
	p := r.pools[threads]
	if p == nil {
		p = kernels.NewPool(threads)
		r.pools[threads] = p
	}
	return p
}

// take returns memory of at least that size, to be given back.
func (r *env) take(size int) (*mmap.Anon, error) {
	for i, m := range r.spare {
		if len(m.Bytes()) >= size {
			r.spare = slices.Delete(r.spare, i, i+1)
			return m, nil
		}
	}
	const step = 64 << 20 // so that the next group's, a little larger, fits too
	return mmap.Alloc((size + step - 1) / step * step)
}

func (r *env) giveBack(m *mmap.Anon) { r.spare = append(r.spare, m) }

func (r *env) close() error {
	for _, p := range r.pools {
		p.Close()
	}
	var errs []error
	for _, m := range r.spare {
		errs = append(errs, m.Free())
	}
	r.spare = nil
	return errors.Join(append(errs, r.gpu.close())...)
}
