package formats

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// A Type is a weight format: what the bytes of a matrix mean.
//
// A matrix has rows × cols weights; a row is one output feature and its
// weights are contiguous unless the format's file says otherwise. Size and
// meaning may depend on the whole shape (i2_s keeps one scale for the tensor
// behind the last row), so every method takes it.
//
// Each format is one file, which registers its Type as a package variable.
type Type struct {
	Name     string // the name in the registry, in benchmark names and on the command line
	Summary  string // one line for people
	BlockLen int    // cols must be a multiple of it; 1 if any number of columns will do

	// ternary says that weights are -s, 0 and +s, s the scale of their block
	// or, with scaleAt, of the tensor.
	ternary bool
	// size returns the bytes of a matrix. It may assume a shape that
	// checkShape accepted.
	size func(rows, cols int) int
	// rowMultiple is what rows must be a multiple of, where that is not 1.
	rowMultiple int
	// scaleAt returns the byte of the matrix's one float32 scale. Nil: the
	// scales sit in the blocks, or there are none.
	scaleAt func(rows, cols int) int
	// encode quantizes src (rows × cols, row-major, all finite) into dst.
	encode func(t *Type, dst []byte, src []float32, rows, cols int) error
	// encodeDigits writes rows of digits to dst, which is theirs alone. Nil:
	// the format cannot be written from digits.
	encodeDigits func(dst []byte, digits []int8, cols int)
	// decode writes rows [from, to) of src to dst as (to-from) × cols floats.
	decode func(t *Type, dst []float32, src []byte, rows, cols, from, to int) error
	// validate finds bytes that decode refuses or that decode to a number that
	// is not finite.
	validate func(t *Type, src []byte, rows, cols int) error
	// badNotFinite says that validate finds nothing but numbers that are not
	// finite.
	badNotFinite bool
	// blocks is how blocks with a scale each lie; nil: there are none.
	blocks *blocks
	// codes is how small codes lie in them; nil: otherwise.
	codes *Codes
}

// maxElements bounds rows × cols, far above any real tensor, so that no
// size computed from a shape overflows.
const maxElements = 1 << 40

// An Error says what is wrong with a matrix in one format.
type Error struct {
	Type   string // the format's name
	Row    int    // the row, or -1
	Col    int    // the column, or -1
	Offset int    // the byte within the matrix, or -1
	Msg    string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Type)
	b.WriteString(": ")
	b.WriteString(e.Msg)
	var at []string
	if e.Row >= 0 {
		at = append(at, fmt.Sprintf("row %d", e.Row))
	}
	if e.Col >= 0 {
		at = append(at, fmt.Sprintf("column %d", e.Col))
	}
	if e.Offset >= 0 {
		at = append(at, fmt.Sprintf("byte %d", e.Offset))
	}
	if len(at) > 0 {
		b.WriteString(" at ")
		b.WriteString(strings.Join(at, ", "))
	}
	return b.String()
}

// errorf makes an Error without a place.
func (t *Type) errorf(format string, args ...any) *Error {
	return &Error{Type: t.Name, Row: -1, Col: -1, Offset: -1, Msg: fmt.Sprintf(format, args...)}
}

// at says where e happened. A place of -1 is unknown or the whole matrix.
func (e *Error) at(row, col, offset int) *Error {
	e.Row, e.Col, e.Offset = row, col, offset
	return e
}

func (t *Type) checkShape(rows, cols int) error {
	if rows <= 0 || cols <= 0 || rows > maxElements/cols {
		return t.errorf("shape %d×%d is empty or absurd", rows, cols)
	}
	if cols%t.BlockLen != 0 {
		return t.errorf("%d columns do not fill blocks of %d", cols, t.BlockLen)
	}
	if t.rowMultiple > 1 && rows%t.rowMultiple != 0 {
		return t.errorf("%d rows do not fill groups of %d", rows, t.rowMultiple)
	}
	return nil
}

