package sysinfo

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
)

// The parsers of Linux's text files are here, without a build constraint, so
// that they are tested on every system. Formats: Linux's proc(5) and
// Documentation/admin-guide/cgroup-v2.rst.

// field returns the value of the first line "name : value" of text.
func field(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		key, rest, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// kibField reads a line "name: 123 kB" of /proc/meminfo or /proc/self/status.
func kibField(file, text, name string) Value[Bytes] {
	v, ok := field(text, name)
	if !ok {
		return unknown[Bytes](fmt.Sprintf("%s has no %s", file, name))
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(v, " kB"), 10, 64)
	if err != nil || kib < 0 || kib > math.MaxInt64>>10 {
		return unknown[Bytes](fmt.Sprintf("%s: %s is %q, want a number of kB", file, name, v))
	}
	return known(Bytes(kib << 10))
}

// cpuModel reads the processor's name from /proc/cpuinfo. On arm64 the file
// has numbers only; they are given as they are.
func cpuModel(cpuinfo string) Value[string] {
	for _, name := range []string{"model name", "Model", "cpu model", "uarch"} {
		if v, ok := field(cpuinfo, name); ok && v != "" {
			return known(v)
		}
	}
	implementer, ok1 := field(cpuinfo, "CPU implementer")
	part, ok2 := field(cpuinfo, "CPU part")
	if ok1 && ok2 {
		return known("implementer " + implementer + " part " + part)
	}
	return unknown[string]("/proc/cpuinfo names no model")
}

// foreignCPU returns the architecture whose /proc/cpuinfo this is, if it is
// not arch's: "vendor_id" is only in x86's, "CPU implementer" only in ARM's.
func foreignCPU(cpuinfo, arch string) (string, bool) {
	_, x86 := field(cpuinfo, "vendor_id")
	_, arm := field(cpuinfo, "CPU implementer")
	switch arch {
	case "amd64", "386":
		return "arm", arm && !x86
	case "arm64", "arm":
		return "x86", x86 && !arm
	}
	return "", false
}

// selected returns the bracketed word of a choice: "always [madvise] never".
func selected(choice string) (string, error) {
	_, rest, ok1 := strings.Cut(choice, "[")
	word, _, ok2 := strings.Cut(rest, "]")
	if !ok1 || !ok2 {
		return "", fmt.Errorf("%q marks no choice", strings.TrimSpace(choice))
	}
	return word, nil
}

// cacheSize reads the size file of a cache: "48K".
func cacheSize(text string) (Bytes, error) {
	s := strings.TrimSpace(text)
	shift := 0
	if n := len(s); n > 0 {
		switch s[n-1] {
		case 'K':
			s, shift = s[:n-1], 10
		case 'M':
			s, shift = s[:n-1], 20
		case 'G':
			s, shift = s[:n-1], 30
		}
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v <= 0 || v > math.MaxInt64>>shift {
		return 0, fmt.Errorf("cache size %q is no number", strings.TrimSpace(text))
	}
	return Bytes(v << shift), nil
}

// manyCPUs is more than any system numbers.
const manyCPUs = 1 << 16

// cpuList returns the CPUs of a list: "0-3,8" has five.
func cpuList(text string) ([]int, error) {
	var cpus []int
	for _, r := range strings.Split(strings.TrimSpace(text), ",") {
		from, to, isRange := strings.Cut(r, "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || lo < 0 || hi < lo || hi >= manyCPUs || len(cpus) >= manyCPUs {
			return nil, fmt.Errorf("%q is no list of CPUs", strings.TrimSpace(text))
		}
		for cpu := lo; cpu <= hi; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// cpuCount counts the CPUs of a list.
func cpuCount(text string) (int, error) {
	cpus, err := cpuList(text)
	return len(cpus), err
}

// cgroup is where a process stands among the control groups: a path in the
// unified hierarchy (v2), and one for each v1 controller it has.
type cgroup struct {
	unified string
	v1      map[string]string // by controller
}

// parseCgroup reads /proc/self/cgroup: lines "0::/path" for v2, and
// "3:cpu,cpuacct:/path" for v1.
func parseCgroup(text string) cgroup {
	g := cgroup{v1: map[string]string{}}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			g.unified = parts[2]
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			g.v1[controller] = parts[2]
		}
	}
	return g
}

// parents lists a group and the groups around it, up to the root: limits of
// all of them hold.
func parents(group string) []string {
	if group == "" {
		return nil
	}
	list := []string{path.Clean(group)}
	for list[len(list)-1] != "/" && list[len(list)-1] != "." {
		list = append(list, path.Dir(list[len(list)-1]))
	}
	return list
}

// cpuMax reads v2's cpu.max: "max 100000" or "150000 100000", both in µs.
func cpuMax(text string) (CPULimit, error) {
	quota, period, ok := strings.Cut(strings.TrimSpace(text), " ")
	if ok && quota == "max" {
		return noCPULimit, nil
	}
	return cpuQuota(quota, period)
}

// cpuQuota divides a quota of CPU time by its period. v1 has −1 for no quota.
func cpuQuota(quota, period string) (CPULimit, error) {
	quota, period = strings.TrimSpace(quota), strings.TrimSpace(period)
	if quota == "-1" {
		return noCPULimit, nil
	}
	q, err1 := strconv.ParseInt(quota, 10, 64)
	p, err2 := strconv.ParseInt(period, 10, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, fmt.Errorf("CPU quota %q of period %q is no limit", quota, period)
	}
	return CPULimit(q) / CPULimit(p), nil
}

// unlimitedV1 is what v1's memory.limit_in_bytes holds at least when there is
// no limit: the largest int64 rounded down to a page, of 64 KiB at most.
const unlimitedV1 = math.MaxInt64 &^ (1<<16 - 1)

// memMax reads v2's memory.max ("max" or bytes) or v1's limit_in_bytes.
func memMax(text string) (ByteLimit, error) {
	s := strings.TrimSpace(text)
	if s == "max" {
		return NoLimit, nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("memory limit %q is no number of bytes", s)
	}
	if v >= unlimitedV1 {
		return NoLimit, nil
	}
	return ByteLimit(v), nil
}

// sysctlNumber reads an integer as macOS stores it: 4 or 8 bytes, little endian.
func sysctlNumber(raw []byte) (int64, error) {
	switch len(raw) {
	case 4:
		return int64(binary.LittleEndian.Uint32(raw)), nil
	case 8:
		return int64(binary.LittleEndian.Uint64(raw)), nil
	}
	return 0, fmt.Errorf("%d bytes, want 4 or 8", len(raw))
}

// noCPULimit is a group without a quota.
var noCPULimit = CPULimit(math.Inf(1))
