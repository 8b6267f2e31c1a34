//go:build unix

package mmap

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmapFile(data []byte) error { return unix.Munmap(data) }

func alloc(n int) (*Anon, error) {
	slack := 0
	if n >= HugePage {
		slack = HugePage
	}
	if n > math.MaxInt-slack {
		return nil, unix.ENOMEM
	}
	reserve, err := unix.Mmap(-1, 0, n+slack, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	start := 0
	if slack > 0 {
		start = int(-uintptr(unsafe.Pointer(&reserve[0])) % HugePage)
	}
	return &Anon{data: reserve[start : start+n : start+n], reserve: reserve}, nil
}

func free(reserve []byte) error { return unix.Munmap(reserve) }
