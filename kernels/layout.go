package kernels

import (
	"fmt"

	"onebit/formats"
	"onebit/internal/mmap"
)

// A Layout is how the weights of one format lie in memory for a kernel.
// Variants that share a Layout share packed matrices.
type Layout struct {
	Name string // "native", or what its family calls it
	// RowTile is the number of rows that a kernel handles together. Packed
	// layouts pad the rows to a multiple of it.
	RowTile int
	// PackedBytes returns the packed size; nil for native, which is the file's
	// own bytes and is never copied.
	PackedBytes func(rows, cols int) int
	// Pack writes the row tiles that hold rows [r0, r1), r0 a multiple of
	// RowTile, of t into m.Data.
	Pack func(m *Matrix, t *formats.Tensor, r0, r1 int) error
}

// Native is the layout of the file: the kernel reads the tensor's own bytes.
var Native = &Layout{Name: "native", RowTile: 1}

// Bytes returns the packed size of a rows × cols matrix of format t.
func (l *Layout) Bytes(t *formats.Type, rows, cols int) (int, error) {
	n, err := t.Bytes(rows, cols)
	if err != nil || l.PackedBytes == nil {
		return n, err
	}
	return l.PackedBytes(rows, cols), nil
}

// A Matrix is a weight matrix in the layout that a variant wants. It is read
// only and may be used by any number of goroutines.
type Matrix struct {
	Rows, Cols int
	Format     *formats.Type
	Layout     *Layout
	Data       []byte  // in the layout; aliases the tensor if that is Native
	Scale      float32 // the tensor's one scale where the format has one, else 1

	free func() error
}

// Row returns the bytes of row r in the native layout, where all rows are as
// long and the tensor's scale, if any, lies behind the last one.
func (m *Matrix) Row(r, rowBytes int) []byte { return m.Span(r, r+1, rowBytes) }

// Span returns the bytes of rows [r0, r1), or of tiles, that are as long as each
// other.
func (m *Matrix) Span(r0, r1, bytes int) []byte { return m.Data[r0*bytes : r1*bytes : r1*bytes] }

// Close releases the memory of a packed matrix. The matrix must not be used
// again. Closing a native matrix does nothing: the tensor's bytes are not its.
func (m *Matrix) Close() error {
	if m.free == nil {
		return nil
	}
	free := m.free
	m.free, m.Data = nil, nil
	return free()
}

// CopyTo returns a copy of m whose weights are in data, which is at least as
// long as m.Data. The copy owns nothing: closing it does nothing.
func (m *Matrix) CopyTo(data []byte) *Matrix {
	c := *m
	c.free = nil
	c.Data = data[:copy(data, m.Data)]
	return &c
}

// Pack lays t out for v. Packed layouts get memory of their own, in huge
// pages outside the garbage collector's heap, and are filled by pool's
// workers (nil: by the caller alone); the result must be closed. A native
// matrix aliases t.Data. Many small matrices are faster to read where they lie
// side by side in huge pages: see [Variant.PackInto].
func (v *Variant) Pack(t *formats.Tensor, pool *Pool) (*Matrix, error) {
	if v.Layout.PackedBytes == nil {
		return v.PackInto(nil, t, pool)
	}
	rows, cols := t.Dims()
	size, err := v.Layout.Bytes(v.Format, rows, cols)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	mem, err := mmap.Alloc(size)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	m, err := v.PackInto(mem.Bytes(), t, pool)
	if err != nil {
		mem.Free()
		return nil, err
	}
	m.free = mem.Free
	return m, nil
}

// InPlace is Pack without a look at the weights, for a variant that
// ShowsBadWeights.
func (v *Variant) InPlace(t *formats.Tensor) (*Matrix, error) {
	rows, cols := t.Dims()
	size, err := t.Type.Bytes(rows, cols)
	switch {
	case t.Type != v.Format || !v.ShowsBadWeights():
		return nil, fmt.Errorf("tensor %s (%s): variant %s cannot multiply it unread", t.Name, t.Type.Name, v.Name)
	case err != nil:
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	case len(t.Data) != size:
		return nil, fmt.Errorf("tensor %s: %d bytes of data, want %d", t.Name, len(t.Data), size)
	}
	return &Matrix{Rows: rows, Cols: cols, Format: t.Type, Layout: v.Layout, Data: t.Data, Scale: 1}, nil
}

// PackInto is Pack into memory of the caller's: at least Layout.Bytes long,
// 64-byte aligned. Native layouts ignore it.
func (v *Variant) PackInto(data []byte, t *formats.Tensor, pool *Pool) (*Matrix, error) {
	if t.Type != v.Format {
		return nil, fmt.Errorf("tensor %s is %s, variant %s multiplies %s", t.Name, t.Type.Name, v.Name, v.Format.Name)
	}
	rows, cols := t.Dims()
	if err := t.Validate(); err != nil {
		return nil, err
	}
	scale, err := t.Matrix().TensorScale()
	if err != nil {
		scale = 1 // the data is valid, so the format has no such scale
	}
	m := &Matrix{Rows: rows, Cols: cols, Format: t.Type, Layout: v.Layout, Data: t.Data, Scale: scale}
	if v.Layout.PackedBytes == nil {
		return m, nil
	}
	m.Data = data[:v.Layout.PackedBytes(rows, cols)]
	return m, pool.packRows(m, t)
}
