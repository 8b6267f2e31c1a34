package sysinfo

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

func TestLimits(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, test := range []struct {
		name, self, cpus, mem string
		root                  fstest.MapFS
	}{
		{
			"v2, the parent's quota is the lower", "0::/a/b\n", "1.5 CPUs", "1 GiB",
			fstest.MapFS{
				"cgroup.controllers": file("cpu memory\n"),
				"a/cpu.max":          file("150000 100000\n"),
				"a/b/cpu.max":        file("400000 100000\n"),
				"a/memory.max":       file("max\n"),
				"a/b/memory.max":     file("1073741824\n"),
			},
		},
		{
			"v2, no limits", "0::/a\n", "none", "none",
			fstest.MapFS{"cgroup.controllers": file(""), "a/cpu.max": file("max 100000\n"), "a/memory.max": file("max\n")},
		},
		{"v2, root group", "0::/\n", "none", "none", fstest.MapFS{"cgroup.controllers": file("")}},
		{
			"v2 in a container that cannot see its own path", "0::/../../x\n", "2 CPUs", "none",
			fstest.MapFS{"cgroup.controllers": file("cpu\n"), "cpu.max": file("200000 100000\n")},
		},
		{
			"v1", "3:cpu,cpuacct:/d\n5:memory:/d\n", "0.5 CPUs", "none",
			fstest.MapFS{
				"cpu/d/cpu.cfs_quota_us":         file("50000\n"),
				"cpu/d/cpu.cfs_period_us":        file("100000\n"),
				"cpu/cpu.cfs_quota_us":           file("-1\n"),
				"cpu/cpu.cfs_period_us":          file("100000\n"),
				"memory/d/memory.limit_in_bytes": file("9223372036854771712\n"),
			},
		},
		{
			"v1 in a container", "3:cpu:/docker/x\n5:memory:/docker/x\n", "none", "2 GiB",
			fstest.MapFS{
				"cpu/cpu.cfs_quota_us":         file("-1\n"),
				"cpu/cpu.cfs_period_us":        file("100000\n"),
				"memory/memory.limit_in_bytes": file("2147483648\n"),
			},
		},
		{"nothing mounted", "0::/\n", "unavailable: " + noCgroup, "unavailable: " + noCgroup, fstest.MapFS{}},
		{
			"nonsense", "0::/\n", `unavailable: CPU quota "lots" of period "" is no limit`, `unavailable: memory limit "lots" is no number of bytes`,
			fstest.MapFS{"cpu.max": file("lots"), "memory.max": file("lots")},
		},
	} {
		cpus, mem := limits(test.root, known(test.self))
		if cpus.String() != test.cpus || mem.String() != test.mem {
			t.Errorf("%s: %q and %q, want %q and %q", test.name, cpus, mem, test.cpus, test.mem)
		}
	}
	cpus, mem := limits(fstest.MapFS{}, value("", errors.New("no file")))
	if cpus.String() != "unavailable: no file" || mem.String() != "unavailable: no file" {
		t.Errorf("without /proc/self/cgroup: %q and %q", cpus, mem)
	}
}

func TestEmulatorIsNoticed(t *testing.T) {
	exe, err := os.Readlink("/proc/thread-self/exe")
	if err != nil {
		t.Skip(err)
	}
	if want := strings.Contains(exe, "qemu-"); Probe().Emulated() != want {
		t.Errorf("emulator %v, but the thread runs %s", Probe().Emulator, exe)
	}
}

// TestMemoryFollowsTheProcess maps memory, touches it, and unmaps it again.
func TestMemoryFollowsTheProcess(t *testing.T) {
	const size = 32 << 20
	before := ReadMemory()
	for _, v := range []Value[Bytes]{before.Peak, before.RSS, before.Anon, before.File} {
		if !v.OK() || v.V <= 0 {
			t.Fatalf("%+v, want sizes above zero", before)
		}
	}
	faults := ReadFaults()
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < size; i += os.Getpagesize() {
		b[i] = 1
	}
	during := ReadMemory()
	if grown := during.Anon.V - before.Anon.V; grown < size*9/10 {
		t.Errorf("anonymous memory grew by %v, want about %v", grown, Bytes(size))
	}
	if after := ReadFaults(); after.V.Minor <= faults.V.Minor {
		t.Errorf("page faults %v then %v, want more", faults, after)
	}
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	if peak := ReadMemory().Peak; peak.V < during.RSS.V-size/10 {
		t.Errorf("peak %v after the release, want what was resident before, %v", peak, during.RSS)
	}
	if err := ResetPeak(); err != nil {
		t.Skip("no reset: ", err)
	}
	if peak := ReadMemory().Peak; peak.V > during.RSS.V-size/2 {
		t.Errorf("peak %v after ResetPeak, want well below %v", peak, during.RSS)
	}
}

func TestReadHugeFiles(t *testing.T) {
	if huge, all := ReadHugeFiles(), ReadMemory().File; !huge.OK() || huge.V < 0 || huge.V > all.V {
		t.Errorf("%v of %v in huge pages", huge, all)
	}
}
