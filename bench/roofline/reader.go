package roofline

import "runtime"

// Reader reads whole buffers with a fixed set of workers, each of which always
// gets the same part. One read costs one dispatch, like one product of a
// parallel kernel. Its methods must not be called at the same time.
type Reader struct {
	kernel  ReadKernel
	workers []*worker
	spins   int
}

// worker reads what arrives in parts, until that is closed.
type worker struct {
	parts chan []byte
	done  chan uint64 // the sum of the part
}

// NewReader starts threads − 1 workers; the goroutine that calls Read is one
// more. It panics if threads is not positive.
func NewReader(k ReadKernel, threads int) *Reader {
	if threads < 1 {
		panic("roofline: threads must be positive")
	}
	r := &Reader{kernel: k}
	if threads <= runtime.GOMAXPROCS(0) {
		// Some tens of microseconds: the usual gap between two reads of a
		// buffer that fits a cache, and less than waking a thread costs.
		r.spins = 1 << 13
	}
	for range threads - 1 {
		w := &worker{parts: make(chan []byte, 1), done: make(chan uint64, 1)}
		r.workers = append(r.workers, w)
		go func() {
			runtime.LockOSThread()
			for {
				part, ok := receive(w.parts, r.spins)
				if !ok {
					return
				}
				w.done <- k.Sum(part)
			}
		}()
	}
	return r
}

// Read reads every byte of buf once, and returns the sum of its little-endian
// 64-bit words modulo 2⁶⁴, where zeroes complete a last part of a word.
func (r *Reader) Read(buf []byte) uint64 {
	threads := len(r.workers) + 1
	for i, w := range r.workers {
		w.parts <- part(buf, i+1, threads)
	}
	sum := r.kernel.Sum(part(buf, 0, threads))
	for _, w := range r.workers {
		s, _ := receive(w.done, r.spins)
		sum += s
	}
	return sum
}

// Close ends the workers.
func (r *Reader) Close() {
	for _, w := range r.workers {
		close(w.parts)
	}
	r.workers = nil
}

// receive polls before it sleeps, because waking up a sleeping thread takes as
// long as reading a cache.
func receive[T any](ch chan T, spins int) (T, bool) {
	for range spins {
		select {
		case v, ok := <-ch:
			return v, ok
		default:
		}
	}
	v, ok := <-ch
	return v, ok
}

// part is the i-th of n parts of buf, which start at multiples of 4 KiB so that
// no page belongs to two; short buffers are cut at cache lines.
func part(buf []byte, i, n int) []byte {
	unit := 4096
	if len(buf) < 4*unit*n {
		unit = 64
	}
	units := len(buf) / unit
	lo, hi := units*i/n*unit, units*(i+1)/n*unit
	if i == n-1 {
		hi = len(buf)
	}
	return buf[lo:hi:hi]
}
