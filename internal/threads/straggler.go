package threads

import (
	"runtime"

	"onebit/internal/clock"
	"onebit/internal/mmap"
)

// A straggler is a worker that loses its CPU to another process within a task, for some
// 4 ms. The caller steals the task that such a worker has claimed: the products of a
// block of 57 µs each took 177 µs instead of 303 beside a busy process ("A busy
// neighbour" in docs/measurements/threads.md, commit e822efe).

// stolen is the claim of a worker whose task the caller has stolen, until the worker
// comes back and finds out.
const stolen = -1

// Claim says that the caller may steal task i from thread, a worker, until Complete:
// the task reads nothing that a later dispatch changes, and writes nothing that others
// read.
func (t *Team) Claim(thread, i int) { t.workers[thread-1].claim.Store(int64(i) + 1) }

// Complete ends Claim. It reports whether the task is still the thread's, which then
// writes the results.
func (t *Team) Complete(thread int) bool {
	w := &t.workers[thread-1]
	k := w.claim.Load()
	return k != stolen && w.claim.CompareAndSwap(k, 0)
}

// AwaitStragglers waits until no worker is within a task that was stolen from it.
func (t *Team) AwaitStragglers() {
	for i := range t.workers {
		for t.workers[i].claim.Load() == stolen {
			runtime.Gosched()
		}
	}
}

// awaitOrSteal waits until the dispatch has ended, and runs the tasks that workers have
// claimed once that is sooner.
func (t *Team) awaitOrSteal() {
	for began := clock.Now(); !spin(t.ended); runtime.Gosched() {
		if clock.Since(began) >= t.Patience {
			t.stealClaimed()
		}
	}
}

// stealClaimed runs the tasks that workers have claimed. They may be slow and no
// stragglers: so the next time the caller waits for twice as long as a task took it now.
func (t *Team) stealClaimed() {
	for i := range t.workers {
		w := &t.workers[i]
		if k := w.claim.Load(); k > 0 && w.steal(k) {
			t.gate.Add(-1)
			began := clock.Now()
			t.runHere(int(k - 1))
			t.Patience = 2 * clock.Since(began)
		}
	}
}

// runHere runs a task on the caller's thread.
func (t *Team) runHere(i int) {
	defer t.rescue(0)
	t.task(0, i)
}

// steal takes w's claim, if that is still k. Weights stay mapped until w has left them,
// as their owner may free them before.
func (w *worker) steal(k int64) bool {
	mmap.Late()
	if w.claim.CompareAndSwap(k, stolen) {
		return true
	}
	mmap.Ended()
	return false
}

// wasStolenFrom reports whether w's claim was stolen, and ends it then.
func (w *worker) wasStolenFrom() bool {
	if !w.claim.CompareAndSwap(stolen, 0) {
		return false
	}
	mmap.Ended()
	return true
}
