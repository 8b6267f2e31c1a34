package hf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"onebit/formats"
	"onebit/formats/container"
	"onebit/models/arch"
)

// experts says how experts are read that are a tensor each.
func (c *Checkpoint) experts(spec arch.TensorSpec, found []container.TensorInfo) (storedTensor, error) {
	pattern := c.hfName(spec.Name)
	before, after, _ := strings.Cut(pattern, "*")
	s := storedTensor{TensorInfo: container.TensorInfo{Name: pattern}, read: (*Checkpoint).byRow, parts: make([]container.TensorInfo, spec.Shape[0])}
	for _, t := range found {
		number := strings.TrimSuffix(strings.TrimPrefix(t.Name, before), after)
		e, err := strconv.Atoi(number)
		switch {
		case err != nil || strconv.Itoa(e) != number || e >= len(s.parts):
			return s, c.files.Fault(t.Name, fmt.Errorf("is of none of the %d experts", len(s.parts)))
		case len(t.Shape) != 2 || t.Shape[0] != spec.Shape[1] || t.Shape[1] != spec.Shape[2]:
			return s, c.files.Fault(t.Name, fmt.Errorf("has shape %v, want %v", t.Shape, spec.Shape[1:]))
		case t.Type == nil:
			return s, c.files.Fault(t.Name, fmt.Errorf("has dtype %s, want floats in F32, F16 or BF16", t.TypeName))
		}
		s.parts[e] = t
	}
	for e, t := range s.parts {
		if t.Name == "" {
			return s, c.files.Fault(before+strconv.Itoa(e)+after, container.ErrMissing)
		}
	}
	typ := c.class.ByRow
	rows, cols := spec.Dims()
	n, err := typ.Bytes(rows, cols)
	if err != nil {
		return s, c.files.Fault(pattern, err)
	}
	s.info = container.TensorInfo{Name: spec.Name, Type: typ, TypeName: typ.Name, Shape: spec.Shape, Size: int64(n), Offset: s.parts[0].Offset, Part: s.parts[0].Part}
	return s, nil
}

// byRow packs matrices of which each row is -s, 0 and +s, one behind the other. Nothing
// is rounded: a row that is anything else is refused.
func (c *Checkpoint) byRow(s storedTensor) ([]byte, error) {
	return c.make(s, func(data []byte) error {
		for _, part := range s.parts {
			rows, cols := formats.Dims(part.Shape)
			n, err := s.info.Type.Bytes(rows, cols)
			if err != nil {
				return err
			}
			if err := c.packRows(data[:n], part.Name, s.info.Type); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	})
}

func (c *Checkpoint) packRows(data []byte, name string, typ *formats.Type) error {
	t, err := c.files.Tensor(name)
	if err != nil {
		return err
	}
	rows, cols := t.Dims()
	size := len(data) / rows
	err = eachPart(rows, cols, func(w *workspace, _, from, to int) error {
		x := w.floats[:(to-from)*cols]
		if err := t.Matrix().DequantizeRows(x, from, to); err != nil {
			return err
		}
		packed := make([]float32, cols)
		for r := from; r < to; r++ {
			row, dst := x[(r-from)*cols:][:cols], typ.Matrix(data[r*size:][:size], 1, cols)
			if err := checkRow(row); err != nil {
				return fmt.Errorf("row %d %w", r, err)
			}
			if err := dst.Round(packed, row); err != nil {
				return fmt.Errorf("row %d: %w", r, err)
			}
			for i, v := range row {
				if packed[i] != v {
					return fmt.Errorf("row %d has the scale %v, which %s cannot hold", r, max(v, -v), typ.Name)
				}
			}
		}
		return nil
	})
	if err != nil {
		return c.files.Fault(name, err)
	}
	return c.files.Release(name)
}

// checkRow refuses a row that has another value than -s, 0 and +s.
func checkRow(row []float32) error {
	s := float32(0)
	for _, v := range row {
		if v != v {
			return errors.New("has a value that is not a number")
		}
		s = max(s, v, -v)
	}
	for _, v := range row {
		if v != 0 && v != s && v != -s {
			return fmt.Errorf("has %v beside %v: weights of this class are -s, 0 and +s in each row", v, s)
		}
	}
	return nil
}
