package metal

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"onebit/internal/clock"
	"onebit/metal"
)

// A queue takes the kernels of a stream to the GPU, in command buffers of no
// more than so many multiply-adds.
type queue struct {
	device *metal.Device
	uses   []use // of the dispatches that run at the same time
	counts Counts
	limit  int
	open   *batch        // that is being encoded; nil: none
	work   int           // multiply-adds of open
	sent   []*batch      // committed and not known to be done, oldest first
	gpu    time.Duration // that all those took which are done
	err    error         // the first; nothing is encoded behind it
	times  *times        // of operations; nil: they are not timed
}

// inFlight is how many command buffers are committed and not done at most: one
// that runs and one that waits keep the GPU busy, and the others the processor's
// pace even.
const inFlight = 4

// Counts are what was encoded so far.
type Counts struct {
	CommandBuffers, Dispatches int
	Barriers                   int // between dispatches that would run at the same time
}

// Encoded returns what the stream has given the GPU to do.
func (q *queue) Encoded() Counts { return q.counts }

// An argument is one of a kernel: a buffer from a byte on, or bytes; neither where
// the kernel takes none at that index.
type argument struct {
	buffer  *metal.Buffer
	offset  int
	written bool
	bytes   []byte
}

// at is a buffer that a kernel reads; out is one that it writes, or both.
func at(b *metal.Buffer, offset int) argument { return argument{buffer: b, offset: offset} }
func out(b *metal.Buffer, offset int) argument {
	return argument{buffer: b, offset: offset, written: true}
}

// A use is a buffer's by a dispatch.
type use struct {
	buffer  *metal.Buffer
	written bool
}

// order puts a barrier before a dispatch of these arguments, if one that may run at the
// same time writes what it uses, or uses what it writes.
func (q *queue) order(args []argument) {
	conflicts := func(a argument) bool {
		return a.buffer != nil && slices.ContainsFunc(q.uses, func(u use) bool { return u.buffer == a.buffer && (u.written || a.written) })
	}
	if slices.ContainsFunc(args, conflicts) {
		q.open.Barrier()
		q.counts.Barriers++
		q.uses = q.uses[:0]
	}
	for _, a := range args {
		if a.buffer != nil {
			q.uses = append(q.uses, use{a.buffer, a.written})
		}
	}
	q.counts.Dispatches++
}

// value passes v as it lies in memory, which is as Metal has it: fields of four
// bytes each.
func value[T any](v T) argument { return argument{bytes: bytesOf([]T{v})} }

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// floatsOf returns the numbers in a buffer.
func floatsOf(b *metal.Buffer) []float32 {
	bytes := b.Bytes()
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/4)
}

// groups runs a kernel in so many threadgroups.
func (q *queue) groups(p *metal.Pipeline, groups, threads metal.Size, args ...argument) {
	if c := q.encode(p, args); c != nil {
		c.Dispatch(groups, threads)
	}
}

// threads runs a kernel of so many threads, which have nothing to do with each other:
// in smaller threadgroups where its registers leave no room.
func (q *queue) threads(p *metal.Pipeline, grid, threads metal.Size, args ...argument) {
	for threads.Height > 1 && threads.Width*threads.Height > uint(p.MaxThreads()) {
		threads.Height /= 2
	}
	threads.Width = min(threads.Width, uint(p.MaxThreads()))
	if c := q.encode(p, args); c != nil {
		c.DispatchThreads(grid, threads)
	}
}

// encode begins a dispatch. It returns nil after an error.
func (q *queue) encode(p *metal.Pipeline, args []argument) *metal.Commands {
	if q.open != nil && q.full() {
		q.submit()
	}
	if q.err == nil && q.open == nil {
		commands, err := q.device.NewConcurrent()
		if err != nil {
			q.fail(err)
			return nil
		}
		q.open = &batch{Commands: commands}
		q.uses = q.uses[:0]
		q.counts.CommandBuffers++
	}
	if q.err == nil {
		q.span()
	}
	if q.err != nil {
		return nil
	}
	q.order(args)
	q.open.Use(p)
	for i, a := range args {
		switch {
		case a.buffer != nil:
			q.open.SetBuffer(i, a.buffer, a.offset)
		case a.bytes != nil:
			q.open.SetBytes(i, a.bytes)
		}
	}
	return q.open.Commands
}

// reserve makes room for an operation of so many multiply-adds: what was encoded
// before is committed if it would be too much together.
func (q *queue) reserve(work int) {
	if q.work > 0 && q.work+work > q.limit {
		q.submit()
	}
	q.work += work
}

// submit commits what was encoded.
func (q *queue) submit() {
	c := q.open
	q.open, q.work = nil, 0
	if c == nil {
		return
	}
	if q.err != nil {
		q.closeBatch(c)
		return
	}
	c.sent = clock.Now()
	if err := c.Commit(); err != nil {
		q.closeBatch(c)
		q.fail(err)
		return
	}
	q.sent = append(q.sent, c)
	q.wait(inFlight)
}

// wait waits until no more than n command buffers are not done.
func (q *queue) wait(n int) {
	for len(q.sent) > n {
		c := q.sent[0]
		q.sent = q.sent[1:]
		if err := c.Wait(); err != nil {
			q.fail(err)
		} else {
			took := c.GPUTime()
			q.gpu += took
			if c.stamps != nil {
				q.times.read(c, took)
			}
		}
		q.closeBatch(c)
	}
}

// closeBatch releases commands, whose stamps others may use.
func (q *queue) closeBatch(b *batch) {
	b.Close()
	if b.stamps != nil {
		q.times.idle = append(q.times.idle, b.stamps)
	}
}

// drain waits until all that was asked for is done, and returns the first error.
func (q *queue) drain() error {
	q.submit()
	q.wait(0)
	if q.times != nil {
		q.times.flush()
	}
	return q.err
}

// idle reports whether the GPU uses nothing of the stream's, nor will.
func (q *queue) idle() bool { return q.open == nil && len(q.sent) == 0 }

// fail keeps the first error.
func (q *queue) fail(err error) {
	if q.err == nil {
		q.err = fmt.Errorf("engine metal on %s: %w", q.device.Name(), err)
	}
}

// drop forgets what was encoded and waits for what was committed.
func (q *queue) drop() {
	if q.open != nil {
		q.closeBatch(q.open)
	}
	q.open, q.work = nil, 0
	q.wait(0)
	if q.times != nil {
		q.times.close()
	}
}
