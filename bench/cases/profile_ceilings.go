package cases

import (
	"time"

	"onebit/bench/names"
	"onebit/bench/profile"
	"onebit/bench/roofline"
	"onebit/internal/sysinfo"
	"onebit/kernels"
)

// measureCeilings finds in about a second what the machine does at most with a
// pool's threads.
func measureCeilings(pool *kernels.Pool, host sysinfo.Host) (profile.Ceilings, error) {
	threads := pool.Threads()
	c := profile.Ceilings{Threads: threads, Dispatch: emptyDispatch(pool), Source: "measured before the passes"}
	beyond := int(coldCaches * lastLevelCache(host))
	for _, l := range []struct {
		name  string
		cache sysinfo.Value[sysinfo.Bytes]
		of    int // threads that have one each
	}{{"l1d", host.L1d, threads}, {"l2", host.L2, threads}, {"l3", host.L3, 1}} {
		if !l.cache.OK() || l.cache.V <= 0 {
			continue
		}
		holds := int(l.cache.V) * l.of
		// Half of it leaves room for what else is in use.
		rate, err := readRate(pool, holds/2)
		if err != nil {
			return c, err
		}
		c.Levels = append(c.Levels, profile.Level{Name: l.name, Bytes: holds, Rate: rate})
	}
	rate, err := readRate(pool, min(max(beyond, 1<<20), int(memoryRoom(host))))
	if err != nil {
		return c, err
	}
	c.Levels = append(c.Levels, profile.Level{Name: names.DRAM, Rate: rate})
	peak := newDotPeak(pool)
	c.Int8, c.Float32 = peak.fastest(roofline.Int8), peak.fastest(roofline.Float32)
	return c, nil
}

// readRate is the bytes per second that a pool's threads read together, each
// its part of a buffer again and again.
func readRate(pool *kernels.Pool, size int) (float64, error) {
	buf, err := roofline.NewBuffer(size, roofline.Huge)
	if err != nil {
		return 0, err
	}
	defer buf.Free()
	return newMoving(names.ReadAccess, pool, buf.Bytes()).fastest() * float64(size), nil
}

// emptyDispatch is the time in which a pool's threads do nothing together.
func emptyDispatch(pool *kernels.Pool) time.Duration {
	task := func(int) {}
	_, rate := roofline.Fastest([]int{0}, func(_, n int) int {
		for range n {
			pool.ForEach(pool.Threads(), task)
		}
		return n
	})
	return time.Duration(1e9 / rate)
}
