//go:build !unix

package sides

import "os/exec"

func leaveSession(*exec.Cmd) {}
