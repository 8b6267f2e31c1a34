package hotspot

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"onebit/internal/require"
)

// A child that takes too long is ended, and so is the wait for it, though one of
// its threads is traced.
func TestCountGivesUp(t *testing.T) {
	for _, where := range []string{"main", "thread"} {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), childVariable+"="+where)
		_, err := count(t.Context(), command, 2, 100)
		if err == nil {
			t.Fatal("100 steps were enough")
		}
		if !strings.Contains(err.Error(), "more than 100 instructions") {
			require.Skip(t, "ptrace", err.Error()) // containers forbid it
		}
		if command.ProcessState == nil {
			t.Errorf("%s: nobody waited for the child", where)
		}
	}
}