// Bytes returns the size of a rows × cols matrix, or an *Error if the format
// cannot hold that shape.
func (t *Type) Bytes(rows, cols int) (int, error) {
	if err := t.checkShape(rows, cols); err != nil {
		return 0, err
	}
	return t.size(rows, cols), nil
}

// BitsPerWeight returns the size of a rows × cols matrix in bits per weight.
func (t *Type) BitsPerWeight(rows, cols int) (float64, error) {
	n, err := t.Bytes(rows, cols)
	if err != nil {
		return 0, err
	}
	return 8 * float64(n) / (float64(rows) * float64(cols)), nil
}

// TernaryGroup returns how many weights of a rows × cols matrix share a scale
// s in a format of weights that are -s, 0 and +s, and 0 for other formats.
func (t *Type) TernaryGroup(rows, cols int) int {
	switch {
	case !t.ternary:
		return 0
	case t.scaleAt != nil:
		return rows * cols
	}
	return t.BlockLen
}

// Quantize writes src, rows × cols floats row by row, to dst, which has
// exactly Bytes(rows, cols) bytes. A weight that is not finite, or too large
// for the format, is an *Error that names its place; dst may then hold a part
// of the matrix.
func (t *Type) Quantize(dst []byte, src []float32, rows, cols int) error {
	if err := t.checkData(dst, rows, cols); err != nil {
		return err
	}
	if err := t.checkFloats(src, rows, cols); err != nil {
		return err
	}
	return t.encode(t, dst, src, rows, cols)
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

// EncodeDigits writes rows [from, to) of a ternary matrix to dst, which holds
// all Bytes(rows, cols) of it: (to-from) × cols digits of -1, 0 or +1, each to
// be multiplied by the tensor's scale, which [Type.SetTensorScale] writes. Rows
// may be written side by side, and no more of a matrix than a part need ever
// be unpacked. Of i2_s, i2_s_arm and ternary_u32; an *Error for other formats.
func (t *Type) EncodeDigits(dst []byte, digits []int8, rows, cols, from, to int) error {
	if t.encodeDigits == nil {
		return t.errorf("cannot be written from digits")
	}
	if err := t.checkData(dst, rows, cols); err != nil {
		return err
	}
	if from < 0 || to < from || to > rows {
		return t.errorf("rows [%d, %d) of %d", from, to, rows)
	}
	if len(digits) != (to-from)*cols {
		return t.errorf("%d digits given for %d×%d", len(digits), to-from, cols)
	}
	rowBytes := t.scaleAt(1, cols)
	t.encodeDigits(dst[from*rowBytes:to*rowBytes], digits, cols)
	return nil
}

// Dequantize writes all rows × cols weights of src to dst.
func (t *Type) Dequantize(dst []float32, src []byte, rows, cols int) error {
	return t.DequantizeRows(dst, src, rows, cols, 0, rows)
}

// DequantizeRows writes rows [from, to) of src, a rows × cols matrix of
// exactly Bytes(rows, cols) bytes, to dst, which takes (to-from) × cols. It
// does not allocate. A code without a meaning is an *Error; a scale that is
// not finite is not looked for here, but by Validate.
func (t *Type) DequantizeRows(dst []float32, src []byte, rows, cols, from, to int) error {
	if err := t.checkData(src, rows, cols); err != nil {
		return err
	}
	if from < 0 || to < from || to > rows {
		return t.errorf("rows [%d, %d) of %d", from, to, rows)
	}
	if len(dst) != (to-from)*cols {
		return t.errorf("room for %d floats given for %d×%d", len(dst), to-from, cols)
	}
	return t.decode(t, dst, src, rows, cols, from, to)
}

// Validate reports the first place where the bytes of a rows × cols matrix hold
// a code that has no meaning, a scale or weight that is not finite, or padding
// that is not zero weight. What it passes, Dequantize decodes to finite
// weights. It reads all of data once and does not allocate, so that a loader
// can afford it.
func (t *Type) Validate(data []byte, rows, cols int) error {
	if err := t.checkData(data, rows, cols); err != nil {
		return err
	}
	return t.validate(t, data, rows, cols)
}

// BadIsNotFinite reports whether all that Validate refuses of the format is
// numbers that are not finite.
func (t *Type) BadIsNotFinite() bool { return t.badNotFinite }

// TensorScale returns the one scale of a matrix whose format keeps it for the
// whole tensor (i2_s and its packings, ternary_u32), so that kernels need not
// know where it is. For other formats it is an *Error.
func (t *Type) TensorScale(data []byte, rows, cols int) (float32, error) {
	if t.scaleAt == nil {
		return 0, t.errorf("has no scale for the whole tensor")
	}
	if err := t.checkData(data, rows, cols); err != nil {
		return 0, err
	}
	return t.tensorScale(data, rows, cols), nil
}

func (t *Type) tensorScale(data []byte, rows, cols int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(data[t.scaleAt(rows, cols):]))
}

