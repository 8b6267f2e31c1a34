//go:build unix && !linux

package sides

import "syscall"

const adopts = false

// endWithGate does nothing where the system has no such service.
func endWithGate(*syscall.SysProcAttr) {}

// adoptOrphans does nothing where no process can be made the heir of others' children.
func adoptOrphans() (end func()) { return func() {} }
