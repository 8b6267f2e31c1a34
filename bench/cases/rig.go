package cases

import (
	"errors"
	"slices"

	"onebit/internal/mmap"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// A rig is what all groups of a suite share: threads, and how much memory it
// takes to miss the last-level cache.
type rig struct {
	pools       map[int]*kernels.Pool
	maxThreads  int
	coldBytes   int // that copies of a matrix fill, to be cold
	model       string
	ggufTypes   []string
	peakCommand []string
	doubts      []string

	// spare is memory that no group uses at present. A group's copies take
	// hundreds of megabytes: their pages are made once, not for each group.
	spare []*mmap.Anon
}

// defaultLLC stands in where the size of the last-level cache is unknown: as
// large as any desktop's.
const defaultLLC = 96 << 20

func newRig(opt *Options) *rig {
	r := &rig{
		pools: map[int]*kernels.Pool{}, maxThreads: maxOf(opt.Threads),
		model: opt.Model, ggufTypes: opt.GGUFTypes, peakCommand: opt.PeakCommand, doubts: hostDoubts(opt.Host),
	}
	llc := lastLevelCache(opt.Host)
	r.coldBytes = int(llc + llc/4)
	// Two layouts may be cold at once, and the machine is not ours alone.
	if m := opt.Host.MemAvailable; m.OK() && r.coldBytes > int(m.V/6) {
		r.coldBytes = int(m.V / 6)
		r.warn("cache=cold is less than cold: memory has no room for copies that exceed the last-level cache of " + llc.String())
	}
	return r
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
func (r *rig) warn(text string) {
	if !slices.Contains(r.doubts, text) {
		r.doubts = append(r.doubts, text)
	}
}

func (r *rig) allDoubts() []string { return r.doubts }

// pool returns the worker pool of that many threads.
func (r *rig) pool(threads int) *kernels.Pool {
	p := r.pools[threads]
	if p == nil {
		p = kernels.NewPool(threads)
		r.pools[threads] = p
	}
	return p
}

// take returns memory of at least that size, to be given back.
func (r *rig) take(size int) (*mmap.Anon, error) {
	for i, m := range r.spare {
		if len(m.Bytes()) >= size {
			r.spare = slices.Delete(r.spare, i, i+1)
			return m, nil
		}
	}
	const step = 64 << 20 // so that the next group's, a little larger, fits too
	return mmap.Alloc((size + step - 1) / step * step)
}

func (r *rig) giveBack(m *mmap.Anon) { r.spare = append(r.spare, m) }

func (r *rig) close() error {
	for _, p := range r.pools {
		p.Close()
	}
	var errs []error
	for _, m := range r.spare {
		errs = append(errs, m.Free())
	}
	r.spare = nil
	return errors.Join(errs...)
}
