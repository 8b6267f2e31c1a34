package sysinfo

import "runtime"

// Host is the machine, as this process sees it.
type Host struct {
	CPU        Value[string]
	OnlineCPUs Value[int]   // online in the machine
	UsableCPUs int          // that this process may run on
	Cores      Value[Cores] // that they belong to
	L1d        Value[Bytes] // of one core
	L2         Value[Bytes] // of one core or cluster
	L3         Value[Bytes] // of the group of cores that CPU 0 belongs to

	MemTotal     Value[Bytes]
	MemAvailable Value[Bytes]
	CPULimit     Value[CPULimit]  // of the process's control groups
	MemLimit     Value[ByteLimit] // of the process's control groups

	Governor   Value[string] // of the CPU's frequency
	THP        Value[string] // transparent huge pages: always, madvise or never
	OS         Value[string] // name and release
	Hypervisor Value[string] // "none" on bare metal
	Emulator   Value[string] // "none" if the CPU runs this program's own instructions

	Arch string // GOOS/GOARCH
	Go   string // version of the toolchain
}

// Probe looks at the machine. It takes about a millisecond.
func Probe() Host { return host() }

func thisHost() Host {
	h := probe()
	h.UsableCPUs = runtime.NumCPU()
	h.Cores = readCores()
	h.Arch = runtime.GOOS + "/" + runtime.GOARCH
	h.Go = runtime.Version()
	return h
}

// untold is a machine whose system tells nothing of it.
func untold(reason string) Host {
	text, size, limit := unknown[string](reason), unknown[Bytes](reason), unknown[ByteLimit](reason)
	return Host{
		CPU: text, OnlineCPUs: unknown[int](reason), Cores: unknown[Cores](reason), L1d: size, L2: size, L3: size,
		MemTotal: size, MemAvailable: size, CPULimit: unknown[CPULimit](reason), MemLimit: limit,
		Governor: text, THP: text, OS: text, Hypervisor: text, Emulator: text,
	}
}

// Emulated reports whether an emulator is known to run this program, so that
// its timings say nothing about a real CPU.
func (h Host) Emulated() bool { return h.Emulator.OK() && h.Emulator.V != "none" }

// Pair is a fact for people and for the header of a result file.
type Pair struct{ Key, Value string }

// Pairs lists everything, in a fixed order. Keys are lower case with dashes, as
// the Go benchmark format wants them.
func (h Host) Pairs() []Pair {
	usable := known(h.UsableCPUs)
	return []Pair{
		{"cpu", h.CPU.String()},
		{"cpus-online", h.OnlineCPUs.String()},
		{"cpus-usable", usable.String()},
		{"cores", h.Cores.String()},
		{"cpu-limit", h.CPULimit.String()},
		{"l1d", h.L1d.String()},
		{"l2", h.L2.String()},
		{"l3", h.L3.String()},
		{"mem-total", h.MemTotal.String()},
		{"mem-available", h.MemAvailable.String()},
		{"mem-limit", h.MemLimit.String()},
		{"governor", h.Governor.String()},
		{"huge-pages", h.THP.String()},
		{"os", h.OS.String()},
		{"hypervisor", h.Hypervisor.String()},
		{"emulator", h.Emulator.String()},
		{"platform", h.Arch},
		{"go-version", h.Go},
	}
}
