//go:build unix

package sysinfo

import "golang.org/x/sys/unix"

func readFaults() Value[Faults] {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return Value[Faults]{Err: err}
	}
	return known(Faults{Minor: int64(u.Minflt), Major: int64(u.Majflt)})
}
