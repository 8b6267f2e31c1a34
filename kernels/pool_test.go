package kernels

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestPoolRunsEveryTaskOnce dispatches as fast as it can, so that workers
// join late, early and not at all.
func TestPoolRunsEveryTaskOnce(t *testing.T) {
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

func TestClosedPoolPanics(t *testing.T) {
	p := NewPool(2)
	p.Close()
	defer func() {
		if got := recover(); got != "kernels: pool is closed" {
			t.Errorf("panic %v", got)
		}
	}()
	p.ForEach(3, func(int) {})
}

// BenchmarkDispatch is what a submission costs beyond its work.
func BenchmarkDispatch(b *testing.B) {
	p := NewPool(runtime.GOMAXPROCS(0))
	defer p.Close()
	task := func(int) {}
	for b.Loop() {
		p.ForEach(p.Threads(), task)
	}
}
