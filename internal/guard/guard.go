package guard

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"unsafe"
)

// TB is what guard needs of a *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Enforced says whether an access past the border faults on this system.
const Enforced = enforced

// align is the widest alignment that kernels ask for: a cache line.
const align = 64

// Buffer is guarded memory.
type Buffer struct {
	data     []byte
	usable   []byte // canaries, data, canaries
	start    int    // of data in usable
	pages    pages
	readOnly []byte // what data held when it became read-only, unless writes fault
}

// New returns n zero bytes that end where an inaccessible page begins. They are
// freed when the test ends.
func New(tb TB, n int) *Buffer {
	tb.Helper()
	return place(tb, n, func(room int) int { return room - n })
}

// Start returns n zero bytes that begin where an inaccessible page ends.
func Start(tb TB, n int) *Buffer {
	tb.Helper()
	return place(tb, n, func(int) int { return 0 })
}

// Misaligned returns n zero bytes that begin off bytes past a 64-byte boundary,
// 0 ≤ off < 64. Up to 63 bytes of canaries lie between them and the
// inaccessible page that follows.
func Misaligned(tb TB, n, off int) *Buffer {
	tb.Helper()
	if off < 0 || off >= align {
		panic("guard: offset outside 0 to 63")
	}
	return place(tb, n, func(room int) int { return (room-n-off)&^(align-1) + off })
}

// Copy returns a copy of src whose end abuts an inaccessible page.
func Copy[T Number](tb TB, src []T) []T {
	tb.Helper()
	dst := As[T](New(tb, len(src)*int(unsafe.Sizeof(*new(T)))))
	copy(dst, src)
	return dst
}

// CopyReadOnly is Copy, and writing to the result faults.
func CopyReadOnly[T Number](tb TB, src []T) []T {
	tb.Helper()
	b := New(tb, len(src)*int(unsafe.Sizeof(*new(T))))
	copy(As[T](b), src)
	b.ReadOnly(tb)
	return As[T](b)
}

// Number is what a Buffer may be viewed as: types without pointers.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// As views the buffer as numbers; it panics if its length is no multiple of
// their size.
func As[T Number](b *Buffer) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if len(b.data)%size != 0 {
		panic("guard: length is no multiple of the element size")
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.data))), len(b.data)/size)
}

// Bytes returns the guarded memory.
func (b *Buffer) Bytes() []byte { return b.data }

// ReadOnly makes every later write to the buffer fault. Where the system cannot
// do that, a change is an error when the test ends.
func (b *Buffer) ReadOnly(tb TB) {
	tb.Helper()
	if !Enforced {
		b.readOnly = slices.Clone(b.data)
	}
	if err := b.pages.protect(); err != nil {
		tb.Fatalf("guard: make %d bytes read-only: %v", len(b.data), err)
	}
}

// Catch runs f and returns an error that names the address if f accessed
// memory that it must not, nil otherwise. Other panics pass through.
func Catch(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("fault at address %#x", p.Addr())
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// place reserves whole pages with room for n bytes and a misalignment, and
// lets start choose where in the room the data begins.
func place(tb TB, n int, start func(room int) int) *Buffer {
	tb.Helper()
	if n < 0 {
		panic("guard: negative size")
	}
	page := os.Getpagesize()
	room := (n + 2*align + page - 1) / page * page
	p, err := reserve(room)
	if err != nil {
		tb.Fatalf("guard: reserve %d bytes: %v", room, err)
	}
	b := &Buffer{usable: p.usable(), start: start(room), pages: p}
	// Not a slice expression: where nothing is left, those keep the old address.
	b.data = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&b.usable[0]), b.start)), n)
	fill(b.usable[:b.start], 0)
	fill(b.usable[b.start+n:], b.start+n)
	tb.Cleanup(func() { b.finish(tb) })
	return b
}

// finish compares the canaries and gives the memory back.
func (b *Buffer) finish(tb TB) {
	tb.Helper()
	end := b.start + len(b.data)
	at, ok := filled(b.usable[:b.start], 0)
	if ok {
		at, ok = filled(b.usable[end:], end)
	}
	if !ok {
		tb.Errorf("guard: byte %d of a buffer of %d bytes was overwritten with %#x", at-b.start, len(b.data), b.usable[at])
	}
	if b.readOnly != nil && !bytes.Equal(b.readOnly, b.data) {
		tb.Errorf("guard: a read-only buffer of %d bytes was changed", len(b.data))
	}
	if where, ok := b.pages.intact(); !ok {
		tb.Errorf("guard: the page %s a buffer of %d bytes was overwritten", where, len(b.data))
	}
	if err := b.pages.free(); err != nil {
		tb.Errorf("guard: free: %v", err)
	}
}

// canaries repeat, differ between neighbours, so that a shifted copy is found too, and
// are never zero.
var canaries = func() (c [13 * 79]byte) {
	for i := range c {
		c[i] = byte(0xa0 | i%13)
	}
	return c
}()

// fill writes canaries to b, the first of them number from.
func fill(b []byte, from int) {
	for len(b) > 0 {
		n := copy(b, canaries[from%len(canaries):])
		b, from = b[n:], from+n
	}
}

// filled reports whether fill(b, from) would change nothing, or else the number of the
// first canary that it would.
func filled(b []byte, from int) (at int, ok bool) {
	for len(b) > 0 {
		want := canaries[from%len(canaries):]
		n := min(len(b), len(want))
		if !bytes.Equal(b[:n], want[:n]) {
			for i := range n {
				if b[i] != want[i] {
					return from + i, false
				}
			}
		}
		b, from = b[n:], from+n
	}
	return 0, true
}
