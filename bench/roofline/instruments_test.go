package roofline

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
	"onebit/internal/require"
)

// threadsAtOnce is a pool that starts its threads for each task.
type threadsAtOnce int

func (p threadsAtOnce) Threads() int { return int(p) }

func (p threadsAtOnce) ForEach(n int, task func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { task(i) })
	}
	all.Wait()
}

// TestRoundTrip lets time pass by readings of the clock, during which the other
// thread runs, so that a machine with one CPU has trips too.
func TestRoundTrip(t *testing.T) {
	require.Procs(t, 8)
	for _, threads := range []int{2, 3, 8} {
		trip := NewRoundTrip(threadsAtOnce(threads))
		var reads atomic.Int64
		trip.trips = 2
		trip.now = func() time.Time {
			runtime.Gosched()
			return time.Unix(0, reads.Add(1))
		}
		if got := trip.Probe(); len(got) != 1 || got[0].Unit != results.RoundTrip || got[0].Value <= 0 {
			t.Errorf("%d threads: %v", threads, got)
		}
	}
	if NewRoundTrip(threadsAtOnce(1)).Probe() != nil {
		t.Error("one thread tells of a round trip")
	}
}

// TestRoundTripEndsWithoutPartner lets one thread play alone.
func TestRoundTripEndsWithoutPartner(t *testing.T) {
	trip := newTrip(nil)
	for role := range 2 {
		trip.end = clock.Now().Add(tripLimit)
		trip.play(role)
		if len(trip.took) > 0 || trip.ball.Load() != lost {
			t.Errorf("role %d alone made %d batches, and left the ball at %d", role, len(trip.took), trip.ball.Load())
		}
		trip.ball.Store(0)
	}
}

func TestLimits(t *testing.T) {
	speed := func(unit string, v float64) []results.Metric { return []results.Metric{{Unit: unit, Value: v}} }
	for _, tc := range []struct {
		name     string
		rates    []float64 // of a thread, at each measurement; the last one ever after
		emulated bool
		speeds   []results.Metric
		want     string
	}{
		{"a clock that stands still", []float64{300e9, 310e9}, false, speed(results.WeightRate, 4194e12), "impossible: 4194 TB/s"},
		{"beyond by half", []float64{300e9, 300e9}, false, speed(results.ReadRate, 901e9), "impossible: 901 GB/s"},
		{"no more than that", []float64{300e9}, false, speed(results.WeightRate, 899e9), ""},
		{"first measured on a busy machine", []float64{100e9, 310e9}, false, speed(results.WeightRate, 700e9), ""},
		{"measured on a machine that is busy for long", []float64{100e9, 90e9, 110e9, 100e9, 100e9, 310e9}, false, speed(results.WeightRate, 700e9), ""},
		{"look-ups", []float64{600e9}, false, speed(results.OpRate, 5*2*600e9), ""},
		{"no look-up", []float64{600e9, 600e9}, false, speed(results.OpRate, 25*2*600e9), "impossible: 30.0 T/s"},
		{"emulated", nil, true, speed(results.WeightRate, 4194e12), ""},
		{"another unit", []float64{1}, false, speed(results.TokenRate, 1e9), ""},
	} {
		l := &Limits{Emulated: tc.emulated, Measure: func() (read, dot float64) {
			read = tc.rates[0]
			if len(tc.rates) > 1 {
				tc.rates = tc.rates[1:]
			}
			return read, read
		}}
		err := l.Check(2)(tc.speeds)
		if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		if len(tc.rates) > 1 {
			t.Errorf("%s: measured %d times too few", tc.name, len(tc.rates)-1)
		}
	}
}

// MeasureLimits finds something on any machine.
func TestMeasureLimits(t *testing.T) {
	if read, dot := MeasureLimits(); !(read > 0 && dot > 0) {
		t.Errorf("%v bytes and %v multiply-adds a second", read, dot)
	}
}

// A pass over a first cache takes 50 ns: a thread that wrote its sum after each
// would take the line with the others' sums from them, and be as slow again.
func TestReadingWritesItsSumOnce(t *testing.T) {
	r := NewMoving(Read, threadsAtOnce(1), make([]byte, 128), make([]byte, 64))
	var read []int
	r.design.move = func(b []byte) uint64 {
		if r.sums[0] != 0 {
			t.Errorf("a sum was written after %d passes of 5", len(read))
		}
		read = append(read, len(b))
		return 7
	}
	r.move(5)
	if want := []int{128, 64, 128, 64, 128}; !slices.Equal(read, want) || r.sums[0] != 7 || r.next != 1 {
		t.Errorf("%d bytes read, sum %d, next is %d", read, r.sums[0], r.next)
	}
}

// The threads' parts are the data, whatever their number, and each of them is moved; a
// kernel that leaves bytes out is found.
func TestMovingMovesEverything(t *testing.T) {
	for _, access := range []string{Read, Write, Copy} {
		for _, bytes := range []int{4192, 3 * 64 << 10} {
			a, err := NewBuffer(bytes, Small)
			if err != nil {
				t.Fatal(err)
			}
			m, at := NewMoving(access, threadsAtOnce(3), a.Bytes()), 0
			for thread, parts := range m.parts {
				if &parts[0][0] != &a.Bytes()[at] {
					t.Errorf("thread %d does not begin at byte %d", thread, at)
				}
				at += len(parts[0])
			}
			if at != bytes {
				t.Errorf("the parts end at byte %d of %d", at, bytes)
			}
			for _, d := range accesses[access].designs() {
				if err := m.Use(d.name); err != nil {
					t.Fatal(err)
				}
				if _, err := m.Verify(t.Context()); err != nil {
					t.Error(err)
				}
				move := m.design.move
				m.design.move = func(part []byte) uint64 { return move(part[:len(part)/2]) }
				if _, err := m.Verify(t.Context()); err == nil {
					t.Errorf("%s half of the bytes by %s passes", access, d.name)
				}
			}
			if err := a.Free(); err != nil {
				t.Error(err)
			}
		}
		if err := NewMoving(access, threadsAtOnce(1), make([]byte, 64)).Use("no such"); err == nil {
			t.Errorf("%s: no such kernel is used", access)
		}
	}
}
