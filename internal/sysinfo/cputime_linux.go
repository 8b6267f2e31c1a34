package sysinfo

import (
	"fmt"
	"os"
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
		t.Own += parentTime()
		return t, nil
	})
}

// parentTime is the time of the parent, if it is the same program: a run in
// several processes is written down by their parent.
func parentTime() time.Duration {
	dir := fmt.Sprintf("/proc/%d/", os.Getppid())
	parent, err := os.Readlink(dir + "exe")
	self, serr := os.Readlink("/proc/self/exe")
	if err != nil || serr != nil || parent != self {
		return 0
	}
	return parse(read(dir+"stat"), processTime).V
}
