package sides

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"onebit/internal/require"
)

// An event of the kernel's, which virtual machines have too, is counted in the
// processes that are started meanwhile, and in no others.
func TestEvents(t *testing.T) {
	require.Unplayed(t, "counts what the system does")
	count := func(commands int) float64 {
		t.Helper()
		counted, err := countEvent(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS, func() error {
			for range commands {
				if err := exec.Command("go", "env", "GOVERSION").Run(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Skipf("the system does not count: %v", err)
		}
		return counted[""]
	}
	// On a busy machine the kernel was seen to leave a process out, once in some runs.
	most := func(commands int) float64 { return max(count(commands), count(commands), count(commands)) }
	none, one, two := count(0), most(1), most(2)
	if none != 0 || one == 0 || two < 3*one/2 || two > 3*one {
		t.Errorf("page faults of no process, one and two: %v, %v, %v", none, one, two)
	}
}
