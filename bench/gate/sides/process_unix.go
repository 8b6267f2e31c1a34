//go:build unix

package sides

import (
	"os/exec"
	"syscall"
)

// isolate puts a process into a group of its own, which is what is ended.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithGate(cmd.SysProcAttr)
}

// interrupt asks a process and what it has started to end.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

// endGroup ends a process and what it has left running in its group.
func endGroup(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
