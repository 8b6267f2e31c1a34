//go:build !unix && !windows

package mmap

import (
	"io"
	"math"
	"os"
	"syscall"
	"unsafe"
)

// Systems without mapped files: the file is read, and memory comes from the
// Go heap.

func mapFile(f *os.File, size int) ([]byte, error) {
	a, err := alloc(size)
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(f, a.data)
	return a.data, err
}

func unmapFile([]byte) error { return nil }

func alloc(n int) (*Anon, error) {
	page := os.Getpagesize()
	if n > math.MaxInt-page {
		return nil, syscall.ENOMEM
	}
	reserve := make([]byte, n+page)
	start := int(-uintptr(unsafe.Pointer(&reserve[0])) % uintptr(page))
	return &Anon{data: reserve[start : start+n : start+n], reserve: reserve}, nil
}

func free([]byte) error { return nil }
