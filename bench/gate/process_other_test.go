//go:build !unix

package gate

import "os/exec"

func leaveSession(*exec.Cmd) {}
