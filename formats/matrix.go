package formats

import (
	"encoding/binary"
	"math"
)

// A Matrix is weights in one format: Rows × Cols of them, in exactly Type.Bytes(Rows, Cols)
// bytes. All methods refuse other numbers of them.
type Matrix struct {
	Type       *Type
	Rows, Cols int
	Data       []byte // may alias a mapped file: read only then
}

// Matrix returns data as a matrix of t, unchecked.
func (t *Type) Matrix(data []byte, rows, cols int) Matrix { return Matrix{t, rows, cols, data} }

// NewMatrix returns room for a matrix, or an *Error if the format cannot hold that shape.
func (t *Type) NewMatrix(rows, cols int) (Matrix, error) {
	n, err := t.Bytes(rows, cols)
	if err != nil {
		return Matrix{}, err
	}
	return Matrix{t, rows, cols, make([]byte, n)}, nil
}

// Quantize writes src, rows × cols floats row by row, to m. A weight that is not finite, or
// too large for the format, is an *Error that names its place; m may then hold a part of the
// weights.
func (m Matrix) Quantize(src []float32) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := m.Type.checkFloats(src, m.Rows, m.Cols); err != nil {
		return err
	}
	return m.Type.encode(m, src)
}

// checkFloats reports floats that are not rows × cols finite weights.
func (t *Type) checkFloats(src []float32, rows, cols int) error {
	if len(src) != rows*cols {
		return t.errorf("%d floats given for %d×%d", len(src), rows, cols)
	}
	if i := indexNonFinite(src); i >= 0 {
		return t.errorf("weight %v is not finite", src[i]).at(i/cols, i%cols, -1)
	}
	return nil
}

// EncodeDigits writes rows [from, to) of a ternary matrix: (to-from) × cols digits of -1, 0
// or +1, each to be multiplied by the tensor's scale, which [Matrix.SetTensorScale] writes.
// Rows may be written side by side, and no more of a matrix than a part need ever
// be unpacked. Of i2_s, i2_s_arm and ternary_u32; an *Error for other formats.
func (m Matrix) EncodeDigits(digits []int8, from, to int) error {
	if m.Type.encodeDigits == nil {
		return m.Type.errorf("cannot be written from digits")
	}
	if err := m.checkRows(from, to); err != nil {
		return err
	}
	if len(digits) != (to-from)*m.Cols {
		return m.Type.errorf("%d digits given for %d×%d", len(digits), to-from, m.Cols)
	}
	rowBytes := m.Type.scaleAt(1, m.Cols)
	m.Type.encodeDigits(m.Data[from*rowBytes:to*rowBytes], digits, m.Cols)
	return nil
}

// Dequantize writes all rows × cols weights to dst.
func (m Matrix) Dequantize(dst []float32) error { return m.DequantizeRows(dst, 0, m.Rows) }

// Round writes src to m as Quantize does, and to dst what m holds then: src as rounded.
func (m Matrix) Round(dst, src []float32) error {
	if err := m.Quantize(src); err != nil {
		return err
	}
	return m.Dequantize(dst)
}

// DequantizeRows writes rows [from, to) to dst, which takes (to-from) × cols. It
// does not allocate. A code without a meaning is an *Error; a scale that is
// not finite is not looked for here, but by Validate.
func (m Matrix) DequantizeRows(dst []float32, from, to int) error {
	if err := m.checkRows(from, to); err != nil {
		return err
	}
	if len(dst) != (to-from)*m.Cols {
		return m.Type.errorf("room for %d floats given for %d×%d", len(dst), to-from, m.Cols)
	}
	return m.Type.decode(m, dst, from, to)
}

// Validate reports the first place where the bytes hold
// a code that has no meaning, a scale or weight that is not finite, or padding
// that is not zero weight. What it passes, Dequantize decodes to finite
// weights. It reads all of the data once and does not allocate, so that a loader
// can afford it.
func (m Matrix) Validate() error {
	if err := m.check(); err != nil {
		return err
	}
	return m.Type.validate(m)
}

// TensorScale returns the one scale of a matrix whose format keeps it for the
// whole tensor (i2_s and its packings, ternary_u32), so that kernels need not
// know where it is. For other formats it is an *Error.
func (m Matrix) TensorScale() (float32, error) {
	if err := m.checkTensorScale(); err != nil {
		return 0, err
	}
	return m.scale(), nil
}

// SetTensorScale writes what TensorScale returns.
func (m Matrix) SetTensorScale(scale float32) error {
	err := m.checkTensorScale()
	if err == nil {
		m.setScale(scale)
	}
	return err
}

func (m Matrix) checkTensorScale() error {
	if m.Type.scaleAt == nil {
		return m.Type.errorf("has no scale for the whole tensor")
	}
	return m.check()
}

func (m Matrix) scaleAt() int { return m.Type.scaleAt(m.Rows, m.Cols) }

func (m Matrix) scale() float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(m.Data[m.scaleAt():]))
}

func (m Matrix) setScale(scale float32) {
	binary.LittleEndian.PutUint32(m.Data[m.scaleAt():], math.Float32bits(scale))
}

// validateScale is the part of validate that formats with one scale share.
func (m Matrix) validateScale() error {
	if s := m.scale(); !isFinite(s) {
		return m.Type.errorf("tensor scale %v is not finite", s).at(-1, -1, m.scaleAt())
	}
	return nil
}

func (m Matrix) check() error {
	want, err := m.Type.Bytes(m.Rows, m.Cols)
	if err != nil {
		return err
	}
	if len(m.Data) != want {
		return m.Type.errorf("%d bytes given, a %d×%d matrix has %d", len(m.Data), m.Rows, m.Cols, want)
	}
	return nil
}

func (m Matrix) checkRows(from, to int) error {
	if err := m.check(); err != nil {
		return err
	}
	if from < 0 || to < from || to > m.Rows {
		return m.Type.errorf("rows [%d, %d) of %d", from, to, m.Rows)
	}
	return nil
}
