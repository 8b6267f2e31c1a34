package mmap

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// Pieces of an arena are zeroed, lie one after the other from the beginning of a huge
// page on, each at a cache line, and what does not fit is in another chunk.
func TestArena(t *testing.T) {
	var a Arena
	for round := range 2 { // an arena that was freed is as good as new
		var next uintptr
		taken := int64(0)
		for i, n := range []int{1, 64, 0, 65, HugePage, 100} {
			piece, err := a.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			if len(piece) != n || cap(piece) != n {
				t.Errorf("Alloc(%d): len %d, cap %d", n, len(piece), cap(piece))
			}
			at := uintptr(unsafe.Pointer(unsafe.SliceData(piece)))
			huge := at%HugePage == 0 || runtime.GOOS == "windows" // where memory begins at any 64 KiB
			if i == 0 && !huge || i > 0 && at != next {
				t.Errorf("round %d: piece %d of %d bytes at %#x, want %#x", round, i, n, at, next)
			}
			for j := range piece {
				if piece[j] != 0 {
					t.Fatalf("piece %d: byte %d is %d, want 0", i, j, piece[j])
				}
				piece[j] = 1
			}
			size := (n + 63) / 64 * 64
			next, taken = at+uintptr(size), taken+int64(size)
		}
		if got := a.Taken(); got != taken || len(a.Memory()) != 1 {
			t.Errorf("%d bytes are taken of %d chunks, want %d of one", got, len(a.Memory()), taken)
		}
		large, err := a.Alloc(arenaChunk + 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Taken(); len(large) != arenaChunk+1 || got != 2*arenaChunk+1 || len(a.Memory()) != 2 {
			t.Errorf("%d bytes are taken of %d chunks after %d more", got, len(a.Memory()), len(large))
		}
		if err := a.Free(); err != nil {
			t.Error(err)
		}
		if a.Taken() != 0 || len(a.Memory()) != 0 {
			t.Errorf("%d bytes are taken of %d chunks after Free", a.Taken(), len(a.Memory()))
		}
	}
}

func TestArenaRefuses(t *testing.T) {
	var a Arena
	for _, n := range []int{-1, int(^uint(0) >> 1)} {
		if _, err := a.Alloc(n); err == nil || !strings.Contains(err.Error(), "mmap: allocate") {
			t.Errorf("Alloc(%d) = %v, want an error", n, err)
		}
	}
	if a.Taken() != 0 {
		t.Errorf("%d bytes are taken", a.Taken())
	}
}
