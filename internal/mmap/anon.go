package mmap

import (
	"errors"
	"fmt"
	"os"
)

// HugePage is the size of a transparent huge page on amd64, and on arm64 with
// 4 KiB pages. Where the system's differs, the alignment only costs address
// space.
const HugePage = 2 << 20

var errNegative = errors.New("negative size")

// Anon is zeroed, writable memory outside the Go heap. It must be freed by its
// owner: the garbage collector does not know it. It must not hold Go pointers.
type Anon struct {
	data    []byte
	reserve []byte // the whole mapping, which alignment makes larger than data
}

// Alloc returns n bytes of zeroed memory, aligned to a page; from 2 MiB upwards
// aligned to 2 MiB, but on Windows, and, on Linux, advised to use huge pages. A part of a huge
// page at the end is backed by small pages, so that no more than n bytes,
// rounded up to a page, become resident.
//
// Memory never written to may be one shared page of zeroes: write it before
// timing reads from it.
func Alloc(n int) (*Anon, error) {
	if n < 0 {
		return nil, fmt.Errorf("mmap: allocate %d bytes: %w", n, errNegative)
	}
	if n == 0 {
		return &Anon{}, nil
	}
	a, err := alloc(n)
	if err != nil {
		return nil, fmt.Errorf("mmap: allocate %d bytes: %w", n, err)
	}
	if n >= HugePage {
		adviseHuge(a.data)
	}
	return a, nil
}

// Bytes returns the memory, nil once it is freed.
func (a *Anon) Bytes() []byte { return a.data }

// SmallPages takes back the advice to use huge pages for the first n bytes, of
// which little will be written, or not soon: the system clears a page as a
// whole when it is first written to. It is a hint, and does nothing outside
// Linux. It panics if there are fewer bytes.
func (a *Anon) SmallPages(n int) {
	if n < 0 || n > len(a.data) {
		panic("mmap: range outside the memory")
	}
	if n > 0 {
		adviseSmall(a.data[:n])
	}
}

// Shrink gives back what lies behind the first n bytes, which is zeroes again when
// it is next read or written; a huge page that n lies in stays whole. It does
// nothing outside Linux, and panics if there are fewer bytes.
func (a *Anon) Shrink(n int) error {
	if n < 0 || n > len(a.data) {
		panic("mmap: range outside the memory")
	}
	unit := os.Getpagesize()
	if len(a.data) >= HugePage {
		unit = HugePage
	}
	if n = (n + unit - 1) / unit * unit; n >= len(a.data) {
		return nil
	}
	if err := adviseRelease(a.data[n:]); err != nil {
		return fmt.Errorf("mmap: give back %d bytes: %w", len(a.data)-n, err)
	}
	return nil
}

// Free gives the memory back to the system; slices of it fault from then on.
// Calls after the first do nothing.
func (a *Anon) Free() error {
	reserve := a.reserve
	a.data, a.reserve = nil, nil
	if len(reserve) == 0 {
		return nil
	}
	awaitLate()
	if err := free(reserve); err != nil {
		return fmt.Errorf("mmap: free %d bytes: %w", len(reserve), err)
	}
	return nil
}
