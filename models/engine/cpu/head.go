package cpu

import (
	"cmp"
	"errors"
	"fmt"

	"onebit/formats"
	"onebit/internal/deviation"
	"onebit/internal/mmap"
	"onebit/kernels"
)

// convert makes the matrix of t in another format, of which the source has
// nothing: it is packed at once whatever Packing says, and neither it nor t's
// pages are needed in their old form after that.
func (e *Engine) convert(t formats.Tensor, to *formats.Type) (*matrix, error) {
	rows, cols := t.Dims()
	rowBytes, err := headRowBytes(to, cols)
	if err != nil {
		return nil, err
	}
	v, err := e.options.Kernels.variantFor(to, e.options.Packing.never())
	if err != nil {
		return nil, err
	}
	m := &matrix{name: t.Name, rows: rows, cols: cols, format: to}
	m.checked.Store(true)
	var w *weights
	if v.Layout == kernels.Native {
		w, err = e.convertInPlace(m, v, &t, rowBytes)
	} else {
		w, err = e.convertPacked(m, v, &t, rowBytes)
	}
	m.weights.Store(w)
	return m, err
}

// convertInPlace encodes t as v multiplies it. What was encoded here is good, if the
// format lets one say so.
func (e *Engine) convertInPlace(m *matrix, v *kernels.Variant, t *formats.Tensor, rowBytes int) (*weights, error) {
	mem, err := mmap.Alloc(m.rows * rowBytes)
	if err != nil {
		return nil, err
	}
	e.converted = append(e.converted, mem)
	converted := formats.Tensor{Name: t.Name, Type: m.format, Shape: t.Shape, Data: mem.Bytes()}
	if m.error, err = e.convertTo(&converted, t, nil); err != nil {
		return nil, err
	}
	if !v.ShowsBadWeights() {
		return e.packInto(v, converted, e.pool)
	}
	in, err := v.InPlace(&converted)
	return &weights{v, in}, err
}

// convertPacked encodes and packs a slab after the other.
func (e *Engine) convertPacked(m *matrix, v *kernels.Variant, t *formats.Tensor, rowBytes int) (*weights, error) {
	data, err := e.packed.Alloc(v.Layout.PackedBytes(m.rows, m.cols))
	if err != nil {
		return nil, err
	}
	part := formats.Tensor{Name: t.Name, Type: m.format, Data: make([]byte, min(slab, m.rows)*rowBytes)}
	m.error, err = e.convertTo(&part, t, func(top, bottom int) error {
		packed := part
		packed.Shape, packed.Data = []int{bottom - top, m.cols}, part.Data[:(bottom-top)*rowBytes]
		_, err := v.PackInto(data[v.Layout.PackedBytes(top, m.cols):], &packed, e.pool)
		return err
	})
	return &weights{v, &kernels.Matrix{Rows: m.rows, Cols: m.cols, Format: m.format, Layout: v.Layout, Data: data, Scale: 1}}, err
}

// slab is how many rows are converted at a time: whole tiles of every layout.
const slab = 4096

// convertTo writes src to dst in dst's format, and returns the NMSE. It goes
// through a slab of rows at a time on all threads and releases what it has
// read: so that little of the old matrix is in memory beside the new one. With take,
// dst has room for a slab, and take uses one before the next.
func (e *Engine) convertTo(dst, src *formats.Tensor, take func(top, bottom int) error) (nmse float64, err error) {
	const chunk = 32 // rows
	rows, cols := src.Dims()
	rowBytes, err := dst.Type.Bytes(1, cols)
	if err != nil {
		return 0, err
	}
	if !src.Type.BadIsNotFinite() {
		if err := src.Matrix().Validate(); err != nil {
			return 0, err
		}
	}
	var sum deviation.Sum
	for top := 0; top < rows; top += slab {
		bottom, to := min(top+slab, rows), dst.Data
		if take == nil {
			to = to[top*rowBytes:]
		}
		chunks := (bottom - top + chunk - 1) / chunk
		errs, sums := make([]error, chunks), make([]deviation.Sum, chunks)
		e.pool.ForEach(chunks, func(i int) {
			from := top + i*chunk
			end := min(from+chunk, bottom)
			sums[i], errs[i] = e.convertRows(to[(from-top)*rowBytes:(end-top)*rowBytes], dst.Type, src, from, end)
		})
		e.release(src.Name)
		for i, err := range errs {
			if err != nil {
				// The place in all of the head, not in a strip of rows.
				return 0, cmp.Or(src.Matrix().Validate(), err)
			}
			sum.Add(sums[i])
		}
		if take != nil {
			if err := take(top, bottom); err != nil {
				return 0, err
			}
		}
	}
	return sum.NMSE(), nil
}

// CheckHead returns an error unless heads can be converted to a format: its
// rows must stand alone.
func CheckHead(to *formats.Type) error {
	const cols = 256 // whole blocks of every format
	one, err1 := to.Bytes(1, cols)
	two, err2 := to.Bytes(2, cols)
	if err1 != nil || err2 != nil || two != 2*one {
		return fmt.Errorf("cannot convert the head to %s; want a format with its scales in its rows, such as q8_0", to.Name)
	}
	return nil
}

// headRowBytes returns the size of a row in a format whose rows stand alone.
func headRowBytes(to *formats.Type, cols int) (int, error) {
	if err := CheckHead(to); err != nil {
		return 0, err
	}
	n, err := to.Bytes(1, cols)
	if err != nil {
		return 0, fmt.Errorf("cannot convert the head: %w; choose another format, such as q8_0", err)
	}
	return n, nil
}

// convertRows writes rows [from, end) of t to dst, a few at a time: their
// floats stay in the cache. An *formats.Error is about a row of t.
func (e *Engine) convertRows(dst []byte, to *formats.Type, t *formats.Tensor, from, end int) (sum deviation.Sum, err error) {
	_, cols := t.Dims()
	const strip = 4 // rows
	x, y := make([]float32, strip*cols), make([]float32, strip*cols)
	rowBytes := len(dst) / (end - from)
	for ; from < end; from += strip {
		n := min(strip, end-from)
		x, y, part := x[:n*cols], y[:n*cols], to.Matrix(dst[:n*rowBytes], n, cols)
		if err := t.Matrix().DequantizeRows(x, from, from+n); err != nil {
			return sum, err
		}
		if err := part.Round(y, x); err != nil {
			if bad, ok := errors.AsType[*formats.Error](err); ok && bad.Row >= 0 {
				bad.Row += from
			}
			return sum, err
		}
		e.vectors.Axpy(y, -1, x)
		sum.Add(deviation.Sum{Error: e.vectors.Dot(y, y), Signal: e.vectors.Dot(x, x)})
		dst = dst[n*rowBytes:]
	}
	return sum, nil
}
