package kernels

import (
	"runtime"
	"testing"

	"onebit/internal/sysinfo"
)

// The machine may be one described.
func init() { sysinfo.Describe() }

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
