package sysinfo

import (
	"os"

	"golang.org/x/sys/unix"
)

func readCores() Value[Cores] {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return Value[Cores]{Err: err}
	}
	return value(coresIn(os.DirFS("/sys"), set.IsSet))
}
