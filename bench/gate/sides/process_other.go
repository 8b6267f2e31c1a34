//go:build !unix

package sides

import (
	"os"
	"os/exec"
)

// Groups of processes are Unix's: elsewhere what a process starts is its own
// business.
func isolate(*exec.Cmd) {}

func interrupt(cmd *exec.Cmd) error { return cmd.Process.Signal(os.Interrupt) }

func endGroup(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	return cmd.Process.Kill()
}

func adoptOrphans() (end func()) { return func() {} }
