package hf

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"onebit/formats"
	"onebit/internal/mmap"
)

// How a Hugging Face checkpoint stores ternary weights. Source:
// huggingface/transformers src/transformers/integrations/bitnet.py.
//
//	U8, with weight_scale      packed: byte [r, c] has the weights of rows r,
//	                           r+n, r+2n and r+3n in column c, n a quarter of
//	                           the rows, from the low bits up, each as w+1
//	floats, with weight_scale  the same, unpacked: -1, 0 and +1
//	floats                     masters: ternarized by absmean, unless they are
//	                           -s, 0 and +s already (formats.Ternarizer)
//
// What the first two are multiplied by is weight_scale for the linear class
// autobitlinear and 1/weight_scale for bitlinear, which is the default.
//
// A scale is never dropped. openfluke/loom has functions that take native
// ternary weights with scale 1 ("native", poly/bitnet_cpu.go) beside those for
// checkpoints; without the scale a layer before a residual sum computes
// something else.

// ternaryType returns the format for ternary weights of so many columns: what
// bitnet.cpp and its kernels use where it fits, and it does in all models but
// bitnet_b1_58-3B with its 8640 columns.
func ternaryType(cols int) *formats.Type {
	if cols%formats.I2_S.BlockLen == 0 {
		return formats.I2_S
	}
	return formats.Ternary_u32
}

// A digitReader unpacks ternary weights.
type digitReader interface {
	// scale returns what the digits are multiplied by.
	scale() (float32, error)
	// digits writes those of rows [from, to) to dst.
	digits(dst []int8, w *workspace, from, to int) error
}

// ternaries makes a tensor in its ternary format and releases what it was made
// of. No more than a few rows per thread are ever unpacked.
func (c *Checkpoint) ternaries(s storedTensor) ([]byte, error) {
	return c.make(s, func(data []byte) error {
		r, err := c.reader(s)
		if err != nil {
			return err
		}
		scale, err := r.scale()
		if err != nil {
			return err
		}
		rows, cols := s.info.Shape[0], s.info.Shape[1]
		m := s.info.Type.Matrix(data, rows, cols)
		if s.change.Rows != nil {
			r = &orderedReader{r, func(row int) int { return s.change.Rows(c.numbers, row) }, rows, cols}
		}
		err = eachPart(rows, cols, func(w *workspace, _, from, to int) error {
			digits := w.digits[:(to-from)*cols]
			if err := r.digits(digits, w, from, to); err != nil {
				return err
			}
			return m.EncodeDigits(digits, from, to)
		})
		return errors.Join(err, m.SetTensorScale(scale))
	})
}

func (c *Checkpoint) reader(s storedTensor) (digitReader, error) {
	if s.Type == nil {
		data, err := c.files.Raw(s.Name)
		return &packedReader{c, s, data}, err
	}
	t, err := c.files.Tensor(s.Name)
	if err != nil {
		return nil, err
	}
	return &floatReader{Checkpoint: c, stored: s, tensor: t}, nil
}

// weightScale reads the scale of packed weights.
func (c *Checkpoint) weightScale(name string) (float32, error) {
	t, err := c.files.Tensor(name)
	if err != nil {
		return 0, err
	}
	x, err := t.Floats()
	if err != nil {
		return 0, c.files.Fault(name, err)
	}
	if len(x) != 1 {
		return 0, c.files.Fault(name, fmt.Errorf("has %d elements, want one scale", len(x)))
	}
	s := x[0]
	if c.scaleDivides {
		s = 1 / s
	}
	if !positive(x[0]) || !positive(s) {
		return 0, c.files.Fault(name, fmt.Errorf("is %v, want a scale that is positive and finite", x[0]))
	}
	return s, nil
}

// An orderedReader has rows in another order than the other's.
type orderedReader struct {
	digitReader
	order      func(row int) int
	rows, cols int
}

