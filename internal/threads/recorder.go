package threads

import (
	"time"

	"onebit/internal/clock"
)

// A Recorder keeps what each thread of a team did, and when. [Team.Record] hands
// one to a team; a team without one reads no clock. It allocates while its logs
// grow, and once Reset has been called, no longer.
type Recorder struct {
	origin   time.Time
	dispatch int32 // the number of the last
	logs     []threadLog
}

// threadLog is a thread's. Padded: other threads have theirs beside it.
type threadLog struct {
	marks []Mark
	_     [104]byte
}

// A Mark says what a thread does from a moment on, until its next one.
type Mark struct {
	At       time.Duration // since the recorder's origin
	Dispatch int32         // which one, counted from 1
	State    State
	Product  int8 // while Multiplying: which of the products that were submitted together, up to 127
}

// A State is what a thread does.
type State int8

const (
	Idle        State = iota // nothing: no dispatch is in progress
	Dispatching              // the caller hands tasks out
	Quantizing               // activations are made ready for a product
	Multiplying              // rows of a product
	Running                  // any other task
	Waiting                  // this thread found no more tasks, others still work
)

// NewRecorder returns a recorder for a team of so many threads. Its times count
// from now.
func NewRecorder(threads int) *Recorder {
	return &Recorder{origin: clock.Now(), logs: make([]threadLog, max(threads, 1))}
}

// Record makes r keep what t's threads do from now on; nil ends it. It panics if
// r was made for another number of threads.
func (t *Team) Record(r *Recorder) {
	if r != nil && len(r.logs) != t.size {
		panic("threads: the recorder is for another number of threads")
	}
	t.recorder = r
}

// Mark notes in t's recorder, if it has one, what a thread does from now on.
func (t *Team) Mark(thread int, s State, product int) { t.recorder.mark(thread, s, product) }

// Threads is how many the recorder was made for.
func (r *Recorder) Threads() int { return len(r.logs) }

// Origin is what the times of marks count from.
func (r *Recorder) Origin() time.Time { return r.origin }

// Marks returns a thread's marks in the order of time, until the next Reset. The
// caller's thread is 0. It must not be called during a dispatch.
//
// A dispatch begins with the caller's mark Dispatching, and ends with its mark
// Idle. Other threads have a mark when they begin their first task of it and a
// mark Waiting after their last; one that came too late for any has only that, or
// none.
func (r *Recorder) Marks(thread int) []Mark { return r.logs[thread].marks }

// Reset forgets all marks and keeps their room. It must not be called during a
// dispatch.
func (r *Recorder) Reset() {
	for i := range r.logs {
		r.logs[i].marks = r.logs[i].marks[:0]
	}
	r.dispatch = 0
}

// begin notes that the caller dispatches. Without a recorder this and mark cost
// a comparison.
func (r *Recorder) begin() {
	if r != nil {
		r.dispatch++
		r.add(0, Dispatching, 0)
	}
}

// mark notes what a thread does from now on, unless it did that before.
func (r *Recorder) mark(thread int, s State, product int) {
	if r != nil {
		r.change(thread, s, product)
	}
}

func (r *Recorder) change(thread int, s State, product int) {
	if m := r.logs[thread].marks; len(m) > 0 {
		if last := m[len(m)-1]; last.State == s && last.Product == int8(min(product, 127)) && last.Dispatch == r.dispatch {
			return
		}
	}
	r.add(thread, s, product)
}

func (r *Recorder) add(thread int, s State, product int) {
	l := &r.logs[thread]
	l.marks = append(l.marks, Mark{clock.Since(r.origin), r.dispatch, s, int8(min(product, 127))})
}
