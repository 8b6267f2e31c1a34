package mmap

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"unsafe"
)

// ErrGone is wrapped by every FaultError.
var ErrGone = errors.New("the file can no longer be read: it was cut short while it was in use, or its disk fails")

// A FaultError is that of a mapped file whose bytes are there no longer.
type FaultError struct {
	Path   string
	Offset int // the byte that was to be read
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("%s: %v (at byte %d)", e.Path, ErrGone, e.Offset)
}
func (e *FaultError) Unwrap() error { return ErrGone }

// Guard calls f and returns its error, or a *FaultError if f read bytes of a
// mapped file that are there no longer. Without it such a read ends the process.
// It sees what is read on its goroutine, and faults that others hand over: a
// goroutine that f starts must call [debug.SetPanicOnFault], recover, and panic
// with the same value where f can see it (threads.Team does), or call Guard. It
// costs some nanoseconds.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			fault := faultOf(v)
			if fault == nil {
				panic(v)
			}
			err = fault
		}
	}()
	return f()
}

// faultOf returns what a panic says of a mapped file, or nil.
func faultOf(v any) *FaultError {
	// What the runtime panics with after debug.SetPanicOnFault.
	at, ok := v.(interface {
		error
		RuntimeError()
		Addr() uintptr
	})
	if !ok {
		return nil
	}
	return mapped.find(at.Addr())
}

// mapped is every file that is mapped now: a fault comes with an address and
// nothing else.
var mapped table

type table struct {
	sync.Mutex
	files map[*File]struct{}
}

func (t *table) add(f *File) {
	t.Lock()
	defer t.Unlock()
	if t.files == nil {
		t.files = map[*File]struct{}{}
	}
	t.files[f] = struct{}{}
}

func (t *table) remove(f *File) {
	t.Lock()
	defer t.Unlock()
	delete(t.files, f)
}

func (t *table) find(addr uintptr) *FaultError {
	t.Lock()
	defer t.Unlock()
	for f := range t.files {
		if begin := uintptr(unsafe.Pointer(unsafe.SliceData(f.data))); addr-begin < uintptr(len(f.data)) {
			return &FaultError{f.path, int(addr - begin)}
		}
	}
	return nil
}
