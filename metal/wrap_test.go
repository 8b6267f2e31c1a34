package metal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"onebit/internal/mmap"
)

// page is that of Apple's GPUs, which this machine's divides.
const page = 16384

// mapped is n bytes outside Go's heap, which begin a page: floats from 8 on, no two
// the same.
func mapped(t *testing.T, n int) []byte {
	t.Helper()
	m, err := mmap.Alloc(n + page)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Free() })
	data := m.Bytes()
	data = data[-addressOf(data)&(page-1):][:n]
	for i := range n / 4 {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(8)+uint32(i))
	}
	return data
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
	data := mapped(t, 3*page+400)
	for name, part := range map[string][]byte{
		"all":           data,
		"a part":        data[page+100 : page+900],
		"over an edge":  data[page-4 : page+4],
		"the last page": data[3*page:],
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
	lib.FailAllocations(0, 1)
	if b := wrapped(t, d, mapped(t, 4*page)); !b.Copied() {
		t.Error("the fault did not happen")
	}
}

// A file that is larger than the largest buffer is in several, each tensor whole
// in one; what is read on the GPU is what the file has.
func TestMap(t *testing.T) {
	lib := played(t)
	lib.MaxBuffer(4 * page)
	defer lib.MaxBuffer(0)
	d, err := OpenFrameworks(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	data := mapped(t, 9*page)
	ends := []int{page / 2, 2*page + 100, 3*page + 8, 5 * page, 7*page + 400, 7*page + 404, 9 * page}
	var parts [][]byte
	from := 0
	for _, end := range ends {
		parts = append(parts, data[from:end])
		from = end
	}
	slices.Reverse(parts) // in whatever order
	m, err := d.Map(parts)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if n := len(m.Buffers()); n != 3 {
		t.Errorf("%d buffers; 9 pages in buffers of 4 at most, cut where tensors end, are 3", n)
	}
	for i, p := range parts {
		b, offset := m.At(i)
		if b.Copied() || &b.Bytes()[offset] != &p[0] || len(b.Bytes()) < offset+len(p) {
			t.Errorf("part %d is not in place", i)
		}
		add := newAdder(t, d, len(p)/4, 1)
		c := add.commands(t)
		add.encode(c, add.a, add.b, add.sum)
		c.SetBuffer(0, b, offset)
		c.SetBuffer(1, b, offset)
		c.Dispatch(Size{uint(add.n+63) / 64, 1, 1}, Size{64, 1, 1})
		run(t, c)
		for k, got := range floats(add.sum) {
			if want := 2 * math.Float32frombits(binary.LittleEndian.Uint32(p[4*k:])); got != want {
				t.Fatalf("part %d: value %d is %g, want %g", i, k, got, want)
			}
		}
	}
	var pe *PartError
	if _, err := d.Map([][]byte{data[:4], data[:4*page+1]}); !errors.Is(err, ErrTooLarge) || !errors.As(err, &pe) || pe.Part != 1 {
		t.Errorf("a part larger than the largest buffer: %v", err)
	}
}

// Parts that cannot be in place, or lie on pages apart, have buffers of their own.
func TestMapApart(t *testing.T) {
	d, lib := openPlayed(t)
	data := mapped(t, 6*page)
	for _, test := range []struct {
		name    string
		parts   [][]byte
		buffers int
		copies  int
	}{
		{"pages between", [][]byte{data[:100], data[3*page : 4*page]}, 2, 0},
		{"pages that touch", [][]byte{data[:100], data[page : 2*page]}, 1, 0},
		{"one in another", [][]byte{data[:3*page], data[page : page+8], data[3*page : 4*page]}, 1, 0},
		{"an odd address", [][]byte{data[:100], data[101:200], data[200:300]}, 3, 1},
		{"an odd address first", [][]byte{data[101:200], data[200:300], data[300:400]}, 2, 1},
	} {
		m, err := d.Map(test.parts)
		if err != nil {
			t.Fatal(err)
		}
		copies := 0
		for i, p := range test.parts {
			b, offset := m.At(i)
			if b.Copied() {
				copies++
			}
			if !bytes.Equal(b.Bytes()[offset:offset+len(p)], p) {
				t.Errorf("%s: part %d has other bytes", test.name, i)
			}
		}
		if len(m.Buffers()) != test.buffers || copies != test.copies {
			t.Errorf("%s: %d buffers and %d copies, want %d and %d", test.name, len(m.Buffers()), copies, test.buffers, test.copies)
		}
		m.Close()
	}
	lib.FailAllocations(1, 3)
	if _, err := d.Map([][]byte{data[:100], data[3*page:]}); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("no memory for the second buffer: %v", err)
	}
	lib.FailAllocations(0, 1)
	m, err := d.Map([][]byte{data[:100], data[100:200]})
	if err != nil {
		t.Fatal(err)
	}
	if b, offset := m.At(1); len(m.Buffers()) != 2 || b.Copied() || offset != 0 {
		t.Error("what the system refuses in one buffer has not two")
	}
	m.Close()
}
