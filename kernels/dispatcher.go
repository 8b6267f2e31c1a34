package kernels

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"onebit/internal/clock"
	"onebit/internal/mmap"
)

// A dispatcher runs tasks on a fixed set of threads: the caller's, which is number
// 0, and those of its workers. It knows nothing of what the tasks do. A product
// lasts tens of microseconds, as long as it takes to wake a parked goroutine.
// Workers therefore spin for a while after each dispatch before they park.
type dispatcher struct {
	// What a worker reads first lies in one cache line with what each dispatch
	// writes, and with the pool's mutex: it comes from the caller's core once.
	threads  int
	queues   []queue   // one per thread: its share of the tasks
	recorder *Recorder // nil: none
	task     func(thread, i int)
	workers  []worker
	closed   atomic.Bool

	// Padded: while threads write these, others read what is beside them.
	_     [128]byte
	epoch atomic.Uint32 // increased by each dispatch
	_     [124]byte
	gate  atomic.Int32 // workers at work; shut is added between dispatches
	_     [124]byte

	panicked atomic.Pointer[any]

	patience time.Duration // how long the caller waits for a task that it could do itself
}

// queue is a share [next, end) of the tasks; other threads take from it too
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
	held   atomic.Int64 // 1 + the task that it holds, see hold; or lost
	_      [120]byte
}

// lost is what a worker holds whose task the caller has taken over, until it
// comes back and finds out.
const lost = -1

// spinRounds × pauseLoops PAUSE instructions are 27 µs on a Zen 5, 50 on others:
// longer than the gaps between the products of a transformer block.
const (
	spinRounds = 256
	pauseLoops = 4
)

// shut keeps the gate below zero however many workers try it.
const shut = -1 << 30

// start starts threads−1 workers.
func (d *dispatcher) start(threads int) {
	d.threads, d.queues, d.workers = threads, make([]queue, threads), make([]worker, threads-1)
	d.gate.Store(shut)
	for i := range d.workers {
		d.workers[i].wake = make(chan struct{}, 1)
		go d.serve(i)
	}
}

// stop ends the workers.
func (d *dispatcher) stop() {
	if d.closed.Swap(true) {
		return
	}
	d.settle()
	d.epoch.Add(1)
	d.wakeParked()
}

// dispatch runs n tasks, alone on the caller's thread, and returns when all are done.
func (d *dispatcher) dispatch(n int, task func(thread, i int), alone bool) {
	if d.closed.Load() {
		panic("kernels: pool is closed")
	}
	d.recorder.begin()
	if alone || d.threads == 1 || n == 1 {
		for i := range n {
			task(0, i)
		}
		d.recorder.mark(0, Idle, 0)
		return
	}
	d.task = task
	for w := range d.queues {
		d.queues[w].end = int64((w + 1) * n / d.threads)
		d.queues[w].next.Store(int64(w * n / d.threads))
	}
	d.gate.Add(-shut)
	d.epoch.Add(1)
	d.wakeParked()
	d.drain(0)
	d.gate.Add(shut)
	if !spin(d.ended) {
		d.finish()
	}
	d.recorder.mark(0, Idle, 0)
	d.task = nil
	if v := d.panicked.Swap(nil); v != nil {
		panic(*v)
	}
}

func (d *dispatcher) ended() bool { return d.gate.Load() == shut }

// finish waits for workers that are late, as those are whose CPU the system has given
// to somebody else, and does what they hold once that is sooner.
func (d *dispatcher) finish() {
	for began := clock.Now(); !spin(d.ended); runtime.Gosched() {
		if clock.Since(began) >= d.patience {
			d.takeOver()
		}
	}
}

// takeOver does the tasks that workers hold. They may be slow and not late: so the
// next time the caller waits for twice as long as a task took it now. Weights stay
// mapped until the workers have left them, as their owner may free them before.
func (d *dispatcher) takeOver() {
	for i := range d.workers {
		w := &d.workers[i]
		if k := w.held.Load(); k > 0 && w.lose(k) {
			d.gate.Add(-1)
			began := clock.Now()
			d.do(int(k - 1))
			d.patience = 2 * clock.Since(began)
		}
	}
}

// lose takes what w holds from it, if that is still k.
func (w *worker) lose(k int64) bool {
	mmap.Late()
	if w.held.CompareAndSwap(k, lost) {
		return true
	}
	mmap.Ended()
	return false
}

// isLost reports whether w has lost what it held, and has w hold nothing then.
func (w *worker) isLost() bool {
	if !w.held.CompareAndSwap(lost, 0) {
		return false
	}
	mmap.Ended()
	return true
}

// do runs a task on the caller's thread.
func (d *dispatcher) do(i int) {
	defer d.rescue(0)
	d.task(0, i)
}

// hold says that thread, a worker, may lose task i from now on: it reads nothing that
// a later dispatch changes, and writes nothing that others read, until release.
func (d *dispatcher) hold(thread, i int) { d.workers[thread-1].held.Store(int64(i) + 1) }

// release ends hold. It reports whether the task is still the thread's, which then
// writes the results.
func (d *dispatcher) release(thread int) bool {
	w := &d.workers[thread-1]
	k := w.held.Load()
	return k != lost && w.held.CompareAndSwap(k, 0)
}

// settle waits until no worker is within a task that it has lost.
func (d *dispatcher) settle() {
	for i := range d.workers {
		for d.workers[i].held.Load() == lost {
			runtime.Gosched()
		}
	}
}

func (d *dispatcher) wakeParked() {
	for i := range d.workers {
		if w := &d.workers[i]; w.parked.Load() && w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
}

// drain runs the tasks of thread's own queue, then what others have left, unless the
// thread has lost one: then they may be another dispatch's.
func (d *dispatcher) drain(thread int) {
	defer d.rescue(thread)
	for i := range d.queues {
		q := &d.queues[(thread+i)%len(d.queues)]
		for q.next.Load() < q.end { // a read leaves the line with its owner
			if k := q.next.Add(1) - 1; k < q.end {
				d.task(thread, int(k))
			}
			if thread > 0 && d.workers[thread-1].held.Load() == lost {
				return
			}
		}
	}
	d.recorder.mark(thread, Waiting, 0)
}

// rescue leaves a panic to dispatch, which waits for the other threads first: they
// still use what the tasks are about. One in a task that was lost is nobody's.
func (d *dispatcher) rescue(thread int) {
	if v := recover(); v != nil && (thread == 0 || d.release(thread)) {
		first := v // v itself would be allocated whether there is a panic or not
		d.panicked.CompareAndSwap(nil, &first)
	}
}

// serve is worker i's life. A worker that wakes after the tasks have run out
// finds the gate shut and does not hold the dispatch up: on a busy machine
// the caller finishes alone.
func (d *dispatcher) serve(i int) {
	// The caller decides what a fault is, if it can be told of it.
	debug.SetPanicOnFault(true)
	w := &d.workers[i]
	for seen := uint32(0); ; {
		d.await(w, seen)
		seen = d.epoch.Load()
		if d.closed.Load() {
			return
		}
		if d.gate.Add(1) > 0 {
			d.drain(i + 1)
			if w.isLost() {
				continue // the caller has left in its place
			}
		}
		d.gate.Add(-1)
	}
}

// await returns once the epoch has left seen: it spins, then parks.
func (d *dispatcher) await(w *worker, seen uint32) {
	if spin(func() bool { return d.epoch.Load() != seen }) {
		return
	}
	w.parked.Store(true)
	if d.epoch.Load() != seen && w.parked.CompareAndSwap(true, false) {
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