// SetTensorScale writes what TensorScale returns.
func (t *Type) SetTensorScale(data []byte, rows, cols int, scale float32) error {
	if t.scaleAt == nil {
		return t.errorf("has no scale for the whole tensor")
	}
	if err := t.checkData(data, rows, cols); err != nil {
		return err
	}
	t.putTensorScale(data, rows, cols, scale)
	return nil
}

func (t *Type) putTensorScale(data []byte, rows, cols int, scale float32) {
	binary.LittleEndian.PutUint32(data[t.scaleAt(rows, cols):], math.Float32bits(scale))
}

// validateTensorScale is the part of validate that formats with one scale share.
func (t *Type) validateTensorScale(data []byte, rows, cols int) error {
	if s := t.tensorScale(data, rows, cols); !isFinite(s) {
		return t.errorf("tensor scale %v is not finite", s).at(-1, -1, t.scaleAt(rows, cols))
	}
	return nil
}

func (t *Type) checkData(data []byte, rows, cols int) error {
	want, err := t.Bytes(rows, cols)
	if err != nil {
		return err
	}
	if len(data) != want {
		return t.errorf("%d bytes given, a %d×%d matrix has %d", len(data), rows, cols, want)
	}
	return nil
}

var registry = struct {
	sync.RWMutex
	types map[string]*Type
}{types: map[string]*Type{}}

// register adds t, while the package's variables are initialized.
func register(t *Type) *Type {
	registry.Lock()
	defer registry.Unlock()
	if registry.types[t.Name] != nil {
		panic("formats: " + t.Name + " registered twice")
	}
	registry.types[t.Name] = t
	return t
}

// Lookup returns the format of that name.
func Lookup(name string) (*Type, error) {
	registry.RLock()
	defer registry.RUnlock()
	if t := registry.types[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("unknown weight format %q (known: %s)", name, strings.Join(names(), ", "))
}

// Types returns every format, sorted by name.
func Types() []*Type {
	registry.RLock()
	defer registry.RUnlock()
	var out []*Type
	for _, name := range names() {
		out = append(out, registry.types[name])
	}
	return out
}

func names() []string {
	var out []string
	for name := range registry.types {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// A Tensor is named weights in one format.
type Tensor struct {
	Name string
	Type *Type
	// Shape is outermost first, as in PyTorch: [out, in] for a projection
	// (GGUF stores the reverse). One dimension is a vector, one row.
	Shape []int
	Data  []byte // may alias a mapped file: read only
}

// Dims returns the shape as a matrix's; see Dims.
func (t *Tensor) Dims() (rows, cols int) { return Dims(t.Shape) }

// Validate is Type.Validate for the tensor; the error names it.
func (t *Tensor) Validate() error {
	rows, cols := t.Dims()
	if err := t.Type.Validate(t.Data, rows, cols); err != nil {
		return fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return nil
}

// Floats returns all weights, row by row.
func (t *Tensor) Floats() ([]float32, error) {
	rows, cols := t.Dims()
	if err := t.Type.checkData(t.Data, rows, cols); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	dst := make([]float32, rows*cols)
	if err := t.Type.Dequantize(dst, t.Data, rows, cols); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return dst, nil
}
