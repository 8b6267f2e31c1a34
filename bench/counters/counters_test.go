package counters

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"onebit/bench/results"
)

// A fakeKernel counts what its test says.
type fakeKernel struct {
	alive  map[int]bool      // its threads
	starts map[int]int       // a thread that starts when another one is opened
	refuse map[string]error  // by unit
	gone   map[int]bool      // threads that end before they are opened
	fds    map[int]perfEvent // open ones
	thread map[int]int       // of a descriptor
	values map[[2]int]value  // by event's config and thread
	next   int
}

func newFakeKernel(threads ...int) *fakeKernel {
	k := &fakeKernel{alive: map[int]bool{}, starts: map[int]int{}, refuse: map[string]error{}, gone: map[int]bool{},
		fds: map[int]perfEvent{}, thread: map[int]int{}, values: map[[2]int]value{}}
	for _, t := range threads {
		k.alive[t] = true
	}
	return k
}

func (k *fakeKernel) threads() ([]int, error) { return slices.Sorted(maps.Keys(k.alive)), nil }

func (k *fakeKernel) open(e perfEvent, thread int) (int, error) {
	if err := k.refuse[e.unit]; err != nil {
		return 0, err
	}
	if k.gone[thread] {
		return 0, errNoThread
	}
	if t := k.starts[thread]; t != 0 {
		k.alive[t] = true
	}
	k.next++
	k.fds[k.next], k.thread[k.next] = e, thread
	return k.next, nil
}

func (k *fakeKernel) read(fd int) (value, error) {
	return k.values[[2]int{int(k.fds[fd].config), k.thread[fd]}], nil
}

func (k *fakeKernel) close(fd int) error { delete(k.fds, fd); return nil }

// meter is one that counts by the fake kernel alone.
func (k *fakeKernel) meter() *Meter {
	p, missing := openPerf(k)
	return &Meter{sources: []source{p}, missing: missing}
}

func count(t *testing.T, m *Meter, ops int, meanwhile func()) map[string]float64 {
	t.Helper()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	meanwhile()
	values, err := m.Stop(ops)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, v := range values {
		out[v.Unit] = v.Value
	}
	return out
}

// TestMultiplexing: an event that had a counter for a part of the time is
// scaled, one that had none is left out, and the least share is told.
func TestMultiplexing(t *testing.T) {
	k := newFakeKernel(1, 2)
	k.values[[2]int{0, 1}] = value{1000, 500, 500}
	m := k.meter()
	defer m.Close()
	got := count(t, m, 10, func() {
		k.values[[2]int{0, 1}] = value{1000 + 600, 500 + 400, 500 + 100} // cycles, a quarter of the time
		k.values[[2]int{0, 2}] = value{200, 400, 100}
		k.values[[2]int{1, 1}] = value{300, 400, 400} // instructions, all the time
		k.values[[2]int{1, 2}] = value{100, 400, 400}
		k.values[[2]int{3, 1}] = value{0, 400, 0} // cache misses, never
		k.values[[2]int{3, 2}] = value{0, 400, 0}
	})
	want := map[string]float64{results.Cycles: 320, results.Instructions: 40, results.PctCounted: 25}
	for unit, v := range want {
		if got[unit] != v {
			t.Errorf("%s = %v, want %v", unit, got[unit], v)
		}
	}
	if v, there := got[results.CacheMisses]; there {
		t.Errorf("cache misses, which were never counted, are %v", v)
	}
}

// TestThreads: those that start meanwhile are counted once, those that end are
// no error.
func TestThreads(t *testing.T) {
	k := newFakeKernel(1, 2)
	k.starts[2], k.gone[1] = 3, true
	m := k.meter()
	got := count(t, m, 1, func() {
		for thread := range 4 {
			k.values[[2]int{1, thread}] = value{100, 1, 1}
		}
	})
	if got[results.Instructions] != 200 { // of threads 2 and 3
		t.Errorf("%v instructions, want 200", got[results.Instructions])
	}
	if err := m.Close(); err != nil || len(k.fds) > 0 {
		t.Errorf("%d descriptors stay open, %v", len(k.fds), err)
	}
}

// TestMissing: what the kernel refuses has its reason, events of one reason
// together, and leaves no descriptor behind.
func TestMissing(t *testing.T) {
	k := newFakeKernel(1, 2)
	none := errors.New("no such counter")
	k.refuse = map[string]error{results.Cycles: none, results.Instructions: none, results.Migrations: errors.New("not allowed")}
	m := k.meter()
	if len(m.Missing()) != 2 || m.Missing()[0].String() != "cycles/op, instructions/op: no such counter" {
		t.Errorf("missing: %v", m.Missing())
	}
	if slices.Contains(m.Units(), results.Cycles) || !slices.Contains(m.Units(), results.BranchMisses) {
		t.Errorf("units: %q", m.Units())
	}
	settings := m.Settings()
	if len(settings) != 2 || settings[0].Key != "counters" || !strings.Contains(settings[1].Value, "migrations/op: not allowed") {
		t.Errorf("settings: %v", settings)
	}
	m.Close()
	if len(k.fds) > 0 {
		t.Errorf("%d descriptors stay open", len(k.fds))
	}
}

// TestOpen: the machine's own meter counts a page fault where there is one.
func TestOpen(t *testing.T) {
	m := Open()
	defer m.Close()
	for _, x := range m.Missing() {
		t.Log("not counted here: ", x)
	}
	if !slices.Contains(m.Units(), results.PageFaults) {
		t.Skipf("page faults are not counted here: %v", m.Missing())
	}
	const pages = 1000
	got := count(t, m, 1, func() {
		for i := range touched {
			touched[i] = nil
		}
		big := make([]byte, pages*64<<10)
		for i := 0; i < len(big); i += 4096 {
			big[i] = 1
		}
		touched[0] = big
	})
	if got[results.PageFaults] < 1 {
		t.Errorf("%v page faults after touching %d bytes of new memory", got[results.PageFaults], pages*64<<10)
	}
}

var touched [1][]byte
