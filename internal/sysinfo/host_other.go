//go:build !linux && !darwin

package sysinfo

import (
	"errors"
	"runtime"
)

const notRead = "not read on " + runtime.GOOS

func probe() Host {
	return Host{
		CPU:          unknown[string](notRead),
		OnlineCPUs:   unknown[int](notRead),
		L1d:          unknown[Bytes](notRead),
		L2:           unknown[Bytes](notRead),
		L3:           unknown[Bytes](notRead),
		MemTotal:     unknown[Bytes](notRead),
		MemAvailable: unknown[Bytes](notRead),
		CPULimit:     unknown[CPULimit](notRead),
		MemLimit:     unknown[ByteLimit](notRead),
		Governor:     unknown[string](notRead),
		THP:          unknown[string](notRead),
		OS:           unknown[string](notRead),
		Hypervisor:   unknown[string](notRead),
		Emulator:     unknown[string](notRead),
	}
}

func readMemory() Memory {
	return Memory{
		Peak: unknown[Bytes](notRead),
		RSS:  unknown[Bytes](notRead),
		Anon: unknown[Bytes](notRead),
		File: unknown[Bytes](notRead),
	}
}

var errNoReset = errors.New("reset peak memory: not done on " + runtime.GOOS + "; measure in a process of its own")

func readHugeFiles() Value[Bytes] { return unknown[Bytes](notRead) }

func readHugeAnon() Value[Bytes] { return unknown[Bytes](notRead) }

func resetPeak() error { return errNoReset }

func peakOf(int) Value[Bytes] { return unknown[Bytes]("only Linux tells it of another process") }
