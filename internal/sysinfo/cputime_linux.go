package sysinfo

import (
	"time"

	"golang.org/x/sys/unix"
)

func readCPUTime() Value[CPUTime] {
	return parse(read("/proc/stat"), func(stat string) (t CPUTime, err error) {
		var usable unix.CPUSet
		if err := unix.SchedGetaffinity(0, &usable); err != nil {
			return t, err
		}
		if t.Busy, t.Stolen, err = cpuTimes(stat, usable.IsSet); err != nil {
			return t, err
		}
		for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
			var u unix.Rusage
			if err := unix.Getrusage(who, &u); err != nil {
				return t, err
			}
			t.Own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		return t, nil
	})
}
