package formats

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Type is a weight format: what the bytes of a matrix mean.
//
// A matrix has rows × cols weights; a row is one output feature and its
// weights are contiguous unless the format's file says otherwise. Size and
// meaning may depend on the whole shape (i2_s keeps one scale for the tensor
// behind the last row): a [Matrix] has it with its bytes.
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
	// encode quantizes src (rows × cols, row-major, all finite) into m.
	encode func(m Matrix, src []float32) error
	// encodeDigits writes rows of digits to dst, which is theirs alone. Nil:
	// the format cannot be written from digits.
	encodeDigits func(dst []byte, digits []int8, cols int)
	// decode writes rows [from, to) to dst as (to-from) × cols floats.
	decode func(m Matrix, dst []float32, from, to int) error
	// validate finds bytes that decode refuses or that decode to a number that
	// is not finite.
	validate func(m Matrix) error
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

// BadIsNotFinite reports whether all that Validate refuses of the format is
// numbers that are not finite.
func (t *Type) BadIsNotFinite() bool { return t.badNotFinite }

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

// Matrix returns the tensor as a matrix.
func (t *Tensor) Matrix() Matrix {
	rows, cols := t.Dims()
	return Matrix{t.Type, rows, cols, t.Data}
}

// Validate is Matrix.Validate; the error names the tensor.
func (t *Tensor) Validate() error { return t.named(t.Matrix().Validate()) }

// Floats returns all weights, row by row.
func (t *Tensor) Floats() ([]float32, error) {
	m := t.Matrix()
	if err := m.check(); err != nil {
		return nil, t.named(err)
	}
	dst := make([]float32, m.Rows*m.Cols)
	return dst, t.named(m.Dequantize(dst))
}

// named returns err as one of the tensor.
func (t *Tensor) named(err error) error {
	if err != nil {
		err = fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return err
}
