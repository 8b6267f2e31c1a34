package cases

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/bench/roofline"
	"onebit/internal/cpu"
	"onebit/internal/require"
	"onebit/internal/sysinfo"
)

func size(n int) sysinfo.Value[sysinfo.Bytes] {
	return sysinfo.Value[sysinfo.Bytes]{V: sysinfo.Bytes(n)}
}

// oneCPU is a machine with small caches and little memory.
var oneCPU = sysinfo.Host{
	UsableCPUs: 1, L1d: size(32 << 10), L2: size(256 << 10), L3: size(1 << 20), MemAvailable: size(16 << 20),
	THP: sysinfo.Value[string]{V: "never"}, Emulator: sysinfo.Value[string]{V: "none"},
}

func machineSuite(t *testing.T, opt MachineOptions) *Suite {
	t.Helper()
	s, err := Machine(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Every ceiling can be set up, is right, runs, and tells the state of the machine.
func TestMachineCasesRun(t *testing.T) {
	require.Procs(t, 2)
	host := oneCPU
	host.UsableCPUs = 2
	s := machineSuite(t, MachineOptions{Features: cpu.Detected(), Host: host, Started: time.Now()})
	for _, c := range require.Draw(t, 4, s.Cases) {
		if n := results.ParseName(c.Name); !names.IsMachine(n) || n.Full != c.Name {
			t.Errorf("%s is no machine's name", c.Name)
		}
		inst, err := c.Setup(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if _, err := inst.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if err := inst.Run(t.Context(), 1); err != nil && c.Name != names.RoundTrip(0, 1) { // which a busy machine may not give
			t.Errorf("%s: %v", c.Name, err)
		}
		state := inst.(bench.Prober).Probe()
		if !slices.ContainsFunc(state, func(m results.Metric) bool { return m.Unit == results.SinceStart }) {
			t.Errorf("%s: the state is %v", c.Name, state)
		}
		if err := inst.Close(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestMachineWithLittleMemory(t *testing.T) {
	s := machineSuite(t, MachineOptions{Host: oneCPU, Started: time.Now()})
	if !slices.ContainsFunc(s.Doubts(), func(d string) bool { return strings.HasPrefix(d, "memory is measured with 4 MiB and not with 256 MiB") }) {
		t.Errorf("the doubts are %q", s.Doubts())
	}
	latency := 0
	for _, c := range s.Cases {
		n := results.ParseName(c.Name)
		if names.BytesOf(n) > 4<<20 {
			t.Errorf("%s takes more than memory has room for", c.Name)
		}
		if n.Base == names.BaseLatency {
			latency += names.BytesOf(n)
		}
		if n.Get(names.Threads) == "2" || n.Base == names.BaseRoundTrip {
			t.Errorf("%s on a machine with one CPU", c.Name)
		}
	}
	if latency > 8<<20 {
		t.Errorf("latency takes %d bytes together, of 8 MiB that may be used", latency)
	}
}

func TestMachineSaysWhatItCannotMeasure(t *testing.T) {
	host := oneCPU
	host.L3 = sysinfo.Value[sysinfo.Bytes]{Err: errors.New("no such cache")}
	s := machineSuite(t, MachineOptions{Host: host, Started: time.Now()})
	for name, reason := range map[string]string{
		"Bandwidth/pages=huge": "transparent huge pages are off",
		"Latency/pages=huge":   "transparent huge pages are off",
		"Bandwidth/access=read/level=l3/pages=small/threads=1": "no such cache",
	} {
		i := slices.IndexFunc(s.Unavailable, func(u Unavailable) bool { return u.Name == name })
		if i < 0 || !strings.Contains(s.Unavailable[i].Err.Error(), reason) {
			t.Errorf("%s is not unavailable, %s", name, reason)
		}
		if !strings.Contains(s.Settings[0].Value, name+": ") || s.Settings[0].Key != results.UnmeasuredKey {
			t.Errorf("the header does not say that %s is unavailable", name)
		}
	}
	for _, k := range roofline.DotKernels(roofline.Int8, ^cpu.Set(0)) {
		missing := slices.ContainsFunc(s.Unavailable, func(u Unavailable) bool {
			return u.Name == names.DotPeak{Type: names.Int8, ISA: k.Name}.String()
		})
		if missing == (k.Requires == 0) {
			t.Errorf("%s is unavailable: %v, on a machine without features", k.Name, missing)
		}
	}
}

func TestMachineThreads(t *testing.T) {
	host := oneCPU
	host.UsableCPUs = 12
	var wrong MachineOptions
	wrong.Host, wrong.Threads = host, []int{13}
	if _, err := Machine(wrong); err == nil || !strings.Contains(err.Error(), "may use 12 CPUs") {
		t.Errorf("13 threads on 12 CPUs: %v", err)
	}
	for n, want := range map[int][]int{1: {1}, 2: {1, 2}, 6: {1, 2, 4, 6}, 8: {1, 2, 4, 8}} {
		if got := doublings(n); !slices.Equal(got, want) {
			t.Errorf("doublings(%d) = %v, want %v", n, got, want)
		}
	}
	// Half of the last cache is what 12 cores' own caches hold: it is no level of its own.
	m := &machine{MachineOptions: MachineOptions{Host: host}, largest: 64 << 20}
	if _, err := m.levelBytes("l3", 12); err == nil {
		t.Error("the last-level cache of 12 cores was measured in their own caches")
	}
	if got, err := m.levelBytes("l2", 12); err != nil || got != 12*128<<10 {
		t.Errorf("the second level of 12 cores has %d bytes, %v", got, err)
	}
}

// The log compares CPU time over a quarter of a second and more, never less.
func TestStateLog(t *testing.T) {
	var spent sysinfo.CPUTime
	log := &stateLog{started: time.Now(), cpus: 2, read: func() sysinfo.Value[sysinfo.CPUTime] { return sysinfo.Value[sysinfo.CPUTime]{V: spent} }}
	units := func() (out []string) {
		for _, m := range log.Probe() {
			out = append(out, m.Unit)
		}
		return out
	}
	for range 3 { // the first has nothing to compare with, the others come too soon
		if got := units(); !slices.Equal(got, []string{results.SinceStart}) {
			t.Errorf("the log tells %q", got)
		}
	}
	log.last = log.last.Add(-time.Hour)
	spent = sysinfo.CPUTime{Busy: 2 * time.Hour, Own: time.Hour, Stolen: time.Hour / 2}
	got := log.Probe()
	if len(got) != 3 || got[1].Unit != results.StolenShare || got[1].Value < 0.24 || got[1].Value > 0.25 || got[2].Unit != results.OtherShare || got[2].Value < 0.49 || got[2].Value > 0.5 {
		t.Errorf("an hour later, the log tells %v", got)
	}
}
