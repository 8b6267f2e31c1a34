package guard

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// recorder is a TB that keeps what was reported, and runs cleanups on demand.
type recorder struct {
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) finish() string {
	for _, f := range r.cleanups {
		f()
	}
	return strings.Join(r.errors, "\n")
}

// at points at memory relative to the first byte, past Go's bounds checks. The
// detour through a number keeps the race detector's pointer checks out of it.
func at(b []byte, i int) *byte {
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(b))) + uintptr(i)
	return *(**byte)(unsafe.Pointer(&addr))
}

var sizes = []int{0, 1, 3, 63, 64, 65, 127, 4095, 4096, 4097, 10000}

func TestOneByteTooFarFaults(t *testing.T) {
	if !Enforced {
		t.Skip("this system has no mprotect")
	}
	var sink byte
	for _, n := range sizes {
		end := New(t, n).Bytes()
		if err := Catch(func() { sink += *at(end, n) }); err == nil {
			t.Errorf("New(%d): reading past the end did not fault", n)
		}
		if err := Catch(func() { *at(end, n) = 1 }); err == nil {
			t.Errorf("New(%d): writing past the end did not fault", n)
		}
		start := Start(t, n).Bytes()
		if err := Catch(func() { sink += *at(start, -1) }); err == nil {
			t.Errorf("Start(%d): reading before the start did not fault", n)
		}
		for _, b := range [][]byte{end, start} {
			if err := Catch(func() {
				for i := range b {
					b[i]++
					sink += b[i]
				}
			}); err != nil {
				t.Errorf("%d bytes: access within the buffer: %v", n, err)
			}
		}
	}
}

func TestCatchNamesTheAddress(t *testing.T) {
	if !Enforced {
		t.Skip("this system has no mprotect")
	}
	b := New(t, 100).Bytes()
	want := fmt.Sprintf("%#x", uintptr(unsafe.Pointer(at(b, 100))))
	if err := Catch(func() { *at(b, 100) = 1 }); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Catch = %v, want the address %s", err, want)
	}
}

func TestCatchPassesOtherPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "boom" {
			t.Errorf("recovered %v, want boom", p)
		}
	}()
	_ = Catch(func() { panic("boom") })
	t.Error("the panic did not pass")
}

func TestReadOnly(t *testing.T) {
	var r recorder
	b := New(&r, 100)
	b.Bytes()[99] = 7
	b.ReadOnly(&r)
	err := Catch(func() { b.Bytes()[99] = 8 })
	report := r.finish()
	switch {
	case Enforced && (err == nil || report != ""):
		t.Errorf("write to a read-only buffer: fault %v, report %q, want a fault and no report", err, report)
	case !Enforced && !strings.Contains(report, "read-only buffer of 100 bytes was changed"):
		t.Errorf("write to a read-only buffer: report %q", report)
	}
}

func TestPlacement(t *testing.T) {
	for _, n := range sizes {
		for off := range align {
			b := Misaligned(t, n, off)
			if len(b.Bytes()) != n {
				t.Fatalf("Misaligned(%d, %d): %d bytes", n, off, len(b.Bytes()))
			}
			addr := uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))
			if addr%align != uintptr(off) {
				t.Errorf("Misaligned(%d, %d) begins %d bytes past a boundary", n, off, addr%align)
			}
			if slack := len(b.usable) - b.start - n; slack < 0 || slack >= align {
				t.Errorf("Misaligned(%d, %d): %d bytes to the inaccessible page", n, off, slack)
			}
		}
	}
}

func TestStrayWritesAreReported(t *testing.T) {
	for _, test := range []struct {
		name  string
		make  func(TB) *Buffer
		stray int
	}{
		{"before New", func(tb TB) *Buffer { return New(tb, 100) }, -1},
		{"after Start", func(tb TB) *Buffer { return Start(tb, 100) }, 100},
		{"after Misaligned", func(tb TB) *Buffer { return Misaligned(tb, 100, 1) }, 100},
		{"before Misaligned", func(tb TB) *Buffer { return Misaligned(tb, 100, 1) }, -64},
	} {
		var r recorder
		*at(test.make(&r).Bytes(), test.stray) = 0
		want := fmt.Sprintf("byte %d of a buffer of 100 bytes was overwritten", test.stray)
		if report := r.finish(); !strings.Contains(report, want) {
			t.Errorf("%s: report %q, want %q", test.name, report, want)
		}
	}
}

func TestWritesInsideAreNotReported(t *testing.T) {
	for _, n := range sizes {
		var r recorder
		for _, b := range []*Buffer{New(&r, n), Start(&r, n), Misaligned(&r, n, 17)} {
			for i := range b.Bytes() {
				if b.Bytes()[i] != 0 {
					t.Fatalf("%d bytes: byte %d is not zero", n, i)
				}
				b.Bytes()[i] = 0xff
			}
		}
		if report := r.finish(); report != "" {
			t.Errorf("%d bytes: %s", n, report)
		}
	}
}

func TestCopy(t *testing.T) {
	src := []float32{1, 2.5, -3}
	for name, dst := range map[string][]float32{"Copy": Copy(t, src), "CopyReadOnly": CopyReadOnly(t, src)} {
		for i := range src {
			if dst[i] != src[i] {
				t.Errorf("%s: element %d is %v, want %v", name, i, dst[i], src[i])
			}
		}
		if len(dst) != len(src) || cap(dst) != len(src) {
			t.Errorf("%s: len %d, cap %d, want %d", name, len(dst), cap(dst), len(src))
		}
	}
	if Enforced {
		ro := CopyReadOnly(t, src)
		if Catch(func() { ro[0] = 9 }) == nil {
			t.Error("writing to CopyReadOnly's result did not fault")
		}
	}
	defer func() {
		if recover() != "guard: length is no multiple of the element size" {
			t.Error("As of an odd length did not panic")
		}
	}()
	As[float32](New(t, 6))
}
