package cpu

import (
	"errors"
	"sync"

	"onebit/internal/mmap"
)

// An arena is memory for packed matrices, one after the other in huge pages.
// Most matrices are smaller than such a page and would lie in small ones by
// themselves, where reading them is slower.
type arena struct {
	mu     sync.Mutex // a packer allocates while others look
	free   []byte     // of the last chunk
	chunks []*mmap.Anon
}

// A chunk is room for all of Bonsai-1.7B: it costs addresses, while the end of
// each that is left over for being too small costs most of a huge page.
const (
	arenaChunk = 256 << 20
	arenaAlign = 64 // a cache line
)

// alloc returns n bytes. Of a chunk that is not used up no more is resident
// than the huge pages that were written to.
func (a *arena) alloc(n int) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n = roundUp(n, arenaAlign)
	if n > len(a.free) {
		mem, err := mmap.Alloc(max(n, arenaChunk))
		if err != nil {
			return nil, err
		}
		a.chunks = append(a.chunks, mem)
		a.free = mem.Bytes()
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	return out, nil
}

func (a *arena) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, mem := range a.chunks {
		errs = append(errs, mem.Free())
	}
	a.chunks, a.free = nil, nil
	return errors.Join(errs...)
}
