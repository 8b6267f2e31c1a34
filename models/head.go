package models

import (
	"fmt"

	"onebit/formats"
	"onebit/internal/mmap"
)

// convertHead returns t in another format, and sets HeadError. It goes
// through a chunk of rows at a time on the model's threads.
func (m *Model) convertHead(t formats.Tensor, to *formats.Type) (formats.Tensor, error) {
	rows, cols := t.Dims()
	rowBytes, err := headRowBytes(to, cols)
	if err != nil {
		return t, err
	}
	if err := t.Type.Validate(t.Data, rows, cols); err != nil {
		return t, err
	}
	mem, err := mmap.Alloc(rows * rowBytes)
	if err != nil {
		return t, err
	}
	m.closers = append(m.closers, mem.Free)
	out := formats.Tensor{Name: t.Name, Type: to, Shape: t.Shape, Data: mem.Bytes()}

	const chunk = 256 // rows
	chunks := (rows + chunk - 1) / chunk
	errs, sums := make([]error, chunks), make([]energy, chunks)
	m.pool.ForEach(chunks, func(i int) {
		from, end := i*chunk, min((i+1)*chunk, rows)
		sums[i], errs[i] = convertRows(out.Data[from*rowBytes:end*rowBytes], to, &t, from, end)
	})
	var total energy
	for i, err := range errs {
		if err != nil {
			return t, err
		}
		total.error += sums[i].error
		total.signal += sums[i].signal
	}
	if total.signal > 0 {
		m.HeadError = total.error / total.signal
	}
	m.release(t.Name)
	return out, nil
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

// energy is Σ(y-x)² and Σx².
type energy struct{ error, signal float64 }

// convertRows writes rows [from, end) of t to dst, a few at a time: their
// floats stay in the cache.
func convertRows(dst []byte, to *formats.Type, t *formats.Tensor, from, end int) (energy, error) {
	rows, cols := t.Dims()
	const strip = 4 // rows
	x, y := make([]float32, strip*cols), make([]float32, strip*cols)
	rowBytes := len(dst) / (end - from)
	var e energy
	for ; from < end; from += strip {
		n := min(strip, end-from)
		x, y, bytes := x[:n*cols], y[:n*cols], dst[:n*rowBytes]
		if err := t.Type.DequantizeRows(x, t.Data, rows, cols, from, from+n); err != nil {
			return e, err
		}
		if err := to.Quantize(bytes, x, n, cols); err != nil {
			return e, err
		}
		if err := to.Dequantize(y, bytes, n, cols); err != nil {
			return e, err
		}
		e.add(x, y)
		dst = dst[n*rowBytes:]
	}
	return e, nil
}

// add counts the error of y in the place of x.
func (e *energy) add(x, y []float32) {
	y = y[:len(x)]
	var sum, signal float64
	for i, v := range x {
		d := float64(y[i]) - float64(v)
		sum += d * d
		signal += float64(v) * float64(v)
	}
	e.error += sum
	e.signal += signal
}
