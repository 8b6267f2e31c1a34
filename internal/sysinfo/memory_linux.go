package sysinfo

import (
	"fmt"
	"os"
)

func readMemory() Memory {
	const file = "/proc/self/status"
	status := read(file)
	return Memory{
		Peak: kib(file, status, "VmHWM"),
		RSS:  kib(file, status, "VmRSS"),
		Anon: kib(file, status, "RssAnon"),
		File: kib(file, status, "RssFile"),
	}
}

func peakOf(pid int) Value[Bytes] {
	file := fmt.Sprintf("/proc/%d/status", pid)
	return kib(file, read(file), "VmHWM")
}

func readHugeFiles() Value[Bytes] { return rollup("FilePmdMapped") }

func readHugeAnon() Value[Bytes] { return rollup("AnonHugePages") }

// rollup is a sum over all of the process's mappings.
func rollup(name string) Value[Bytes] {
	const file = "/proc/self/smaps_rollup"
	return kib(file, read(file), name)
}

// resetPeak writes what proc(5) calls "reset the peak resident set size".
func resetPeak() error {
	f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("reset peak memory: %w", err)
	}
	_, err = f.WriteString("5")
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("reset peak memory: %w", err)
	}
	return nil
}
