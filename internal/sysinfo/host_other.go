//go:build !linux && !darwin

package sysinfo

import (
	"errors"
	"runtime"
)

const notRead = "not read on " + runtime.GOOS

func probe() Host { return untold(notRead) }

func readMemory() Memory {
	none := unknown[Bytes](notRead)
	return Memory{Peak: none, RSS: none, Anon: none, File: none}
}

var errNoReset = errors.New("reset peak memory: not done on " + runtime.GOOS + "; measure in a process of its own")

func readHugeFiles() Value[Bytes] { return unknown[Bytes](notRead) }

func readHugeAnon() Value[Bytes] { return unknown[Bytes](notRead) }

func resetPeak() error { return errNoReset }

func peakOf(int) Value[Bytes] { return unknown[Bytes]("only Linux tells it of another process") }
