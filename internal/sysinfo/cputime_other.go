//go:build !linux

package sysinfo

import "runtime"

func readCPUTime() Value[CPUTime] {
	return unknown[CPUTime]("the CPU time of other processes is not read on " + runtime.GOOS)
}
