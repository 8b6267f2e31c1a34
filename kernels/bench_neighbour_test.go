package kernels_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"onebit/internal/require"
)

// BenchmarkNeighbour is decoding beside a process that never waits and may run on one
// CPU alone, the first or the last: of n CPUs it should cost a half of one, which n
// threads feel as n/(n−½) times the time alone.
func BenchmarkNeighbour(b *testing.B) {
	bind, err := exec.LookPath("taskset")
	if err != nil {
		require.Skip(b, "taskset", "a process is bound to a CPU with it")
	}
	decode := decodeBlock(b)
	for _, cpu := range []int{-1, 0, runtime.NumCPU() - 1} {
		name := "alone"
		if cpu >= 0 {
			name = "cpu" + strconv.Itoa(cpu)
		}
		for _, threads := range []int{1, runtime.NumCPU()} {
			b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
				if cpu >= 0 {
					loop := exec.Command(bind, "-c", strconv.Itoa(cpu), "sh", "-c", "while :; do :; done")
					if err := loop.Start(); err != nil {
						b.Fatal(err)
					}
					defer func() {
						_ = loop.Process.Kill() // it never ends by itself
						_ = loop.Wait()
					}()
				}
				decode(b, threads)
			})
		}
	}
}
