package sysinfo

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Cores are the processor's cores that this process may run on.
type Cores struct {
	CPUs        int // what the system schedules threads on: several a core, with SMT
	Physical    int
	Performance int // those of Physical that are no efficiency cores; all, where they are alike
	// Nodes are the numbers of CPUs by NUMA node: those that reach a part of the
	// memory sooner than the rest. Fewer than two: memory is as near to all.
	Nodes [][]int
}

// String gives the numbers that say something: "12 (8 performance), 20 CPUs".
func (c Cores) String() string {
	text := strconv.Itoa(c.Physical)
	if c.Performance != c.Physical {
		text += fmt.Sprintf(" (%d performance)", c.Performance)
	}
	if c.CPUs != c.Physical {
		text += fmt.Sprintf(", %d CPUs", c.CPUs)
	}
	if len(c.Nodes) > 1 {
		text += fmt.Sprintf(", %d NUMA nodes", len(c.Nodes))
	}
	return text
}

// Threads is how many threads a program that computes takes unless it is told:
// one a core, as two of a core share its arithmetic and its bandwidth; of
// performance cores alone, where there are others, as all wait for the slowest;
// and no more than a control group's quota lasts for, as it stops a process that
// has used it up until the next period.
func (h Host) Threads() int {
	n := h.UsableCPUs
	if cores := h.Cores; cores.OK() && cores.V.Performance > 0 {
		n = min(n, cores.V.Performance)
	}
	if limit := h.CPULimit; limit.OK() && limit.V > 0 && float64(limit.V) < float64(n) {
		n = int(limit.V)
	}
	return max(n, 1)
}

// Threads is [Host.Threads] of this machine. Only the first call looks at it.
var Threads = sync.OnceValue(func() int { return Probe().Threads() })

// A cpuPlace is where a CPU stands among the others.
type cpuPlace struct {
	core     string // the same for CPUs of one core
	capacity int    // how much it computes; 0: not known
	slow     bool   // an efficiency core's
}

// coresIn reads a tree as Linux has it in /sys, for the CPUs that are usable:
//
//	devices/system/cpu/online                       numbers
//	devices/system/cpu/cpuN/topology/core_cpus_list CPUs of the same core; thread_siblings_list before Linux 5.3
//	devices/system/cpu/cpuN/cpu_capacity            of 1024, where cores differ (ARM; x86 since Linux 6.12)
//	devices/cpu_atom/cpus                           efficiency cores of Intel's hybrid processors
//	devices/system/node/nodeN/cpulist               a NUMA node's
//
// (Documentation/ABI/testing/sysfs-devices-system-cpu and sysfs-devices-node of
// the kernel.)
func coresIn(sys fs.FS, usable func(cpu int) bool) (c Cores, err error) {
	list := func(name string) []int {
		text, _ := fs.ReadFile(sys, name)
		cpus, _ := cpuList(string(text)) // a missing file is an empty list
		return slices.DeleteFunc(cpus, func(cpu int) bool { return !usable(cpu) })
	}
	cpus := list("devices/system/cpu/online")
	if len(cpus) == 0 {
		return c, errors.New("/sys/devices/system/cpu/online names no CPU that this process may use")
	}
	atoms := list("devices/cpu_atom/cpus")
	places := make([]cpuPlace, len(cpus))
	for i, cpu := range cpus {
		places[i] = placeIn(sys, cpu)
		places[i].slow = slices.Contains(atoms, cpu)
	}
	c = count(places)
	nodes, _ := fs.Glob(sys, "devices/system/node/node[0-9]*/cpulist")
	for _, name := range nodes {
		if node := list(name); len(node) > 0 { // others have memory only
			c.Nodes = append(c.Nodes, node)
		}
	}
	slices.SortFunc(c.Nodes, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return c, nil
}

// placeIn reads a CPU's own files. One that no file tells of is a core by itself.
func placeIn(sys fs.FS, cpu int) cpuPlace {
	at := cpuPlace{core: strconv.Itoa(cpu)}
	dir := "devices/system/cpu/cpu" + at.core
	for _, name := range []string{"core_cpus_list", "thread_siblings_list"} {
		if text, err := fs.ReadFile(sys, path.Join(dir, "topology", name)); err == nil {
			at.core = strings.TrimSpace(string(text))
			break
		}
	}
	if text, err := fs.ReadFile(sys, path.Join(dir, "cpu_capacity")); err == nil {
		at.capacity, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return at
}

// count counts cores. Those of less than half the largest one's capacity are efficiency
// cores: threads of unlike cores share rows well as long as none is far behind.
// Efficiency cores count as performance cores where the process has no others.
func count(places []cpuPlace) Cores {
	largest := 0
	for _, p := range places {
		largest = max(largest, p.capacity)
	}
	cores, fast := map[string]bool{}, map[string]bool{}
	for _, p := range places {
		cores[p.core] = true
		if !p.slow && 2*p.capacity >= largest {
			fast[p.core] = true
		}
	}
	c := Cores{CPUs: len(places), Physical: len(cores), Performance: len(fast)}
	if c.Performance == 0 {
		c.Performance = c.Physical
	}
	return c
}

// processorCores counts the cores in records as Windows has them: of each the first
// is the relationship (0: a core), 4 bytes, then the record's length, 4 bytes;
// then of a core SMT, 1 byte, and its efficiency class, 1 byte, in which faster
// cores stand higher; at 30 the number of groups, and from 32 on a mask of CPUs in
// every 16 bytes (SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX in winnt.h).
func processorCores(records string) (Cores, error) {
	const head, groups, masks, mask = 8, 30, 32, 16
	var c Cores
	fastest := byte(0)
	for rest := []byte(records); len(rest) > 0; {
		size := 0
		if len(rest) >= head {
			size = int(binary.LittleEndian.Uint32(rest[4:]))
		}
		if size < masks+mask || size > len(rest) {
			return Cores{}, fmt.Errorf("a processor's record of %d bytes in %d", size, len(rest))
		}
		record := rest[:size]
		rest = rest[size:]
		if binary.LittleEndian.Uint32(record) != 0 {
			continue
		}
		n := int(binary.LittleEndian.Uint16(record[groups:]))
		if masks+n*mask > size {
			return Cores{}, fmt.Errorf("a processor's record of %d bytes with %d groups", size, n)
		}
		for g := range n {
			c.CPUs += bits.OnesCount64(binary.LittleEndian.Uint64(record[masks+g*mask:]))
		}
		c.Physical++
		if class := record[head+1]; class > fastest {
			fastest, c.Performance = class, 0
		}
		if record[head+1] == fastest {
			c.Performance++
		}
	}
	if c.Physical == 0 {
		return Cores{}, errors.New("no record is a core's")
	}
	return c, nil
}
