package mmap

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"unsafe"
)

var (
	errNotRegular = errors.New("is not a regular file, and cannot be mapped")
	errTooLarge   = errors.New("is larger than the address space of this build; use a 64-bit build")
)

// File is a read-only mapping of a whole file. Its methods are not safe for
// use at the same time as Close.
type File struct {
	data []byte
	path string
}

// Map maps a regular file, which may be closed then. An empty file gives empty
// data. Every error is a *fs.PathError.
func Map(f *os.File) (*File, error) {
	fail := func(err error) (*File, error) {
		return nil, &fs.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	switch {
	case !info.Mode().IsRegular():
		return fail(errNotRegular)
	case size == 0:
		return &File{path: f.Name()}, nil
	case size > math.MaxInt:
		return fail(errTooLarge)
	}
	data, err := mapFile(f, int(size))
	if err != nil {
		return fail(err)
	}
	if size >= HugePage {
		adviseHuge(data)
	}
	m := &File{data: data, path: f.Name()}
	mapped.add(m)
	return m, nil
}

// Data returns the file's bytes, nil once the File is closed. They start on a
// page boundary. Writing to them faults, and so does reading them after Close.
func (f *File) Data() []byte { return f.data }

// Path returns the name of the os.File that was mapped.
func (f *File) Path() string { return f.path }

// Close unmaps the file. Calls after the first do nothing.
func (f *File) Close() error {
	data := f.data
	if len(data) == 0 {
		return nil
	}
	mapped.remove(f)
	f.data = nil
	awaitLate()
	if err := unmapFile(data); err != nil {
		return &fs.PathError{Op: "munmap", Path: f.path, Err: err}
	}
	return nil
}

// Touch has the system provide the pages of memory that is new and about to be
// written to, at once: that takes a fraction of what it takes page by page as they
// are. It is a hint, and does nothing outside Linux.
func Touch(memory []byte) {
	page := os.Getpagesize()
	start := int(-uintptr(unsafe.Pointer(unsafe.SliceData(memory))) & uintptr(page-1))
	if end := len(memory); start < end {
		adviseTouch(memory[start:end])
	}
}

// Populate maps the pages of the n bytes at off, all of which are about to be
// read: at once that takes a fraction of what it takes page by page as they
// are read, and several threads may each do a part. It is a hint: it does
// nothing where the system has no such call. It panics if the range is not
// within the file.
func (f *File) Populate(off, n int) {
	page := os.Getpagesize()
	off, end := f.bounds(off, n)
	if n > 0 {
		advisePopulate(f.data[off&^(page-1) : end])
	}
}

// Release gives back the memory behind the n bytes at off, once a caller has
// repacked them: the process's resident size shrinks, and reading them again
// takes them from the page cache or the disk. Pages only partly in the range
// stay. It does nothing outside Linux, and panics if the range is not within
// the file.
func (f *File) Release(off, n int) error {
	page := os.Getpagesize()
	off, end := f.bounds(off, n)
	off = (off + page - 1) &^ (page - 1)
	if end < len(f.data) {
		end &^= page - 1
	}
	return f.advise("release", off, end, adviseRelease)
}

// bounds turns an offset and a length into a checked half-open range.
func (f *File) bounds(off, n int) (start, end int) {
	if off < 0 || n < 0 || off > len(f.data)-n {
		panic("mmap: range outside the file")
	}
	return off, off + n
}

func (f *File) advise(op string, start, end int, call func([]byte) error) error {
	if start >= end {
		return nil
	}
	if err := call(f.data[start:end]); err != nil {
		return &fs.PathError{Op: op, Path: f.path, Err: err}
	}
	return nil
}
