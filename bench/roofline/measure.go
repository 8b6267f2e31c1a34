package roofline

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"time"

	"onebit/internal/cpu"
	"onebit/internal/mmap"
)

// Rate is what a kernel reached: bytes read or int8 operations per second,
// where a multiply-add is two operations.
type Rate struct {
	Kernel    string
	PerSecond float64
}

// rounds is how often every kernel has its turn. Turns are interleaved, so that
// a disturbance doesn't hit one kernel alone.
const rounds = 5

// NewBuffer returns n bytes outside the Go heap, on huge pages where the system
// has them, every one of them written. The caller frees it.
func NewBuffer(n int) (*mmap.Anon, error) {
	a, err := mmap.Alloc(n)
	if err != nil {
		return nil, err
	}
	buf := a.Bytes()
	for i := 0; i+8 <= len(buf); i += 8 {
		// Multiples of 2⁶⁴/φ: no two words are alike.
		binary.LittleEndian.PutUint64(buf[i:], uint64(i+8)*0x9e3779b97f4a7c15)
	}
	for i := len(buf) &^ 7; i < len(buf); i++ {
		buf[i] = 1
	}
	return a, nil
}

// ReadCeiling returns the bandwidth of reading buf over and over with that many
// threads, for every kernel that have permits, highest first: the first is the
// ceiling. It takes about d in all. How large buf is decides which cache or
// memory is measured; see [NewBuffer].
//
// It returns the context's error if that ends it early, and panics if threads
// is not positive or buf is empty.
func ReadCeiling(ctx context.Context, have cpu.Set, buf []byte, threads int, d time.Duration) ([]Rate, error) {
	kernels := ReadKernels(have)
	turn := d / time.Duration(rounds*len(kernels))
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.Name
	}
	return best(names, func(i int) (float64, error) {
		return Bandwidth(ctx, kernels[i], buf, threads, turn)
	})
}

// DotCeiling returns the int8 operations per second (a multiply-add is two) of
// that many threads, for every kernel that have permits, highest first: the
// first is the ceiling. It takes about d in all.
//
// It returns the context's error if that ends it early, and panics if threads
// is not positive.
func DotCeiling(ctx context.Context, have cpu.Set, threads int, d time.Duration) ([]Rate, error) {
	kernels := DotKernels(have)
	turn := d / time.Duration(rounds*len(kernels))
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.Name
	}
	return best(names, func(i int) (float64, error) {
		return Throughput(ctx, kernels[i], threads, turn)
	})
}

// best lets every kernel have its turns, and keeps the highest rate of each.
func best(names []string, turn func(i int) (float64, error)) ([]Rate, error) {
	rates := make([]Rate, len(names))
	for range rounds {
		for i, name := range names {
			r, err := turn(i)
			if err != nil {
				return nil, err
			}
			rates[i] = Rate{name, max(r, rates[i].PerSecond)}
		}
	}
	slices.SortStableFunc(rates, func(a, b Rate) int {
		switch {
		case a.PerSecond > b.PerSecond:
			return -1
		case a.PerSecond < b.PerSecond:
			return 1
		}
		return 0
	})
	return rates, nil
}

// Bandwidth returns the bytes per second that one kernel reads, when each of
// the threads goes over its own part of buf again and again for about d. The
// first pass is not counted: it brings the part as near as it will come.
func Bandwidth(ctx context.Context, k ReadKernel, buf []byte, threads int, d time.Duration) (float64, error) {
	if len(buf) == 0 {
		panic("roofline: empty buffer")
	}
	return during(ctx, threads, d, func(thread int) func() int {
		mine := Part(buf, thread, threads)
		k.Sum(mine)
		next := 0
		return func() int {
			read := 0
			for read < chunk && len(mine) > 0 {
				n := min(chunk, len(mine)-next)
				k.Sum(mine[next : next+n])
				read += n
				next = (next + n) % len(mine)
			}
			return read
		}
	})
}

// Throughput returns the int8 operations per second that one kernel computes,
// when every thread does nothing else for about d. A multiply-add is two
// operations.
func Throughput(ctx context.Context, k DotKernel, threads int, d time.Duration) (float64, error) {
	// Of the order of 100 µs: long beside a look at the clock.
	iterations := max(1, 1<<22/(k.chains*k.macs))
	return during(ctx, threads, d, func(int) func() int {
		return func() int {
			macs, _ := k.Dot(iterations)
			return 2 * macs
		}
	})
}

// during runs one worker per thread for about d, and returns the amount of work
// per second: all of it, divided by the time from the first worker's start to
// the last one's end. prepare is called on the worker's thread before any
// starts; what it returns does some work and says how much.
func during(ctx context.Context, threads int, d time.Duration, prepare func(thread int) func() int) (float64, error) {
	if threads < 1 {
		panic("roofline: threads must be positive")
	}
	type shift struct {
		begin, end time.Time
		work       int
	}
	shifts := make([]shift, threads)
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(threads)
	for i := range shifts {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			work := prepare(i)
			ready.Done()
			<-start
			s := shift{begin: time.Now()}
			s.end = s.begin
			for ctx.Err() == nil {
				s.work += work()
				if s.end = time.Now(); s.end.Sub(s.begin) >= d {
					break
				}
			}
			shifts[i] = s
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	first, last, total := shifts[0].begin, shifts[0].end, 0
	for _, s := range shifts {
		if s.begin.Before(first) {
			first = s.begin
		}
		if s.end.After(last) {
			last = s.end
		}
		total += s.work
	}
	return float64(total) / last.Sub(first).Seconds(), nil
}
