package sysinfo

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// available is what is left of memory, or of what the system promises to keep in its
// page file and memory together, if that is less.
func available() Value[Bytes] {
	status := struct { // MEMORYSTATUSEX
		length, load                        uint32
		totalPhys, availPhys                uint64
		totalPageFile, availPageFile        uint64
		totalVirtual, availVirtual, availEx uint64
	}{}
	status.length = uint32(unsafe.Sizeof(status))
	if err := globalMemoryStatus.Find(); err != nil {
		return Value[Bytes]{Err: err}
	}
	if ok, _, err := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return Value[Bytes]{Err: fmt.Errorf("GlobalMemoryStatusEx: %w", err)}
	}
	return known(Bytes(min(status.availPhys, status.availPageFile)))
}
