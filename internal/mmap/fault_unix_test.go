//go:build unix

package mmap

import (
	"errors"
	"os"
	"runtime/debug"
	"testing"

	"onebit/internal/sysinfo"
)

// shrunk maps a file of four pages and cuts it to one behind its back.
func shrunk(t *testing.T) *File {
	t.Helper()
	page := os.Getpagesize()
	path := writeFile(t, pattern(4*page))
	f, err := mapPath(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := os.Truncate(path, int64(page)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGuardOfATruncatedFile(t *testing.T) {
	if sysinfo.Probe().Emulated() {
		t.Skip("an emulator does not say where a fault was")
	}
	other, err := mapPath(writeFile(t, pattern(1000)))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	f, page := shrunk(t), os.Getpagesize()
	var sum int
	read := func(off, n int) error {
		return Guard(func() error {
			for _, b := range f.Data()[off:][:n] {
				sum += int(b)
			}
			return nil
		})
	}
	if err := read(0, page); err != nil {
		t.Errorf("what is left of the file: %v", err)
	}
	var fault *FaultError
	if err := read(page-5, page); !errors.As(err, &fault) || *fault != (FaultError{f.Path(), page}) || !errors.Is(err, ErrGone) {
		t.Errorf("what is gone: %v, want a FaultError at byte %d of %s", err, page, f.Path())
	}
	// copy reads in assembly.
	buffer := make([]byte, 2*page)
	err = Guard(func() error { copy(buffer, f.Data()[2*page:]); return nil })
	if !errors.As(err, &fault) || fault.Offset < 2*page {
		t.Errorf("a copy of what is gone: %v", err)
	}
}

// Guard is for mapped files: it returns errors, and lets other panics be,
// faults elsewhere among them. The goroutine is as it was after it.
func TestGuardLetsOthersBe(t *testing.T) {
	want := errors.New("an error")
	if err := Guard(func() error { return want }); err != want {
		t.Errorf("Guard returns %v", err)
	}
	var none []int
	for name, bad := range map[string]func() error{
		"a panic":                    func() error { panic("bad") },
		"an index that is not there": func() error { none[len(none)]++; return nil },
		"a nil pointer":              func() error { *(*int)(nil)++; return nil },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			t.Errorf("%s: Guard returns %v", name, Guard(bad))
		}()
	}
	if debug.SetPanicOnFault(false) {
		t.Error("Guard leaves faults as panics behind")
	}
}
