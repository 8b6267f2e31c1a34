package kernels

import (
	"fmt"

	"onebit/formats"
	"onebit/internal/mmap"
)

// An Arena is memory for the packed matrices of a model, one after the other in huge
// pages. [Variant.Pack] gives each matrix a mapping of its own, in which whatever
// does not fill a huge page lies in small ones; most matrices of 1-bit models are
// smaller than such a page, and are read more slowly there. The zero value is
// ready. Its methods may be called from several goroutines.
type Arena struct{ memory mmap.Arena }

// Pack is v.Pack into the arena. A native matrix aliases t.Data. Closing the matrix
// does nothing.
func (a *Arena) Pack(v *Variant, t *formats.Tensor, pool *Pool) (*Matrix, error) {
	if v.Layout.PackedBytes == nil {
		return v.PackInto(nil, t, pool)
	}
	rows, cols := t.Dims()
	size, err := v.Layout.Bytes(v.Format, rows, cols)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	data, err := a.memory.Alloc(size)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return v.PackInto(data, t, pool)
}

// Close frees all of the arena's matrices, which must not be used again. The arena
// is as good as new.
func (a *Arena) Close() error { return a.memory.Free() }
