package mmap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mapPath(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Map(f)
}

// pattern is n bytes with a period that divides no page size.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func TestMap(t *testing.T) {
	page := os.Getpagesize()
	for _, n := range []int{1, page - 1, page, page + 1, 10*page + 7} {
		want := pattern(n)
		f, err := mapPath(writeFile(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Data(), want) {
			t.Errorf("%d bytes: the mapping differs from the file", n)
		}
		if addr := uintptr(unsafe.Pointer(&f.Data()[0])); addr%uintptr(page) != 0 {
			t.Errorf("%d bytes: mapped at %#x, not on a page boundary", n, addr)
		}
		f.Populate(n/2, n-n/2)
		if err := f.Release(n/2, n-n/2); err != nil {
			t.Errorf("Release: %v", err)
		}
		if !bytes.Equal(f.Data(), want) {
			t.Errorf("%d bytes: the mapping differs from the file after Release", n)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if f.Data() != nil {
				t.Error("data after Close")
			}
		}
	}
}

func TestMapEmptyFile(t *testing.T) {
	f, err := mapPath(writeFile(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Data()) != 0 {
		t.Errorf("%d bytes from an empty file", len(f.Data()))
	}
	f.Populate(0, 0)
	if err := errors.Join(f.Release(0, 0), f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}

func TestMapErrors(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		f, err := mapPath(path)
		at, ok := errors.AsType[*fs.PathError](err)
		if f != nil || !ok || at.Path != path || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("%s: %v, %v, want a *fs.PathError", path, f, err)
		}
	}
}

func TestRangesOutsideTheFilePanic(t *testing.T) {
	f, err := mapPath(writeFile(t, pattern(100)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, r := range [][2]int{{-1, 1}, {0, 101}, {100, 1}, {1, -1}, {int(^uint(0) >> 1), 1}} {
		for name, call := range map[string]func(off, n int){"Populate": f.Populate, "Release": func(off, n int) { _ = f.Release(off, n) }} {
			func() {
				defer func() {
					if recover() != "mmap: range outside the file" {
						t.Errorf("%s(%d, %d) did not panic", name, r[0], r[1])
					}
				}()
				call(r[0], r[1])
			}()
		}
	}
}

func TestAlloc(t *testing.T) {
	for _, n := range []int{1, 4095, 4097, HugePage - 1, HugePage, 2*HugePage + 12345} {
		a, err := Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		b := a.Bytes()
		if len(b) != n || cap(b) != n {
			t.Errorf("Alloc(%d): len %d, cap %d", n, len(b), cap(b))
		}
		if addr := uintptr(unsafe.Pointer(&b[0])); addr%uintptr(os.Getpagesize()) != 0 {
			t.Errorf("Alloc(%d) at %#x, not on a page boundary", n, addr)
		}
		for i, v := range b {
			if v != 0 {
				t.Fatalf("Alloc(%d): byte %d is %d, want 0", n, i, v)
			}
		}
		b[0], b[n-1] = 1, 1
		for range 2 {
			if err := a.Free(); err != nil {
				t.Errorf("Free: %v", err)
			}
			if a.Bytes() != nil {
				t.Error("memory after Free")
			}
		}
	}
}

func TestAllocOddSizes(t *testing.T) {
	a, err := Alloc(0)
	if err != nil || len(a.Bytes()) != 0 || a.Free() != nil {
		t.Errorf("Alloc(0) = %v, %v, want empty memory", a, err)
	}
	for _, n := range []int{-1, int(^uint(0) >> 1)} {
		if a, err := Alloc(n); err == nil || !strings.Contains(err.Error(), "mmap: allocate") {
			t.Errorf("Alloc(%d) = %v, %v, want an error", n, a, err)
		}
	}
}

func TestSmallPagesOutsideTheMemoryPanics(t *testing.T) {
	a, err := Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	a.SmallPages(0)
	a.SmallPages(100)
	for _, n := range []int{-1, 101} {
		func() {
			defer func() {
				if recover() != "mmap: range outside the memory" {
					t.Errorf("SmallPages(%d) did not panic", n)
				}
			}()
			a.SmallPages(n)
		}()
	}
}
