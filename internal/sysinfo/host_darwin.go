package sysinfo

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func probe() Host {
	return Host{
		CPU:        value(unix.Sysctl("machdep.cpu.brand_string")),
		OnlineCPUs: number[int]("hw.activecpu"),
		// perflevel0 are the performance cores; Intel Macs have only hw.*.
		L1d:          either(number[Bytes]("hw.perflevel0.l1dcachesize"), number[Bytes]("hw.l1dcachesize")),
		L2:           either(number[Bytes]("hw.perflevel0.l2cachesize"), number[Bytes]("hw.l2cachesize")),
		L3:           either(number[Bytes]("hw.perflevel0.l3cachesize"), number[Bytes]("hw.l3cachesize")),
		MemTotal:     number[Bytes]("hw.memsize"),
		MemAvailable: unknown[Bytes]("macOS tells it only through a C call"),
		CPULimit:     unknown[CPULimit]("macOS has no control groups"),
		MemLimit:     unknown[ByteLimit]("macOS has no control groups"),
		Governor:     unknown[string]("macOS shows no CPU frequency policy"),
		THP:          unknown[string]("macOS has no transparent huge pages"),
		OS:           release(),
		Hypervisor:   flag("kern.hv_vmm_present", "yes"),
		// The name exists only where Rosetta 2 does.
		Emulator: either(flag("sysctl.proc_translated", "Rosetta 2"), known("none")),
	}
}

func release() Value[string] {
	version, err := unix.Sysctl("kern.osproductversion")
	if err != nil {
		return Value[string]{Err: err}
	}
	kernel, err := unix.Sysctl("kern.osrelease")
	if err != nil {
		return Value[string]{Err: err}
	}
	return known("macOS " + version + " (Darwin " + kernel + ")")
}

// number reads an integer that sysctl stores in 4 or 8 bytes.
func number[T int | Bytes](name string) Value[T] {
	raw, err := unix.SysctlRaw(name)
	if err != nil {
		return Value[T]{Err: fmt.Errorf("sysctl %s: %w", name, err)}
	}
	v, err := sysctlNumber(raw)
	if err != nil {
		return Value[T]{Err: fmt.Errorf("sysctl %s: %w", name, err)}
	}
	if v == 0 {
		return unknown[T]("sysctl " + name + " is 0")
	}
	return known(T(v))
}

// flag reads an integer that is 0 for "none".
func flag(name, yes string) Value[string] {
	v, err := unix.SysctlUint32(name)
	switch {
	case err != nil:
		return Value[string]{Err: fmt.Errorf("sysctl %s: %w", name, err)}
	case v == 0:
		return known("none")
	}
	return known(yes)
}

func either[T any](a, b Value[T]) Value[T] {
	if a.OK() {
		return a
	}
	return b
}
