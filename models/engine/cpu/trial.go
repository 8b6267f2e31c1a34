package cpu

import (
	"errors"
	"fmt"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/kernels"
	"onebit/models/engine"
)

// A trial implements engine.Trial.
type trial struct {
	bytes  int
	pool   *kernels.Pool
	mem    *mmap.Anon
	matrix *kernels.Matrix
	v      *kernels.Variant
}

// CheckHead implements engine.HeadTrier.
func (e *Engine) CheckHead(to *formats.Type) error { return CheckHead(to) }

// Try implements engine.HeadTrier, for formats whose rows stand alone, as those of the
// file must.
func (e *Engine) Try(w engine.Weight, rows []int, to *formats.Type) (engine.Trial, error) {
	m, ok := w.(*matrix)
	if !ok || m.converted() {
		return nil, fmt.Errorf("%s is not the file's, so nothing is known of it in other formats", w.Info().Tensor)
	}
	source, err := e.source.Tensor(m.name)
	if err != nil {
		return nil, err
	}
	picked, err := pickRows(&source, rows)
	if err != nil {
		return nil, err
	}
	n, err := headRowBytes(to, m.cols)
	if err != nil {
		return nil, err
	}
	t := &trial{bytes: m.rows * n, pool: e.pool}
	if t.v, err = e.options.Kernels.variantFor(to, e.options.Packing.never()); err != nil {
		return nil, err
	}
	if t.mem, err = mmap.Alloc(len(rows) * n); err != nil {
		return nil, err
	}
	converted := formats.Tensor{Name: m.name, Type: to, Shape: picked.Shape, Data: t.mem.Bytes()}
	if _, err = e.convertTo(&converted, &picked, nil); err == nil {
		t.matrix, err = t.v.Pack(&converted, e.pool)
	}
	if err != nil {
		return nil, errors.Join(err, t.mem.Free())
	}
	return t, nil
}

// pickRows copies rows of t.
func pickRows(t *formats.Tensor, rows []int) (formats.Tensor, error) {
	all, cols := t.Dims()
	n, err := headRowBytes(t.Type, cols)
	if err != nil {
		return formats.Tensor{}, err
	}
	out := formats.Tensor{Type: t.Type, Shape: []int{len(rows), cols}, Data: make([]byte, 0, len(rows)*n)}
	for _, r := range rows {
		if r < 0 || r >= all {
			return formats.Tensor{}, fmt.Errorf("row %d is none of the %d of %s", r, all, t.Name)
		}
		out.Data = append(out.Data, t.Data[r*n:(r+1)*n]...)
	}
	return out, nil
}

// Bytes implements engine.Trial.
func (t *trial) Bytes() int { return t.bytes }

// Multiply implements engine.Trial.
func (t *trial) Multiply(dst, x []float32, n int) { t.pool.MatMul(dst, t.v, t.matrix, x, n) }

// Close frees the rows.
func (t *trial) Close() error { return errors.Join(t.matrix.Close(), t.mem.Free()) }

// MultiplyOne implements engine.HeadTrier.
func (e *Engine) MultiplyOne(dst []float32, w engine.Weight, x []float32) {
	now, _ := e.pin(w.(*matrix)) // the source has it in place
	e.pool.MatVec(dst, now.variant, now.matrix, x)
}
