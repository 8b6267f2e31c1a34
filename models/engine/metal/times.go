package metal

import (
	"time"

	"onebit/internal/clock"
	"onebit/metal"
	"onebit/models/engine"
)

// spansHeld is how many operations a command buffer has at most that are timed.
const spansHeld = 512

// times are of operations that queue: each is a span of its command buffer, or of several
// where it is cut, and an observer gets to know of it when all of it is done.
type times struct {
	observer engine.Observer
	now      *engine.Op      // whose kernels are being encoded; nil: none that is observed
	encoded  bool            // one of now's has been
	last     *engine.Op      // that has been done, as far as is known, and not been observed
	idle     []*metal.Stamps // that no commands use
	done     time.Time       // when the last command buffer was
}

// A batch is a command buffer, and the spans that it has if operations are timed.
type batch struct {
	*metal.Commands
	stamps *metal.Stamps
	ops    []*engine.Op // by span; nil: kernels of no operation that is observed
	sent   time.Time
}

// span makes what is encoded next a span of the operation that is being encoded.
func (q *queue) span() {
	t, b := q.times, q.open
	if t == nil || len(b.ops) > 0 && b.ops[len(b.ops)-1] == t.now {
		return
	}
	if b.stamps == nil {
		if b.stamps = t.take(q.device, q.fail); b.stamps == nil {
			return
		}
	}
	b.Span(b.stamps, len(b.ops))
	b.ops, t.encoded = append(b.ops, t.now), true
	q.uses = q.uses[:0] // all before is seen
}

// full reports whether a command buffer has no room for another span.
func (q *queue) full() bool {
	b := q.open
	return q.times != nil && len(b.ops) == spansHeld && b.ops[spansHeld-1] != q.times.now
}

// take returns stamps, nil after an error.
func (t *times) take(d *metal.Device, fail func(error)) *metal.Stamps {
	if n := len(t.idle); n > 0 {
		s := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return s
	}
	s, err := d.NewStamps(spansHeld)
	if err != nil {
		fail(err)
		return nil
	}
	return s
}

// read adds to its operations what a command buffer took: to each its share by the ticks
// of the GPU's clock, whose unit is undocumented.
func (t *times) read(b *batch, took time.Duration) {
	ticks := b.stamps.Ticks()[:len(b.ops)]
	var all float64
	for _, n := range ticks {
		all += float64(n)
	}
	at := b.sent
	if at.Before(t.done) {
		at = t.done
	}
	for i, op := range b.ops {
		share := time.Duration(float64(took) * float64(ticks[i]) / max(all, 1))
		if op != nil {
			if op != t.last {
				t.flush()
				t.last, op.Start = op, at
			}
			op.Duration += share
		}
		at = at.Add(share)
	}
	t.done = at
}

// flush shows the observer the operation of which all is done.
func (t *times) flush() {
	if t.last != nil {
		t.observer.Observe(*t.last)
		t.last = nil
	}
}

func (t *times) close() {
	for _, s := range t.idle {
		s.Close()
	}
	t.idle = nil
}

// timed runs an operation as it runs unobserved, but after all before it, and has it
// observed when it is done.
func (s *stream) timed(op string, w work, run func(), results []result) {
	start := clock.Now()
	o := s.operation(op, w, time.Time{})
	for _, r := range results {
		o.Results = append(o.Results, engine.Result{Name: r.name})
	}
	s.times.now, s.times.encoded = &o, false
	run()
	s.times.now = nil
	o.Tokens = results[0].n
	if !s.times.encoded { // nothing of it is for the GPU
		o.Start, o.Duration = start, clock.Since(start)
		s.observer.Observe(o)
	}
}
