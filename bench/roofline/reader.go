package roofline

import (
	"runtime"
	"sync/atomic"
)

// Reader reads whole buffers with a fixed set of workers. Each always begins
// with the same part, so that its caches stay warm, and then helps the others.
// One read costs one dispatch, like one product of a parallel kernel. Its
// methods must not be called at the same time.
type Reader struct {
	kernel ReadKernel
	shares []share // the caller's is the first
	spins  int
}

// share is one worker's part of the buffer, cut in pieces.
type share struct {
	part  []byte
	piece int
	next  atomic.Int64 // the piece to read next; past the end when all are taken

	wake chan struct{} // closed to end the worker
	done chan uint64   // the sum of all pieces that the worker read

	// All workers write to next, so it has cache lines to itself.
	_ [128]byte
}

// Pieces are small enough for workers to finish together, some microseconds
// apart, and large enough to hide the cost of taking one.
const (
	pieces   = 8 // in a small share
	minPiece = 64 << 10
	maxPiece = 256 << 10
)

// spinCount polls take some 30 µs: longer than workers wait for each other, and
// than the gap between two reads. Where a thread must share its CPU after all,
// every wait for it costs that much.
const spinCount = 1 << 13

// NewReader starts threads − 1 workers; the goroutine that calls Read is one
// more. After a read they stay awake for some 30 µs. It panics if threads is
// not positive.
func NewReader(k ReadKernel, threads int) *Reader {
	if threads < 1 {
		panic("roofline: threads must be positive")
	}
	r := &Reader{kernel: k, shares: make([]share, threads)}
	if threads <= runtime.GOMAXPROCS(0) {
		r.spins = spinCount
	}
	for i := 1; i < threads; i++ {
		s := &r.shares[i]
		s.wake, s.done = make(chan struct{}, 1), make(chan uint64, 1)
		go func() {
			runtime.LockOSThread()
			for {
				if _, open := receive(s.wake, r.spins); !open {
					return
				}
				s.done <- r.drain(i)
			}
		}()
	}
	return r
}

// Read reads every byte of buf once, and returns the sum of its little-endian
// 64-bit words modulo 2⁶⁴, where zeroes complete a last part of a word.
func (r *Reader) Read(buf []byte) uint64 {
	threads := len(r.shares)
	if threads == 1 {
		return r.kernel.Sum(buf)
	}
	for i := range r.shares {
		s := &r.shares[i]
		s.part = part(buf, i, threads)
		s.piece = min(maxPiece, max(minPiece, (len(s.part)/pieces+4095)&^4095))
		s.next.Store(0)
	}
	for i := range r.shares[1:] {
		r.shares[i+1].wake <- struct{}{}
	}
	sum := r.drain(0)
	for i := range r.shares[1:] {
		s, _ := receive(r.shares[i+1].done, r.spins)
		sum += s
	}
	return sum
}

// drain reads pieces until none is left, first of the own share.
func (r *Reader) drain(own int) uint64 {
	var sum uint64
	for i := range r.shares {
		s := &r.shares[(own+i)%len(r.shares)]
		for {
			lo := (int(s.next.Add(1)) - 1) * s.piece
			if lo >= len(s.part) {
				break
			}
			sum += r.kernel.Sum(s.part[lo:min(lo+s.piece, len(s.part))])
		}
	}
	return sum
}

// Close ends the workers.
func (r *Reader) Close() {
	for i := range r.shares[1:] {
		close(r.shares[i+1].wake)
	}
	r.shares = nil
}

// receive polls before it sleeps.
func receive[T any](ch chan T, spins int) (T, bool) {
	for range spins {
		select {
		case v, open := <-ch:
			return v, open
		default:
		}
	}
	v, open := <-ch
	return v, open
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
