package cases

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/formats"
	"onebit/internal/clock"
	"onebit/internal/require"
	"onebit/kernels"
)

// TestRoundTrip lets time pass by readings of the clock, during which the other
// thread runs, so that a machine with one CPU has trips too.
func TestRoundTrip(t *testing.T) {
	require.Procs(t, 8)
	for _, threads := range []int{2, 3, 8} {
		pool := kernels.NewPool(threads)
		trip := newRoundTrip(pool)
		var reads atomic.Int64
		trip.trips = 2
		trip.now = func() time.Time {
			runtime.Gosched()
			return time.Unix(0, reads.Add(1))
		}
		if got := trip.Probe(); len(got) != 1 || got[0].Unit != results.RoundTrip || got[0].Value <= 0 {
			t.Errorf("%d threads: %v", threads, got)
		}
		pool.Close()
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

func tripOf(inst bench.Instance) *roundTrip {
	if r, ok := inst.(*moving); ok {
		return r.Prober.(*roundTrip)
	}
	return inst.(*matvec).roundTrip
}

// TestProbers lets what works on two threads tell of the round trip, and
// nothing that works on one.
func TestProbers(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic(lookup(t, "q1_0_g128"), []formats.Shape{{Rows: 64, Cols: 256}}, 1), Caches: []string{"warm"}})
	for _, base := range []string{"MatVec/format=q1_0_g128/variant=unrolled/act=q8_128/rows=64/cols=256", "Read/format=q1_0_g128/rows=64/cols=256/bytes=2304"} {
		if trip := tripOf(instance(t, s, base+"/threads=2/cache=warm")); trip == nil {
			t.Errorf("%s on 2 threads tells nothing", base)
		}
		if got := instance(t, s, base+"/threads=1/cache=warm").(bench.Prober).Probe(); got != nil {
			t.Errorf("%s on 1 thread: %v", base, got)
		}
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
		l := &limits{emulated: tc.emulated, measure: func() (read, dot float64) {
			read = tc.rates[0]
			if len(tc.rates) > 1 {
				tc.rates = tc.rates[1:]
			}
			return read, read
		}}
		err := l.check(2)(tc.speeds)
		if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		if len(tc.rates) > 1 {
			t.Errorf("%s: measured %d times too few", tc.name, len(tc.rates)-1)
		}
	}
}

// TestImpossibleProductIsNoRow times products that claim to have read a
// milliard times their weights.
func TestImpossibleProductIsNoRow(t *testing.T) {
	s := suite(t, Options{Sources: Synthetic([]*formats.Type{lookup(t, "i2_s")[0]}, []formats.Shape{{Rows: 64, Cols: 256}}, 1), Threads: []int{1}, Caches: []string{"warm"}})
	s.home.(*env).limits.measure = func() (read, dot float64) { return 1e12, 1e12 }
	for i := range s.Cases {
		s.Cases[i].Bytes *= 1e9
	}
	r := bench.Runner{Count: 1, Time: 50_000}
	res, err := r.Run(t.Context(), bench.Suite{Cases: s.Cases}, &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Samples) > 0 || len(res.Failures) != len(s.Cases) {
		t.Errorf("%d samples, %d failures of %d cases", len(res.Samples), len(res.Failures), len(s.Cases))
	}
}

// measureLimits finds something on any machine.
func TestMeasureLimits(t *testing.T) {
	if read, dot := measureLimits(); !(read > 0 && dot > 0) {
		t.Errorf("%v bytes and %v multiply-adds a second", read, dot)
	}
}

// A pass over a first cache takes 50 ns: a thread that wrote its sum after each
// would take the line with the others' sums from them, and be as slow again.
func TestReadingWritesItsSumOnce(t *testing.T) {
	pool := kernels.NewPool(1)
	defer pool.Close()
	r := newMoving(names.ReadAccess, pool, make([]byte, 128), make([]byte, 64))
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
