package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func probe() Host {
	cpuinfo := read("/proc/cpuinfo")
	meminfo := read("/proc/meminfo")
	h := Host{
		CPU:          then(cpuinfo, cpuModel),
		OnlineCPUs:   parse(read("/sys/devices/system/cpu/online"), cpuCount),
		MemTotal:     kib("/proc/meminfo", meminfo, "MemTotal"),
		MemAvailable: kib("/proc/meminfo", meminfo, "MemAvailable"),
		Governor:     trimmed(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
		THP:          parse(read("/sys/kernel/mm/transparent_hugepage/enabled"), selected),
		OS:           value(release()),
		Hypervisor:   hypervisor(cpuinfo),
		Emulator:     emulator(cpuinfo),
	}
	h.L1d, h.L2, h.L3 = cache(1), cache(2), cache(3)
	h.CPULimit, h.MemLimit = limits(os.DirFS("/sys/fs/cgroup"), read("/proc/self/cgroup"))
	return h
}

// read returns a file's text.
func read(name string) Value[string] {
	text, err := os.ReadFile(name)
	return value(string(text), err)
}

// then applies f to a known value.
func then[T, U any](v Value[T], f func(T) Value[U]) Value[U] {
	if v.Err != nil {
		return Value[U]{Err: v.Err}
	}
	return f(v.V)
}

// parse applies a parser to a known text.
func parse[T any](text Value[string], f func(string) (T, error)) Value[T] {
	return then(text, func(s string) Value[T] { return value(f(s)) })
}

func trimmed(text Value[string]) Value[string] {
	text.V = strings.TrimSpace(text.V)
	return text
}

func kib(file string, text Value[string], name string) Value[Bytes] {
	return then(text, func(s string) Value[Bytes] { return kibField(file, s, name) })
}

func release() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", err
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]), nil
}

// cache finds the data or unified cache of a level among CPU 0's.
func cache(level int) Value[Bytes] {
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, dir := range dirs {
		l, kind := trimmed(read(dir+"/level")), trimmed(read(dir+"/type"))
		if l.V == strconv.Itoa(level) && (kind.V == "Data" || kind.V == "Unified") {
			return parse(read(dir+"/size"), cacheSize)
		}
	}
	if len(dirs) == 0 {
		return unknown[Bytes]("/sys/devices/system/cpu/cpu0/cache is empty or missing")
	}
	return unknown[Bytes]("CPU 0 has no data cache of level " + strconv.Itoa(level))
}

// hypervisor relies on the flag that every x86 hypervisor sets (CPUID leaf 1,
// ECX bit 31); elsewhere absence of signs proves nothing.
func hypervisor(cpuinfo Value[string]) Value[string] {
	if kind := trimmed(read("/sys/hypervisor/type")); kind.OK() && kind.V != "" {
		return kind
	}
	if compatible := read("/proc/device-tree/hypervisor/compatible"); compatible.OK() {
		return known(strings.Trim(compatible.V, "\x00"))
	}
	if flags, ok := field(cpuinfo.V, "flags"); ok {
		for _, flag := range strings.Fields(flags) {
			if flag == "hypervisor" {
				return known("yes")
			}
		}
		return known("none")
	}
	return unknown[string]("nothing on this architecture says for certain")
}

// emulator looks for an emulator in user mode; one of a whole machine is a
// hypervisor to the programs in it.
func emulator(cpuinfo Value[string]) Value[string] {
	exe, err := os.Readlink("/proc/thread-self/exe")
	if name := path.Base(exe); err == nil && strings.HasPrefix(name, "qemu-") {
		return known(name)
	}
	if arch, ok := foreignCPU(cpuinfo.V, runtime.GOARCH); ok {
		return known("an emulator on " + arch)
	}
	if err != nil && cpuinfo.Err != nil {
		return Value[string]{Err: errors.Join(err, cpuinfo.Err)}
	}
	return known("none")
}

const noCgroup = "no control group of this process is visible under /sys/fs/cgroup"

// limits returns the lowest limits of the process's control groups, where root
// is what is mounted at /sys/fs/cgroup. In a container the group's own path may
// lie outside what is mounted; then the mount's root holds its limits.
func limits(root fs.FS, self Value[string]) (Value[CPULimit], Value[ByteLimit]) {
	cpus, mem := unknown[CPULimit](noCgroup), unknown[ByteLimit](noCgroup)
	if self.Err != nil {
		return Value[CPULimit]{Err: self.Err}, Value[ByteLimit]{Err: self.Err}
	}
	text := func(dir, group, name string) (string, bool) {
		b, err := fs.ReadFile(root, path.Join(dir, "."+group, name))
		return string(b), err == nil
	}
	g := parseCgroup(self.V)
	if _, err := fs.Stat(root, "cgroup.controllers"); err == nil && g.unified != "" {
		// The root group has no such files and no limits.
		cpus, mem = known(noCPULimit), known(NoLimit)
	}
	for _, group := range parents(g.unified) {
		if s, ok := text("", group, "cpu.max"); ok {
			cpus = lower(cpus, value(cpuMax(s)))
		}
		if s, ok := text("", group, "memory.max"); ok {
			mem = lower(mem, value(memMax(s)))
		}
	}
	for _, group := range parents(g.v1["cpu"]) {
		quota, ok1 := text("cpu", group, "cpu.cfs_quota_us")
		period, ok2 := text("cpu", group, "cpu.cfs_period_us")
		if ok1 && ok2 {
			cpus = lower(cpus, value(cpuQuota(quota, period)))
		}
	}
	for _, group := range parents(g.v1["memory"]) {
		if s, ok := text("memory", group, "memory.limit_in_bytes"); ok {
			mem = lower(mem, value(memMax(s)))
		}
	}
	return cpus, mem
}

// lower returns the smaller of two limits; an unknown one counts only if the
// other is unknown too.
func lower[T CPULimit | ByteLimit](a, b Value[T]) Value[T] {
	if a.Err != nil || b.Err == nil && b.V < a.V {
		return b
	}
	return a
}