func (r *orderedReader) digits(dst []int8, w *workspace, from, to int) error {
	for row := from; row < to; row++ {
		source := r.order(row)
		if source >= r.rows {
			return errOrder
		}
		if err := r.digitReader.digits(dst[(row-from)*r.cols:][:r.cols], w, source, source+1); err != nil {
			return err
		}
	}
	return nil
}

// A packedReader reads packed weights.
type packedReader struct {
	*Checkpoint
	stored storedTensor
	data   []byte
}

func (r *packedReader) scale() (float32, error) { return r.weightScale(r.stored.scale) }

func (r *packedReader) digits(dst []int8, _ *workspace, from, to int) error {
	quarter, cols := r.stored.Shape[0], r.stored.Shape[1]
	for row := from; row < to; row++ {
		at, shift := row%quarter*cols, row/quarter*2
		seen := byte(0)
		for c, b := range r.data[at:][:cols] {
			code := b >> shift & 3
			seen |= code + 1 // 4 for code 3 only
			dst[c] = int8(code) - 1
		}
		if seen&4 != 0 {
			for c := range cols {
				if r.data[at+c]>>shift&3 == 3 {
					return fmt.Errorf("code 3 has no meaning at row %d, column %d, byte %d", row, c, at+c)
				}
			}
		}
		dst = dst[cols:]
	}
	return nil
}

// A floatReader reads weights stored as floats.
type floatReader struct {
	*Checkpoint
	stored storedTensor
	tensor formats.Tensor
	formats.Ternarizer
}

func (r *floatReader) scale() (float32, error) {
	rows, cols := r.tensor.Dims()
	parts := make([]formats.Ternarizer, partCount(rows, cols))
	err := eachPart(rows, cols, func(w *workspace, part, from, to int) error {
		x, err := r.floats(w, from, to)
		parts[part].Add(x)
		return err
	})
	if err != nil {
		return 0, err
	}
	for i := range parts { // in order: the sum does not depend on threads
		r.Merge(&parts[i])
	}
	s := r.Scale()
	switch {
	case math.IsInf(float64(s), 0) || math.IsNaN(float64(s)):
		return 0, r.tensor.Matrix().Validate()
	case r.stored.scale == "":
		return s, nil
	case !r.Ternary() || s != 0 && s != 1:
		return 0, fmt.Errorf("has a %s, and weights that are not all -1, 0 or +1", scaleSuffix[1:])
	}
	return r.weightScale(r.stored.scale)
}

func (r *floatReader) digits(dst []int8, w *workspace, from, to int) error {
	x, err := r.floats(w, from, to)
	if err == nil {
		r.Digits(dst, x)
	}
	return err
}

func (r *floatReader) floats(w *workspace, from, to int) ([]float32, error) {
	_, cols := r.tensor.Dims()
	x := w.floats[:(to-from)*cols]
	return x, r.tensor.Matrix().DequantizeRows(x, from, to)
}

// A workspace is a thread's room for the rows that it works on.
type workspace struct {
	digits []int8
	floats []float32
}

// partWeights is about how many weights are unpacked at a time: what stays in
// a core's cache.
const partWeights = 1 << 16

func partRows(cols int) int        { return max(1, partWeights/cols) }
func partCount(rows, cols int) int { return (rows + partRows(cols) - 1) / partRows(cols) }

// eachPart calls do for each part of a matrix, on all threads.
func eachPart(rows, cols int, do func(w *workspace, part, from, to int) error) error {
	var next atomic.Int64
	var g errgroup.Group
	step, parts := partRows(cols), partCount(rows, cols)
	for range min(runtime.GOMAXPROCS(0), parts) {
		g.Go(func() error {
			w := &workspace{make([]int8, step*cols), make([]float32, step*cols)}
			for {
				part := int(next.Add(1)) - 1
				if part >= parts {
					return nil
				}
				err := mmap.Guard(func() error { return do(w, part, part*step, min((part+1)*step, rows)) })
				if err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

func positive(x float32) bool { return x > 0 && !math.IsInf(float64(x), 1) }
