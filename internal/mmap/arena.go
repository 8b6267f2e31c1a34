package mmap

import (
	"errors"
	"fmt"
	"sync"
)

// An Arena is memory that is handed out in pieces of any size, one after the other
// in huge pages. A piece with a mapping of its own has huge pages only for what
// fills them: one that is smaller lies in small pages, and is read more slowly. The
// zero value is ready. Its methods may be called from several goroutines.
type Arena struct {
	mu     sync.Mutex
	free   []byte // of the last chunk
	chunks []*Anon
}

// A chunk costs addresses only: of what is left over no more is resident than the
// huge page that it begins in.
const (
	arenaChunk = 256 << 20
	arenaAlign = 64 // a cache line
)

// Alloc returns n bytes of zeroed memory that begin at a cache line of 64 bytes.
func (a *Arena) Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("mmap: allocate %d bytes: %w", n, errNegative)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > len(a.free) {
		mem, err := Alloc(max(n, arenaChunk))
		if err != nil {
			return nil, err
		}
		a.chunks = append(a.chunks, mem)
		a.free = mem.Bytes()
	}
	out := a.free[:n:n]
	a.free = a.free[min(len(a.free), (n+arenaAlign-1)/arenaAlign*arenaAlign):]
	return out, nil
}

// Memory returns the arena's chunks. What has not been handed out yet of the last is
// not resident.
func (a *Arena) Memory() (chunks [][]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.chunks {
		chunks = append(chunks, c.Bytes())
	}
	return chunks
}

// Taken returns how many bytes have been handed out, with those that were left over
// at the ends of chunks.
func (a *Arena) Taken() (n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.chunks {
		n += int64(len(c.Bytes()))
	}
	return n - int64(len(a.free))
}

// Free gives all of the memory back; slices of it fault from then on. The arena is
// as good as new.
func (a *Arena) Free() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, c := range a.chunks {
		errs = append(errs, c.Free())
	}
	a.chunks, a.free = nil, nil
	return errors.Join(errs...)
}
