package mmap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapFile(f *os.File, size int) ([]byte, error) {
	section, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	// The view keeps the section alive.
	defer windows.CloseHandle(section)
	addr, err := windows.MapViewOfFile(section, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, err
	}
	return bytesAt(addr, size), nil
}

func unmapFile(data []byte) error {
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(&data[0])))
}

func alloc(n int) (*Anon, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	data := bytesAt(addr, n)
	return &Anon{data: data, reserve: data}, nil
}

func free(reserve []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(&reserve[0])), 0, windows.MEM_RELEASE)
}

// bytesAt makes a slice of memory that the system handed out as a number. The
// detour through a pointer's address tells vet that no Go pointer is forged.
func bytesAt(addr uintptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}
