package roofline

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"onebit/bench/results"
	"onebit/internal/clock"
)

// A RoundTrip is how far two of a pool's threads are from each other: the time
// in which a cache line goes from one to the other and back. Virtual machines
// move their CPUs among cores that share a cache and cores that don't, and
// what two threads read together changes with it.
//
// It is part of instances that work on several threads, as their Prober.
// Nil, on one thread, it tells nothing.
type RoundTrip struct {
	each  func(n int, task func(i int)) // runs two tasks at once
	task  func(role int)
	now   func() time.Time
	trips uint32          // of a batch
	took  []time.Duration // by batch, of the last Probe
	end   time.Time       // when both give up: the other does not run

	// Padded, because the line is what travels.
	_    [128]byte
	ball atomic.Uint32
	_    [124]byte
}

const (
	// A Probe takes the median of batches: 2,000 round trips in all, some 100
	// to 700 µs.
	tripBatches = 8
	batchTrips  = 250

	tripLimit = 5 * time.Millisecond // of a Probe
	tripLooks = 1 << 14              // at the ball, before one at the clock

	// lost is where the ball is when a thread has given up.
	lost = 1 << 31
)

// NewRoundTrip is nil of one thread.
func NewRoundTrip(pool Pool) *RoundTrip {
	if pool.Threads() < 2 || runtime.GOMAXPROCS(0) < 2 {
		return nil
	}
	return newTrip(pool.ForEach)
}

func newTrip(each func(n int, task func(i int))) *RoundTrip {
	t := &RoundTrip{each: each, now: clock.Now, trips: batchTrips, took: make([]time.Duration, 0, tripBatches)}
	t.task = t.play
	return t
}

// Probe returns the time of a round trip; nothing if the threads did not run
// at once.
func (t *RoundTrip) Probe() []results.Metric {
	if t == nil {
		return nil
	}
	trip := t.Measure()
	if trip == 0 {
		return nil
	}
	return []results.Metric{{Unit: results.RoundTrip, Value: trip}}
}

// Measure returns the nanoseconds of a round trip, the median of batches; 0 if the
// threads did not run at once.
func (t *RoundTrip) Measure() float64 {
	t.took = t.took[:0]
	t.ball.Store(0)
	t.end = t.now().Add(tripLimit)
	t.each(2, t.task)
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return float64(t.took[len(t.took)/2].Nanoseconds()) / float64(t.trips)
}

// play is a thread's side. Role 0 makes the ball odd, role 1 even.
func (t *RoundTrip) play(role int) {
	if role == 1 {
		for ball := uint32(1); t.wait(ball); ball += 2 {
			t.ball.Store(ball + 1)
		}
		return
	}
	defer t.ball.Store(lost)
	for batch := uint32(0); batch <= tripBatches; batch++ {
		start := t.now()
		for i := range t.trips {
			ball := 2 * (batch*t.trips + i)
			t.ball.Store(ball + 1)
			if !t.wait(ball + 2) {
				return
			}
		}
		if batch > 0 { // in the first, the other thread woke up
			t.took = append(t.took, t.now().Sub(start))
		}
	}
}

// wait returns true once the ball is there, false if it is lost.
func (t *RoundTrip) wait(ball uint32) bool {
	for t.now().Before(t.end) {
		for range tripLooks {
			switch t.ball.Load() {
			case ball:
				return true
			case lost:
				return false
			}
		}
	}
	t.ball.Store(lost)
	return false
}
