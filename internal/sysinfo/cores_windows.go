package sysinfo

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

const relationProcessorCore = 0

var logicalProcessors = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetLogicalProcessorInformationEx")

func readCores() Value[Cores] {
	records, err := processorRecords(relationProcessorCore)
	if err != nil {
		return Value[Cores]{Err: err}
	}
	return value(processorCores(records))
}

// processorRecords returns what GetLogicalProcessorInformationEx has of a kind.
func processorRecords(relation uintptr) (string, error) {
	if err := logicalProcessors.Find(); err != nil {
		return "", err
	}
	for size := uint32(1 << 14); size <= 1<<24; {
		buf := make([]byte, size)
		ok, _, err := logicalProcessors.Call(relation, uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size)))
		if ok != 0 {
			return string(buf[:size]), nil
		}
		if err != windows.ERROR_INSUFFICIENT_BUFFER {
			return "", fmt.Errorf("GetLogicalProcessorInformationEx: %w", err)
		}
	}
	return "", fmt.Errorf("GetLogicalProcessorInformationEx: %w", windows.ERROR_INSUFFICIENT_BUFFER)
}
