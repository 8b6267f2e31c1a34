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

// Pages of a file are used where they are, also from within one, and where the
// last is not full.
func TestWrap(t *testing.T) {
	d := open(t)
	data := mapped(t, 3*os.Getpagesize()+400)
	for name, part := range map[string][]byte{
		"all":           data,
		"a part":        data[os.Getpagesize()+100 : os.Getpagesize()+900],
		"over an edge":  data[os.Getpagesize()-4 : os.Getpagesize()+4],
		"the last page": data[3*os.Getpagesize():],
	} {
		if b := wrapped(t, d, part); b.Copied() || &b.Bytes()[0] != &part[0] {
			t.Errorf("%s: mapped pages were copied", name)
		}
	}
	if b := wrapped(t, d, data[1:401]); !b.Copied() {
		t.Error("an odd address was not copied")
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
