package threads

import (
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A Team is a fixed set of threads: the caller, number 0, and its workers. It runs one
// dispatch at a time, and is started before the first.
//
// A product lasts tens of microseconds, as long as it takes to wake a parked goroutine.
// Workers therefore spin for a while after each dispatch before they park.
type Team struct {
	// What a worker reads first lies in one cache line with what each dispatch
	// writes, and with what stands before the Team: it comes from the caller's core once.
	size     int
	queues   []queue   // one per thread: its share of the tasks
	recorder *Recorder // nil: none
	task     func(thread, i int)
	workers  []worker
	stopped  atomic.Bool

	// Padded: while threads write these, others read what is beside them.
	_     [128]byte
	epoch atomic.Uint32 // increased by each dispatch
	_     [124]byte
	gate  atomic.Int32 // workers at work; shut is added between dispatches
	_     [124]byte

	panicked atomic.Pointer[any]

	// Patience is how long the caller waits for a task that it may steal. A steal sets it.
	Patience time.Duration
}

// A queue is a share [next, end) of the tasks; other threads take from it too
// once their own is empty. Padded to two cache lines, which hardware prefetches
// together.
type queue struct {
	next atomic.Int64
	end  int64
	_    [112]byte
}

type worker struct {
	wake   chan struct{}
	parked atomic.Bool
	_      [112]byte
	claim  atomic.Int64 // 1 + the task that may be stolen, 0 if there is none, or stolen
	_      [120]byte
}

// spinRounds × pauseLoops PAUSE instructions are 27 µs on a Zen 5, 50 on others:
// longer than the gaps between the products of a transformer block.
const (
	spinRounds = 256
	pauseLoops = 4
)

// shut keeps the gate below zero however many workers try it.
const shut = -1 << 30

// Start starts size−1 workers.
func (t *Team) Start(size int) {
	t.size, t.queues, t.workers = size, make([]queue, size), make([]worker, size-1)
	t.gate.Store(shut)
	for i := range t.workers {
		t.workers[i].wake = make(chan struct{}, 1)
		go t.serve(i)
	}
}

// Size is the number of threads, the caller among them.
func (t *Team) Size() int { return t.size }

// Stop ends the workers. The team must not be used again.
func (t *Team) Stop() {
	if t.stopped.Swap(true) {
		return
	}
	t.AwaitStragglers()
	t.epoch.Add(1)
	t.wakeParked()
}

// Run calls task for 0 to n−1, alone on the caller's thread, and returns when all have
// ended. A panic in a task, also that of a fault ([debug.SetPanicOnFault]), becomes the
// caller's.
func (t *Team) Run(n int, task func(thread, i int), alone bool) {
	if t.stopped.Load() {
		panic("threads: the team is stopped")
	}
	t.recorder.begin()
	if alone || t.size == 1 || n == 1 {
		for i := range n {
			task(0, i)
		}
		t.recorder.mark(0, Idle, 0)
		return
	}
	t.task = task
	for w := range t.queues {
		t.queues[w].end = int64((w + 1) * n / t.size)
		t.queues[w].next.Store(int64(w * n / t.size))
	}
	t.gate.Add(-shut)
	t.epoch.Add(1)
	t.wakeParked()
	t.drain(0)
	t.gate.Add(shut)
	if !spin(t.ended) {
		t.awaitOrSteal()
	}
	t.recorder.mark(0, Idle, 0)
	t.task = nil
	if v := t.panicked.Swap(nil); v != nil {
		panic(*v)
	}
}

func (t *Team) ended() bool { return t.gate.Load() == shut }

func (t *Team) wakeParked() {
	for i := range t.workers {
		if w := &t.workers[i]; w.parked.Load() && w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
}

// drain runs the tasks of thread's own queue, then what others have left, unless a task
// was stolen from the thread: then they may be another dispatch's.
func (t *Team) drain(thread int) {
	defer t.rescue(thread)
	for i := range t.queues {
		q := &t.queues[(thread+i)%len(t.queues)]
		for q.next.Load() < q.end { // a read leaves the line with its owner
			if k := q.next.Add(1) - 1; k < q.end {
				t.task(thread, int(k))
			}
			if thread > 0 && t.workers[thread-1].claim.Load() == stolen {
				return
			}
		}
	}
	t.recorder.mark(thread, Waiting, 0)
}

// rescue leaves a panic to Run, which waits for the other threads first: they still use
// what the tasks are about. One in a task that was stolen is dropped.
func (t *Team) rescue(thread int) {
	if v := recover(); v != nil && (thread == 0 || t.Complete(thread)) {
		first := v // v itself would be allocated whether there is a panic or not
		t.panicked.CompareAndSwap(nil, &first)
	}
}

// serve is worker i's life. A worker that wakes after the tasks have run out
// finds the gate shut and does not hold the dispatch up: on a busy machine
// the caller finishes alone.
func (t *Team) serve(i int) {
	// The caller decides what a fault is, if it can be told of it.
	debug.SetPanicOnFault(true)
	w := &t.workers[i]
	for seen := uint32(0); ; {
		t.await(w, seen)
		seen = t.epoch.Load()
		if t.stopped.Load() {
			return
		}
		if t.gate.Add(1) > 0 {
			t.drain(i + 1)
			if w.wasStolenFrom() {
				continue // the caller has left in its place
			}
		}
		t.gate.Add(-1)
	}
}

// await returns once the epoch has left seen: it spins, then parks.
func (t *Team) await(w *worker, seen uint32) {
	if spin(func() bool { return t.epoch.Load() != seen }) {
		return
	}
	w.parked.Store(true)
	if t.epoch.Load() != seen && w.parked.CompareAndSwap(true, false) {
		return // dispatched between the spin and the flag
	}
	<-w.wake
}

// spin polls done for about 50 µs and reports whether it came true.
func spin(done func() bool) bool {
	for range spinRounds {
		if done() {
			return true
		}
		pause(pauseLoops)
	}
	return false
}
