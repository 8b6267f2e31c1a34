package sysinfo

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// tree is a /sys of files: "devices/" stands before each name.
func tree(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m["devices/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return m
}

// siblings writes the topology of CPUs whose cores are lists of numbers.
func siblings(files map[string]string, file string, cores ...string) map[string]string {
	for _, core := range cores {
		cpus, err := cpuList(core)
		if err != nil {
			panic(err)
		}
		for _, cpu := range cpus {
			files[fmt.Sprintf("system/cpu/cpu%d/topology/%s", cpu, file)] = core
		}
	}
	return files
}

// laptop is a Core i7-1280P: six performance cores of two threads, eight
// efficiency cores.
func laptop() map[string]string {
	return siblings(map[string]string{
		"system/cpu/online": "0-19", "cpu_core/cpus": "0-11", "cpu_atom/cpus": "12-19", "system/node/node0/cpulist": "0-19",
	}, "core_cpus_list", "0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12", "13", "14", "15", "16", "17", "18", "19")
}

// server has two sockets of four cores of two threads, numbered as Linux numbers
// Xeons: first threads first, socket by socket.
func server() map[string]string {
	return siblings(map[string]string{
		"system/cpu/online": "0-15", "system/node/node0/cpulist": "0-3,8-11", "system/node/node1/cpulist": "4-7,12-15", "system/node/node2/cpulist": "",
	}, "thread_siblings_list", "0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15")
}

// phone has two large cores, two middle ones and four small ones, as ARM's DynamIQ
// processors have.
func phone() map[string]string {
	files := siblings(map[string]string{"system/cpu/online": "0-7"}, "core_cpus_list", "0", "1", "2", "3", "4", "5", "6", "7")
	for cpu, capacity := range []int{160, 160, 160, 160, 498, 498, 1024, 1024} {
		files[fmt.Sprintf("system/cpu/cpu%d/cpu_capacity", cpu)] = fmt.Sprint(capacity)
	}
	return files
}

func TestCores(t *testing.T) {
	only := func(list string) func(int) bool {
		cpus, err := cpuList(list)
		if err != nil {
			t.Fatal(err)
		}
		return func(cpu int) bool { return slices.Contains(cpus, cpu) }
	}
	for _, tc := range []struct {
		name    string
		files   map[string]string
		usable  string
		quota   CPULimit
		want    string
		nodes   string
		threads int
	}{
		{"hybrid laptop", laptop(), "0-19", noCPULimit, "14 (6 performance), 20 CPUs", "[[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]]", 6},
		{"hybrid laptop, efficiency cores alone", laptop(), "12-19", noCPULimit, "8", "[[12 13 14 15 16 17 18 19]]", 8},
		{"hybrid laptop, half of each core", laptop(), "0,2,4,12-13", noCPULimit, "5 (3 performance)", "[[0 2 4 12 13]]", 3},
		{"two sockets", server(), "0-15", noCPULimit, "8, 16 CPUs, 2 NUMA nodes", "[[0 1 2 3 8 9 10 11] [4 5 6 7 12 13 14 15]]", 8},
		{"two sockets, bound to the second", server(), "4-7,12-15", noCPULimit, "4, 8 CPUs", "[[4 5 6 7 12 13 14 15]]", 4},
		{"two sockets, a container's quota", server(), "0-15", 2.5, "8, 16 CPUs, 2 NUMA nodes", "[[0 1 2 3 8 9 10 11] [4 5 6 7 12 13 14 15]]", 2},
		{"two sockets, less than a CPU", server(), "0-15", 0.5, "8, 16 CPUs, 2 NUMA nodes", "[[0 1 2 3 8 9 10 11] [4 5 6 7 12 13 14 15]]", 1},
		{"one core of two threads", server(), "0,8", noCPULimit, "1, 2 CPUs", "[[0 8]]", 1},
		{"phone", phone(), "0-7", noCPULimit, "8 (2 performance)", "[]", 2},
		{"no topology", map[string]string{"system/cpu/online": "0-3"}, "0-3", noCPULimit, "4", "[]", 4},
	} {
		c, err := coresIn(tree(tc.files), only(tc.usable))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		cpus, _ := cpuList(tc.usable)
		h := Host{UsableCPUs: len(cpus), Cores: known(c), CPULimit: known(tc.quota)}
		if c.String() != tc.want || fmt.Sprint(c.Nodes) != tc.nodes || h.Threads() != tc.threads {
			t.Errorf("%s: %q, nodes %v, %d threads; want %q, %s, %d", tc.name, c, c.Nodes, h.Threads(), tc.want, tc.nodes, tc.threads)
		}
	}
	for _, online := range []string{"", "many", "0-99999999999"} {
		if c, err := coresIn(tree(map[string]string{"system/cpu/online": online}), func(int) bool { return true }); err == nil {
			t.Errorf("online %q: %v", online, c)
		}
	}
}

// TestThreadsWithoutFacts: what is not known limits nothing.
func TestThreadsWithoutFacts(t *testing.T) {
	h := Host{UsableCPUs: 6, Cores: unknown[Cores]("no sysfs"), CPULimit: unknown[CPULimit]("no group")}
	if got := h.Threads(); got != 6 {
		t.Errorf("%d threads, want 6", got)
	}
}

func TestThreadsOfThisMachine(t *testing.T) {
	if got := Threads(); got < 1 || got > runtime.NumCPU() {
		t.Errorf("%d threads on %d CPUs", got, runtime.NumCPU())
	}
	c := Probe().Cores
	if !c.OK() {
		t.Skip(c.Err)
	}
	if c.V.Performance < 1 || c.V.Physical < c.V.Performance || c.V.CPUs < c.V.Physical {
		t.Errorf("%+v", c.V)
	}
}

// windowsCore is a record as Windows has it of a core.
func windowsCore(class byte, mask uint64) string {
	b := make([]byte, 48)
	binary.LittleEndian.PutUint32(b[4:], 48)
	b[9] = class
	binary.LittleEndian.PutUint16(b[30:], 1)
	binary.LittleEndian.PutUint64(b[32:], mask)
	return string(b)
}

func TestProcessorCores(t *testing.T) {
	hybrid := windowsCore(1, 3) + windowsCore(1, 12) + windowsCore(0, 16) + windowsCore(0, 32)
	cache := "\x02" + windowsCore(0, 1)[1:]
	for records, want := range map[string]string{
		hybrid:                                "4 (2 performance), 6 CPUs",
		cache + hybrid:                        "4 (2 performance), 6 CPUs",
		windowsCore(0, 1) + windowsCore(1, 2): "2 (1 performance)",
		windowsCore(0, 1):                     "1",
	} {
		if got, err := processorCores(records); got.String() != want || err != nil {
			t.Errorf("%q: %v, %v; want %s", records, got, err, want)
		}
	}
	groups := strings.Replace(windowsCore(0, 1), "\x01\x00\x01", "\x09\x00\x01", 1)
	for _, records := range []string{"", cache, hybrid[:50], hybrid[:7], groups} {
		if got, err := processorCores(records); err == nil {
			t.Errorf("%q: %v and no error", records, got)
		}
	}
}

func FuzzProcessorCores(f *testing.F) {
	f.Add(windowsCore(1, 3) + windowsCore(0, 4))
	f.Fuzz(func(t *testing.T, records string) {
		c, err := processorCores(records)
		if err == nil && (c.Performance < 1 || c.Physical < c.Performance) {
			t.Errorf("%+v", c)
		}
	})
}

func FuzzCPUList(f *testing.F) {
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := cpuList(text)
		if err == nil && (len(cpus) == 0 || len(cpus) > 2*manyCPUs) {
			t.Errorf("%d CPUs", len(cpus))
		}
	})
}
