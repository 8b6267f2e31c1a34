package sysinfo

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CPUTime is how long CPUs worked, since a moment that is always the same.
type CPUTime struct {
	// Busy is the time that the CPUs on which this process may run spent on
	// processes, interrupts and the system, added up; Stolen is the time that
	// the hypervisor gave to others while there was work.
	Busy, Stolen time.Duration
	// Own is the part of Busy that was this process's, its children's that have
	// ended, and its parent's if that is the same program.
	Own time.Duration
}

// Sub returns what was spent since an earlier time.
func (t CPUTime) Sub(earlier CPUTime) CPUTime {
	return CPUTime{t.Busy - earlier.Busy, t.Stolen - earlier.Stolen, t.Own - earlier.Own}
}

// ReadCPUTime returns the time spent so far. It is known on Linux only.
func ReadCPUTime() Value[CPUTime] { return readCPUTime() }

// tick is the unit of /proc/stat, USER_HZ, which is the same on all of Linux's
// architectures that Go knows.
const tick = time.Second / 100

// cpuTimes adds up the lines of /proc/stat ("cpu0 user nice system idle iowait
// irq softirq steal guest guest_nice") of some CPUs. Guests are in user.
func cpuTimes(stat string, usable func(cpu int) bool) (busy, stolen time.Duration, err error) {
	found := false
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		number, ok := strings.CutPrefix(fields[0], "cpu")
		cpu, err := strconv.Atoi(number)
		if !ok || err != nil || !usable(cpu) {
			continue
		}
		var ticks [8]int64
		if len(fields) <= len(ticks) {
			return 0, 0, fmt.Errorf("/proc/stat: %s has %d numbers, want %d", fields[0], len(fields)-1, len(ticks))
		}
		for i := range ticks {
			if ticks[i], err = strconv.ParseInt(fields[i+1], 10, 64); err != nil || ticks[i] < 0 || ticks[i] > maxTicks {
				return 0, 0, fmt.Errorf("/proc/stat: %s: %q is no number of ticks", fields[0], fields[i+1])
			}
		}
		busy += time.Duration(ticks[0]+ticks[1]+ticks[2]+ticks[5]+ticks[6]) * tick
		stolen += time.Duration(ticks[7]) * tick
		found = true
	}
	if !found {
		return 0, 0, fmt.Errorf("/proc/stat has no line of a CPU that this process may use")
	}
	return busy, stolen, nil
}

// processTime reads the time that a process itself has used from its
// /proc/PID/stat: "PID (name) state …", utime and stime the 14th and 15th
// field. The name may contain anything.
func processTime(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields after the name, want 13", len(fields))
	}
	var sum int64
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil || ticks < 0 || ticks > maxTicks {
			return 0, fmt.Errorf("/proc/PID/stat: %q is no number of ticks", field)
		}
		sum += ticks
	}
	return time.Duration(sum) * tick, nil
}

// maxTicks are some three years, so that ticks are no overflowing Duration.
const maxTicks = 1e10
