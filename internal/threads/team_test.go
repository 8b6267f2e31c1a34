package threads

import (
	"runtime"
	"sync/atomic"
	"testing"

	"onebit/internal/require"
)

// started returns a team of so many threads, which the test stops.
func started(tb testing.TB, size int) *Team {
	tb.Helper()
	require.Procs(tb, size)
	team := &Team{}
	team.Start(size)
	tb.Cleanup(team.Stop)
	return team
}

// TestEveryTaskRunsOnce dispatches as fast as it can, so that workers
// join late, early and not at all.
func TestEveryTaskRunsOnce(t *testing.T) {
	require.Procs(t, 8)
	for _, threads := range []int{1, 2, 3, 8} {
		var team Team
		team.Start(threads)
		for round := range 3000 {
			n := round % 23
			ran := make([]atomic.Int32, n)
			team.Run(n, func(_, i int) { ran[i].Add(1) }, false)
			for i := range ran {
				if got := ran[i].Load(); got != 1 {
					t.Fatalf("%d threads, round %d: task %d of %d ran %d times", threads, round, i, n, got)
				}
			}
			if round%500 == 0 {
				runtime.GC() // lets workers be preempted and park
			}
		}
		team.Stop()
		team.Stop() // twice is harmless
	}
}

func TestStoppedTeamPanics(t *testing.T) {
	team := started(t, 2)
	team.Stop()
	if got := recovered(func() { team.Run(3, func(int, int) {}, false) }); got != "threads: the team is stopped" {
		t.Errorf("panic %v", got)
	}
}

// A panic in any thread's task is the caller's, after which the pool is as good
// as before.
func TestPanicInATask(t *testing.T) {
	require.Procs(t, 5)
	for _, threads := range []int{1, 2, 5} {
		team := started(t, threads)
		for bad := range 7 {
			got := recovered(func() {
				team.Run(7, func(_, i int) {
					if i == bad {
						panic("bad task")
					}
				}, false)
			})
			if got != "bad task" {
				t.Errorf("%d threads, task %d: recovered %v", threads, bad, got)
			}
			var ran atomic.Int32
			team.Run(7, func(int, int) { ran.Add(1) }, false)
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
	team := started(b, 2)
	b.Run("empty", func(b *testing.B) {
		for b.Loop() {
			team.Run(2, func(int, int) {}, false)
		}
	})
	b.Run("rendezvous", func(b *testing.B) {
		var begun atomic.Int32
		meet := func(int, int) {
			begun.Add(1)
			for begun.Load() < 2 {
				pause(1)
			}
		}
		for b.Loop() {
			begun.Store(0)
			team.Run(2, meet, false)
		}
	})
	b.Run("line", func(b *testing.B) {
		const turns = 1000
		var turn atomic.Int32
		bounce := func(_, i int) {
			for want := int32(i); want < turns; want += 2 {
				for turn.Load() != want {
					pause(1)
				}
				turn.Add(1)
			}
		}
		for b.Loop() {
			turn.Store(0)
			team.Run(2, bounce, false)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/line")
	})
}
