//go:build !purego

package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// askForTiles has Linux let this process use tile registers, and says whether it does.
// The process asks once, for all of its threads, by arch_prctl(2); the kernel's
// Documentation/arch/x86/xstate.rst has the requests and the number of the feature.
// Without leave, an instruction on tiles raises SIGILL.
//
// Linux refuses a process whose alternate signal stacks are too small for a frame with
// tiles in it, of some 11 KB. Those of Go's threads have 32 KB.
func askForTiles() bool {
	const (
		request  = 0x1023 // ARCH_REQ_XCOMP_PERM
		granted  = 0x1022 // ARCH_GET_XCOMP_PERM
		tileData = 18
	)
	if _, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, request, tileData, 0); errno != 0 {
		return false
	}
	var features uint64
	_, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, granted, uintptr(unsafe.Pointer(&features)), 0)
	return errno == 0 && features>>tileData&1 != 0
}
