package counters

import (
	"errors"
	"fmt"
	"slices"

	"onebit/bench/results"
)

// A perfEvent is an event of perf_event_open: type and config of its
// attributes, as include/uapi/linux/perf_event.h numbers them.
type perfEvent struct {
	unit   string
	kind   uint32
	config uint64
}

const (
	hardware      = 0 // PERF_TYPE_HARDWARE
	software      = 1 // PERF_TYPE_SOFTWARE
	hardwareCache = 3 // PERF_TYPE_HW_CACHE
)

var perfEvents = []perfEvent{
	{results.Cycles, hardware, 0},
	{results.Instructions, hardware, 1},
	{results.CacheMisses, hardware, 3},
	{results.BranchMisses, hardware, 5},
	{results.StalledFrontend, hardware, 7},
	{results.StalledBackend, hardware, 8},
	{results.TLBMisses, hardwareCache, 3 | 0<<8 | 1<<16}, // data TLB, read, miss
	{results.Migrations, software, 4},
}

// A perfKernel is what is asked of the kernel.
type perfKernel interface {
	threads() ([]int, error) // of this process
	open(event perfEvent, thread int) (fd int, err error)
	read(fd int) (value, error)
	close(fd int) error
}

// errNoThread is what open returns for a thread that has ended.
var errNoThread = errors.New("no such thread")

// perf counts events of all threads. Each event has a descriptor for each
// thread, and counts also in threads that it starts later.
type perf struct {
	kernel perfKernel
	events []perfEvent
	fds    [][]int // by event
}

// openPerf opens the events that the kernel has.
func openPerf(k perfKernel) (*perf, []Missing) {
	p := &perf{kernel: k}
	var missing []Missing
	for _, e := range perfEvents {
		fds, err := p.openEvent(e)
		if err != nil {
			missing = appendMissing(missing, e.unit, err)
			continue
		}
		p.events, p.fds = append(p.events, e), append(p.fds, fds)
	}
	return p, missing
}

// appendMissing puts events that have one reason together.
func appendMissing(missing []Missing, unit string, reason error) []Missing {
	for i := range missing {
		if missing[i].Reason.Error() == reason.Error() {
			missing[i].Units = append(missing[i].Units, unit)
			return missing
		}
	}
	return append(missing, Missing{[]string{unit}, reason})
}

// passes bounds how often threads are listed: each time some may have been
// started by threads that were not counted yet.
const passes = 8

// openEvent counts an event in every thread there is.
func (p *perf) openEvent(e perfEvent) (fds []int, err error) {
	counted := map[int]bool{}
	for range passes {
		threads, err := p.kernel.threads()
		if err != nil {
			return nil, errors.Join(err, p.closeAll(fds))
		}
		fresh := slices.DeleteFunc(threads, func(t int) bool { return counted[t] })
		if len(fresh) == 0 {
			return fds, nil
		}
		for _, t := range fresh {
			counted[t] = true
			fd, err := p.kernel.open(e, t)
			switch {
			case errors.Is(err, errNoThread):
			case err != nil:
				return nil, errors.Join(err, p.closeAll(fds))
			default:
				fds = append(fds, fd)
			}
		}
	}
	return nil, errors.Join(errors.New("threads start faster than they can be counted"), p.closeAll(fds))
}

func (p *perf) units() (all []string) {
	for _, e := range p.events {
		all = append(all, e.unit)
	}
	return all
}

func (p *perf) read() ([]value, error) {
	out := make([]value, len(p.events))
	for i, fds := range p.fds {
		for _, fd := range fds {
			v, err := p.kernel.read(fd)
			if err != nil {
				return nil, fmt.Errorf("counting %s: %w", p.events[i].unit, err)
			}
			out[i].count += v.count
			out[i].enabled += v.enabled
			out[i].running += v.running
		}
	}
	return out, nil
}

func (p *perf) close() error {
	return p.closeAll(slices.Concat(p.fds...))
}

func (p *perf) closeAll(fds []int) error {
	var errs []error
	for _, fd := range fds {
		errs = append(errs, p.kernel.close(fd))
	}
	return errors.Join(errs...)
}
