package kernels

import (
	"runtime"
	"sync/atomic"
	"testing"

	"onebit/internal/require"
	"onebit/internal/sysinfo"
)

// The machine may be one described.
func init() { sysinfo.Describe() }

// TestPoolRunsEveryTaskOnce dispatches as fast as it can, so that workers
// join late, early and not at all.
func TestPoolRunsEveryTaskOnce(t *testing.T) {
	require.Procs(t, 8)
	for _, threads := range []int{1, 2, 3, 8} {
		p := NewPool(threads)
		for round := range 3000 {
			n := round % 23
			ran := make([]atomic.Int32, n)
			p.ForEach(n, func(i int) { ran[i].Add(1) })
			for i := range ran {
				if got := ran[i].Load(); got != 1 {
					t.Fatalf("%d threads, round %d: task %d of %d ran %d times", threads, round, i, n, got)
				}
			}
			if round%500 == 0 {
				runtime.GC() // lets workers be preempted and park
			}
		}
		p.Close()
		p.Close() // twice is harmless
	}
}

// TestChunksAreWholeTiles: a kernel is called at multiples of its tile only.
func TestChunksAreWholeTiles(t *testing.T) {
	data := make([]byte, 3000<<15)
	for _, tile := range []int{1, 4, 16, 64, 128} {
		for threads := 1; threads < 9; threads++ {
			for rows := 1; rows < 3000; rows += 13 {
				for rowBytes := 4; rowBytes < 1<<14; rowBytes = rowBytes*3/2 + 1 {
					m := &Matrix{Rows: rows, Layout: &Layout{RowTile: tile}, Data: data[:rows*rowBytes]}
					got := chunkRows(m, threads)
					if got < 1 || got%tile != 0 || got%16 != 0 {
						t.Fatalf("tile %d, %d threads, %d rows of %d bytes: chunks of %d rows", tile, threads, rows, rowBytes, got)
					}
				}
			}
		}
	}
}

// TestThreadsBeyondProcs: a pool has the threads that can run at once, and no more.
func TestThreadsBeyondProcs(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for _, threads := range []int{-1, 0, 1, procs, procs + 1, 1000} {
		p := NewPool(threads)
		got := p.Threads()
		p.Close()
		if got < 1 || got > procs || threads > 0 && got != min(threads, procs) {
			t.Errorf("%d threads asked for with GOMAXPROCS %d: %d", threads, procs, got)
		}
	}
}

func TestClosedPoolPanics(t *testing.T) {
	require.Procs(t, 2)
	p := NewPool(2)
	p.Close()
	defer func() {
		if got := recover(); got != "kernels: pool is closed" {
			t.Errorf("panic %v", got)
		}
	}()
	p.ForEach(3, func(int) {})
}

// A panic in any thread's task is the caller's, after which the pool is as good
// as before.
func TestPanicInATask(t *testing.T) {
	require.Procs(t, 5)
	for _, threads := range []int{1, 2, 5} {
		p := NewPool(threads)
		defer p.Close()
		for bad := range 7 {
			got := recovered(func() {
				p.ForEach(7, func(i int) {
					if i == bad {
						panic("bad task")
					}
				})
			})
			if got != "bad task" {
				t.Errorf("%d threads, task %d: recovered %v", threads, bad, got)
			}
			var ran atomic.Int32
			p.ForEach(7, func(int) { ran.Add(1) })
			if ran.Load() != 7 {
				t.Errorf("%d threads: %d tasks of 7 ran after a panic", threads, ran.Load())
			}
		}
	}
}

func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// BenchmarkDispatch is what a submission costs beyond its work: empty, with
// tasks that the caller may finish alone; rendezvous, until every thread has
// begun a task and all have ended, which [DispatchTime] estimates. A line is how long
// one core waits for a cache line that another has written.
func BenchmarkDispatch(b *testing.B) {
	require.Procs(b, 2)
	p := NewPool(2)
	defer p.Close()
	b.Run("empty", func(b *testing.B) {
		for b.Loop() {
			p.ForEach(p.Threads(), func(int) {})
		}
	})
	b.Run("rendezvous", func(b *testing.B) {
		var begun atomic.Int32
		meet := func(int) {
			begun.Add(1)
			for begun.Load() < int32(p.Threads()) {
				pause(1)
			}
		}
		for b.Loop() {
			begun.Store(0)
			p.ForEach(p.Threads(), meet)
		}
	})
	b.Run("line", func(b *testing.B) {
		const turns = 1000
		var turn atomic.Int32
		bounce := func(i int) {
			for want := int32(i); want < turns; want += 2 {
				for turn.Load() != want {
					pause(1)
				}
				turn.Add(1)
			}
		}
		for b.Loop() {
			turn.Store(0)
			p.ForEach(2, bounce)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/line")
	})
}
