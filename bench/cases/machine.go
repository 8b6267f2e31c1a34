package cases

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/clock"
	"onebit/internal/cpu"
	"onebit/internal/sysinfo"
)

// MachineOptions say what a suite of the machine's ceilings covers.
type MachineOptions struct {
	Threads  []int // nil: 1, its doublings, and all that the process may use
	Features cpu.Set
	Host     sysinfo.Host
	Seed     uint64    // of the order in which latency is measured
	Short    bool      // fewer sizes, huge pages alone
	Started  time.Time // of the run, by the wall clock: samples say when they were taken
}

// Machine returns the cases of what the machine does at most; see the package
// comment.
func Machine(opt MachineOptions) (*Suite, error) {
	if opt.Threads == nil {
		opt.Threads = doublings(opt.Host.UsableCPUs)
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	m := &machine{env: newEnv(opt.Threads, opt.Host), MachineOptions: opt, suite: &Suite{}, log: &stateLog{started: opt.Started, cpus: opt.Host.UsableCPUs, read: sysinfo.ReadCPUTime}}
	m.suite.home = m.env
	m.chooseSizes()
	m.addPeaks()
	m.addCosts()
	m.addPairs()
	for _, pages := range []roofline.Pages{roofline.Huge, roofline.Small} {
		if err := m.lacks(pages); err != nil {
			m.suite.unavailable(names.Bandwidth{Pages: string(pages)}.String(), err)
			m.suite.unavailable(names.Latency{Pages: string(pages)}.String(), err)
			continue
		}
		m.addBandwidths(pages)
		m.addLatencies(pages)
	}
	m.suite.Settings = m.suite.unavailableSetting()
	return m.suite, nil
}

// doublings are 1, 2, 4 and so on, and n.
func doublings(n int) (out []int) {
	for t := 1; t < n; t *= 2 {
		out = append(out, t)
	}
	return append(out, max(n, 1))
}

func (opt *MachineOptions) check() error {
	if err := checkThreads(opt.Threads); err != nil {
		return err
	}
	for _, t := range opt.Threads {
		if t > opt.Host.UsableCPUs {
			return fmt.Errorf("%d threads: this process may use %d CPUs, and more threads than CPUs reach no ceiling", t, opt.Host.UsableCPUs)
		}
	}
	slices.Sort(opt.Threads)
	opt.Threads = slices.Compact(opt.Threads)
	return nil
}

// unavailableSetting tells a results file's reader what could not be measured.
func (s *Suite) unavailableSetting() []results.Setting {
	var texts []string
	for _, u := range s.Unavailable {
		texts = append(texts, u.Name+": "+u.Err.Error())
	}
	if texts == nil {
		return nil
	}
	return []results.Setting{{Key: results.UnmeasuredKey, Value: strings.Join(texts, "; ")}}
}

// A machine is what its cases share.
type machine struct {
	*env
	MachineOptions
	suite *Suite
	log   *stateLog

	largest int   // bytes that come from DRAM
	sizes   []int // of the sweeps, in bytes
}

// Sizes of the sweeps: the least fits any first cache.
const (
	leastSweep = 8 << 10
	sweepStep  = 2
	shortStep  = 4
)

// chooseSizes chooses as large sizes as memory allows.
func (m *machine) chooseSizes() {
	bytes := int(m.roomToMiss(m.Host, 2, "memory is measured", "with")) // of the sizes of a sweep each has memory of its own
	step := sweepStep
	if m.Short {
		step = shortStep
	}
	for n := leastSweep; n <= max(bytes, leastSweep); n *= step {
		m.sizes = append(m.sizes, n)
	}
	m.largest = max(bytes&^(roofline.LineBytes-1), leastSweep)
}

// lacks says why memory can't be on pages of a kind; nil if it can.
func (m *machine) lacks(pages roofline.Pages) error {
	thp := m.Host.THP
	switch {
	case pages == roofline.Small && m.Short && m.lacks(roofline.Huge) == nil:
		return errors.New("a short run measures one size of pages")
	case pages == roofline.Small:
		return nil
	case !thp.OK():
		return fmt.Errorf("no transparent huge pages: %w", thp.Err)
	case thp.V == "never":
		return errors.New("transparent huge pages are off (/sys/kernel/mm/transparent_hugepage/enabled is never)")
	}
	return nil
}

// A stateLog tells in what state the machine was when a sample was taken.
type stateLog struct {
	started time.Time
	cpus    int
	read    func() sysinfo.Value[sysinfo.CPUTime]
	last    time.Time
	before  sysinfo.Value[sysinfo.CPUTime]
}

// logEvery is the least time over which CPU time is compared: the system
// counts it in hundredths of a second.
const logEvery = 250 * time.Millisecond

// Probe returns the time and, as often as they can be told, the shares of CPU
// time that others took since they were told last.
func (l *stateLog) Probe() []results.Metric {
	out := []results.Metric{{Unit: results.SinceStart, Value: max(time.Since(l.started).Seconds(), 0)}}
	now := clock.Now()
	wall := now.Sub(l.last)
	if !l.last.IsZero() && wall < logEvery {
		return out
	}
	after := l.read()
	if !l.last.IsZero() && after.OK() && l.before.OK() {
		spent := after.V.Sub(l.before.V)
		share := func(d time.Duration) float64 { return max(d.Seconds(), 0) / (wall.Seconds() * float64(l.cpus)) }
		out = append(out, results.Metric{Unit: results.StolenShare, Value: share(spent.Stolen)},
			results.Metric{Unit: results.OtherShare, Value: share(spent.Busy - spent.Own)})
	}
	l.last, l.before = now, after
	return out
}
