package hf

import (
	"errors"
	"strings"

	"onebit/formats"
	"onebit/internal/mmap"
	"onebit/models/arch"
)

// errOrder is what is wrong with a tensor whose shape the numbers of config.json do
// not give: the order of its heads would lead outside.
var errOrder = errors.New("has another shape than the configuration gives it")

// baseName is a tensor's in the architecture's table: GGUF's without the block before
// it and ".weight" behind it.
func baseName(name string) string {
	if m := ggufBlock.FindStringSubmatch(name); m != nil {
		return m[2]
	}
	return strings.TrimSuffix(name, weightSuffix)
}

// reorders reports whether matrices are in another order than the files'.
func (c *Checkpoint) reorders() bool {
	for _, info := range c.infos {
		if change := c.stored[info.Name].change; len(info.Shape) == 2 && (change.Rows != nil || change.Cols != nil) {
			return true
		}
	}
	return false
}

// make returns a tensor that fill makes of what the files have, which is released;
// the same one until it is released itself.
func (c *Checkpoint) make(s storedTensor, fill func(data []byte) error) ([]byte, error) {
	c.mu.Lock()
	mem := c.made[s.info.Name]
	c.mu.Unlock()
	if mem != nil {
		return mem.Bytes(), nil
	}
	mem, err := mmap.Alloc(int(s.info.Size))
	if err != nil {
		return nil, err
	}
	err = mmap.Guard(func() error { return fill(mem.Bytes()) })
	if err := errors.Join(err, c.files.Release(s.Name)); err != nil {
		return nil, errors.Join(err, mem.Free())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.made[s.info.Name]; other != nil { // made at the same time
		return other.Bytes(), mem.Free()
	}
	c.made[s.info.Name] = mem
	return mem.Bytes(), nil
}

// ordered makes a matrix of floats with its rows and columns in GGUF's order.
func (c *Checkpoint) ordered(s storedTensor) ([]byte, error) {
	return c.make(s, func(data []byte) error {
		src, err := c.inPlace(s)
		if err != nil {
			return err
		}
		rows, cols := formats.Dims(s.info.Shape)
		width := len(src) / (rows * cols)
		row, err := c.order(s.change.Rows, rows)
		if err != nil {
			return err
		}
		col, err := c.order(s.change.Cols, cols)
		if err != nil {
			return err
		}
		for to, from := range row {
			dst, src := data[to*cols*width:][:cols*width], src[from*cols*width:][:cols*width]
			if s.change.Cols == nil {
				copy(dst, src)
				continue
			}
			for to, from := range col {
				copy(dst[to*width:][:width], src[from*width:])
			}
		}
		return nil
	})
}

// floats returns a vector, or taps, as the bytes of float32.
func (c *Checkpoint) floats(s storedTensor) ([]byte, error) {
	t, err := c.files.Tensor(s.Name)
	if err != nil {
		return nil, err
	}
	w, err := t.Floats()
	if err != nil {
		return nil, err
	}
	if err := t.Matrix().Validate(); err != nil {
		return nil, err
	}
	rows, cols := formats.Dims(s.info.Shape)
	row, err := c.order(s.change.Rows, rows)
	if err != nil {
		return nil, err
	}
	col, err := c.order(s.change.Cols, cols)
	if err != nil {
		return nil, err
	}
	out := make([]float32, 0, len(w))
	for _, r := range row {
		for _, c := range col {
			x := w[r*cols+c]
			if s.change.Value != nil {
				x = s.change.Value(x)
			}
			out = append(out, x)
		}
	}
	data := make([]byte, s.info.Size)
	return data, formats.F32.Matrix(data, rows, cols).Quantize(out)
}

// order returns which of a checkpoint's rows or columns each of n is.
func (c *Checkpoint) order(order arch.Order, n int) ([]int, error) {
	out := make([]int, n)
	for i := range out {
		out[i] = i
		if order != nil {
			out[i] = order(c.numbers, i)
		}
		if out[i] >= n {
			return nil, errOrder
		}
	}
	return out, nil
}
