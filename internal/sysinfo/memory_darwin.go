package sysinfo

import (
	"errors"

	"golang.org/x/sys/unix"
)

const noTaskInfo = "macOS tells it only through a C call (task_info)"

func readMemory() Memory {
	m := Memory{
		RSS:  unknown[Bytes](noTaskInfo),
		Anon: unknown[Bytes](noTaskInfo),
		File: unknown[Bytes](noTaskInfo),
	}
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		m.Peak = Value[Bytes]{Err: err}
	} else {
		m.Peak = known(Bytes(u.Maxrss)) // in bytes, unlike Linux's KiB
	}
	return m
}

func readHugeFiles() Value[Bytes] { return unknown[Bytes]("macOS does not tell") }

func readHugeAnon() Value[Bytes] { return unknown[Bytes]("macOS does not tell") }

var errNoReset = errors.New("reset peak memory: macOS has no call for it; measure in a process of its own")

func resetPeak() error { return errNoReset }

func peakOf(int) Value[Bytes] { return unknown[Bytes]("only Linux tells it of another process") }
