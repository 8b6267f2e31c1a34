package cases

import (
	"context"
	"fmt"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/mmap"
	"onebit/internal/sysinfo"
)

// An arena is memory that the cases of a group share while they live.
type arena struct {
	env   *env
	pages roofline.Pages
	size  int
	users int
	mem   *mmap.Anon
}

func (a *arena) acquire() error {
	if a.users == 0 {
		before := sysinfo.ReadHugeAnon()
		mem, err := roofline.NewBuffer(a.size, a.pages)
		if err != nil {
			return err
		}
		a.mem = mem
		a.checkPages(before)
	}
	a.users++
	return nil
}

// checkPages warns if memory that should be on huge pages is not: the system
// may have none left.
func (a *arena) checkPages(before sysinfo.Value[sysinfo.Bytes]) {
	after := sysinfo.ReadHugeAnon()
	if a.pages != roofline.Huge || !before.OK() || !after.OK() {
		return
	}
	if huge := after.V - before.V; huge < sysinfo.Bytes(a.size)*9/10 {
		a.env.warn(fmt.Sprintf("of %v that should be on huge pages %v are: the system has no more of them, and pages=huge is slower than they are",
			sysinfo.Bytes(a.size), max(huge, 0)))
	}
}

func (a *arena) release() error {
	if a.users--; a.users > 0 {
		return nil
	}
	mem := a.mem
	a.mem = nil
	return mem.Free()
}

// addBandwidths adds reading, writing and copying, from each level of the
// caches and from DRAM, and reading over all sizes.
func (m *machine) addBandwidths(pages roofline.Pages) {
	memory := &arena{env: m.env, pages: pages, size: m.largest}
	have := map[names.Bandwidth]bool{} // without the level: a point of a sweep may be a level's
	add := func(access, level string, bytes, threads int) {
		name := names.Bandwidth{Access: access, Bytes: bytes, Pages: string(pages), Threads: threads}
		if !have[name] {
			have[name] = true
			name.Level = level
			m.suite.Cases = append(m.suite.Cases, m.bandwidthCase(name, memory))
		}
	}
	for _, access := range names.Accesses {
		for _, level := range names.Levels {
			for _, threads := range m.Threads {
				bytes, err := m.levelBytes(level, threads)
				if err != nil {
					m.suite.unavailable(names.Bandwidth{Access: access, Level: level, Pages: string(pages), Threads: threads}.String(), err)
					continue
				}
				add(access, level, bytes, threads)
			}
		}
	}
	for _, threads := range []int{m.Threads[0], m.Threads[len(m.Threads)-1]} {
		for _, size := range m.sizes {
			if pages == roofline.Huge || m.lacks(roofline.Huge) != nil {
				add(names.ReadAccess, "", size, threads)
			}
		}
	}
}

// levelBytes is how much a level's cases move: half of the caches of the cores
// that have their own, and of the cache that they share, so that what else the
// threads touch finds room.
func (m *machine) levelBytes(level string, threads int) (int, error) {
	if level == names.DRAM {
		return m.largest, nil
	}
	holds, err := levelHolds(m.Host, level, threads)
	if err != nil {
		return 0, err
	}
	bytes := holds / 2
	if own := m.Host.L2; level == "l3" && own.OK() && bytes < 2*threads*int(own.V) {
		return 0, fmt.Errorf("the cores' own caches hold half of it, %v", sysinfo.Bytes(bytes))
	}
	const unit = 4096
	if bytes = bytes / unit * unit; bytes == 0 || bytes > m.largest {
		return 0, fmt.Errorf("%v are not measured", sysinfo.Bytes(bytes))
	}
	return bytes, nil
}

// bandwidthCase is a case of one access.
func (m *machine) bandwidthCase(name names.Bandwidth, memory *arena) bench.Case {
	c := bench.Case{
		Name: name.String(), Group: "memory, " + name.Pages + " pages", Ceiling: true,
		Setup: func(context.Context) (bench.Instance, error) {
			if err := memory.acquire(); err != nil {
				return nil, err
			}
			pool := m.pool(name.Threads)
			move := roofline.NewMoving(name.Access, pool, memory.mem.Bytes()[:name.Bytes])
			move.Prober, move.Release = m.probe(pool), memory.release
			move.Choose()
			return move, nil
		},
	}
	bytes := float64(name.Bytes)
	switch name.Access {
	case names.ReadAccess:
		c.Bytes, c.Check = int64(name.Bytes), m.limits.Check(name.Threads)
	case names.WriteAccess:
		c.Rates = []results.Metric{{Unit: results.WriteRate, Value: bytes}}
	case names.CopyAccess:
		c.Rates = []results.Metric{{Unit: results.CopyRate, Value: bytes}}
	}
	return c
}

// addLatencies adds how long a load takes that waits for the one before, over
// all sizes.
func (m *machine) addLatencies(pages roofline.Pages) {
	memory := &arena{env: m.env, pages: pages}
	for _, size := range m.sizes {
		from := memory.size
		memory.size += size
		m.suite.Cases = append(m.suite.Cases, bench.Case{
			Name: names.Latency{Bytes: size, Pages: string(pages)}.String(), Group: "latency, " + string(pages) + " pages", Ceiling: true,
			Setup: func(context.Context) (bench.Instance, error) {
				if err := memory.acquire(); err != nil {
					return nil, err
				}
				w := roofline.NewWalking(memory.mem.Bytes()[from:from+size], m.Seed, sysinfo.Bytes(size) <= lastLevelCache(m.Host))
				w.Prober, w.Release = m.probe(m.pool(1)), memory.release
				return w, nil
			},
		})
	}
}
