package sysinfo

import (
	"runtime"
	"slices"
	"testing"
)

func TestDescribe(t *testing.T) {
	restore, procs := host, runtime.GOMAXPROCS(0)
	t.Cleanup(func() { host = restore; runtime.GOMAXPROCS(procs) })
	t.Setenv(described, "l1d=32K,l2=1M,l3=none,mem=64M,cpus=5,nodes=2")
	Describe()
	h := Probe()
	if h.L1d.String() != "32 KiB" || h.L2.String() != "1 MiB" || h.L3.OK() {
		t.Errorf("caches %v, %v, %v", h.L1d, h.L2, h.L3)
	}
	if h.MemTotal.String() != "64 MiB" || h.MemAvailable.String() != "64 MiB" {
		t.Errorf("%v of %v memory available", h.MemAvailable, h.MemTotal)
	}
	if h.UsableCPUs != 5 || h.Threads() != 5 || runtime.GOMAXPROCS(0) != 5 || h.Cores.String() != "5, 2 NUMA nodes" {
		t.Errorf("%d usable CPUs, %d threads, cores %v", h.UsableCPUs, h.Threads(), h.Cores)
	}
	if want := [][]int{{0, 1, 2}, {3, 4}}; !slices.EqualFunc(h.Cores.V.Nodes, want, slices.Equal[[]int]) {
		t.Errorf("nodes %v, want %v", h.Cores.V.Nodes, want)
	}
	if real := thisHost(); h.CPU.String() != real.CPU.String() || h.Arch != real.Arch {
		t.Errorf("%v on %s, want what there is, %v on %s", h.CPU, h.Arch, real.CPU, real.Arch)
	}

	t.Setenv(described, "nothing")
	Describe()
	if h = Probe(); h.CPU.OK() || h.Cores.OK() || h.L1d.OK() || h.UsableCPUs != restore().UsableCPUs {
		t.Errorf("%+v, want nothing but CPUs", h)
	}
	for _, wrong := range []string{"l1d", "l1d=0", "l4=1M", "cpus=0", "cpus=many", "nodes=2,cpus=1", "cpus=1,nodes=2", "nothing,,"} {
		if _, err := describe(Host{UsableCPUs: 1}, wrong); err == nil {
			t.Errorf("%q is a machine", wrong)
		}
	}
}
