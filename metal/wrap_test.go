package metal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"onebit/internal/mmap"
)

// mapped is a file of n bytes in memory, which begins a page.
func mapped(t *testing.T, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1, 2, 3, 4}, n/4), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := mmap.Map(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m.Data()
}

// wrapped makes a buffer of data, and adds its floats to themselves on the GPU.
func wrapped(t *testing.T, d *Device, data []byte) *Buffer {
	t.Helper()
	b, err := d.Wrap(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if !bytes.Equal(b.Bytes(), data) {
		t.Fatal("other bytes")
	}
	add := newAdder(t, d, len(data)/4, 1)
	c := add.commands(t)
	add.encode(c, b, b, add.sum)
	run(t, c)
	for i, got := range floats(add.sum) {
		if want := 2 * floats(b)[i]; got != want {
			t.Fatalf("value %d is %g, want %g", i, got, want)
		}
	}
	return b
}

// Pages of a file are used where they are, also where the last is not full.
func TestWrap(t *testing.T) {
	d := open(t)
	data := mapped(t, 3*os.Getpagesize()+400)
	if b := wrapped(t, d, data); b.Copied() || &b.Bytes()[0] != &data[0] {
		t.Error("mapped pages were copied")
	}
	if b := wrapped(t, d, data[4:]); !b.Copied() {
		t.Error("what begins within a page was not copied")
	}
}

// A system that refuses the pages gets a copy.
func TestWrapRefused(t *testing.T) {
	d, lib := openPlayed(t)
	lib.FailAllocations(1)
	if b := wrapped(t, d, mapped(t, 4*os.Getpagesize())); !b.Copied() {
		t.Error("the fault did not happen")
	}
}
