package formats

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Ternary_u32 keeps each row in whole little-endian uint32 words of 16 codes,
// so that any number of columns will do. Layout: openfluke/loom
// poly/bitnet_cpu.go, except that padding is code 1: there it is 0, which is
// weight -1 and safe only next to activations padded with zeros.
//
// Quantize keeps weights that are all -s, 0 or +s exactly, and takes others
// through absmean as [MorphTernary] does.
var Ternary_u32 = register(&Type{
	Name:     "ternary_u32",
	Summary:  "ternary, 16 weights per uint32, rows aligned, one scale per tensor",
	BlockLen: 1,
	ternary:  true,
	codes:    &Codes{Bits: 2, Span: 1},
	size:     func(rows, cols int) int { return 4*rows*u32Words(cols) + 4 },
	scaleAt:  func(rows, cols int) int { return 4 * rows * u32Words(cols) },
	encode: func(m Matrix, src []float32) error {
		if s := absMax(src); isTernary(src, s) {
			m.packU32(src, s, 0)
		} else {
			s := ternaryScale(src)
			m.packU32(src, s, s/2)
		}
		return nil
	},
	encodeDigits: func(dst []byte, digits []int8, cols int) {
		for ; len(digits) > 0; digits = digits[cols:] {
			for row := digits[:cols]; len(row) > 0; dst = dst[4:] {
				n := min(u32Codes, len(row))
				word := uint32(u32LowBits)
				for j, q := range row[:n] {
					word += uint32(q) << (2 * j)
				}
				binary.LittleEndian.PutUint32(dst, word)
				row = row[n:]
			}
		}
	},
	decode:   decodeU32,
	validate: validateU32,
})

const (
	u32Codes   = 16         // per word
	u32LowBits = 0x55555555 // the low bit of every code; as a word, all zero weights
)

// u32Words returns the words of a row.
func u32Words(cols int) int { return (cols + u32Codes - 1) / u32Codes }

// u32Padding returns the low bits of the codes of a row's last word that no
// column uses.
func u32Padding(cols int) uint32 {
	used := (cols-1)%u32Codes + 1
	return u32LowBits &^ (uint32(1)<<(2*used) - 1)
}

// MorphTernary returns w, rows × cols, as ternary_u32 with the absmean scale of
// [Ternarize], whatever the weights are.
func MorphTernary(w []float32, rows, cols int) (*Tensor, error) {
	m, err := newU32(w, rows, cols)
	if err != nil {
		return nil, err
	}
	s := ternaryScale(w)
	m.packU32(w, s, s/2)
	return &Tensor{Type: Ternary_u32, Shape: []int{rows, cols}, Data: m.Data}, nil
}

// NativeTernary returns w, rows × cols weights that are each within 1e-6 of
// -1, 0 or +1, as ternary_u32 with scale 1. Any other weight is an *Error with
// its place. For the weights of a trained checkpoint, which carry a scale, use
// [MorphTernary].
func NativeTernary(w []float32, rows, cols int) (*Tensor, error) {
	m, err := newU32(w, rows, cols)
	if err != nil {
		return nil, err
	}
	for i, x := range w {
		if math.Abs(float64(x)-math.RoundToEven(float64(x))) > 1e-6 || math.Abs(float64(x)) > 1.5 {
			return nil, Ternary_u32.errorf("weight %v is not -1, 0 or +1", x).at(i/cols, i%cols, -1)
		}
	}
	m.packU32(w, 1, 0.5)
	return &Tensor{Type: Ternary_u32, Shape: []int{rows, cols}, Data: m.Data}, nil
}

// newU32 checks w and returns room for it.
func newU32(w []float32, rows, cols int) (Matrix, error) {
	if err := Ternary_u32.checkShape(rows, cols); err != nil {
		return Matrix{}, err
	}
	if err := Ternary_u32.checkFloats(w, rows, cols); err != nil {
		return Matrix{}, err
	}
	return Ternary_u32.NewMatrix(rows, cols)
}

// packU32 writes the matrix: +1 above threshold, -1 below -threshold, else 0.
func (m Matrix) packU32(src []float32, scale, threshold float32) {
	m.setScale(scale)
	for dst := m.Data; len(src) > 0; src = src[m.Cols:] {
		for row := src[:m.Cols]; len(row) > 0; dst = dst[4:] {
			n := min(u32Codes, len(row))
			word := uint32(u32LowBits)
			for j, x := range row[:n] {
				word += uint32(ternaryDigit(x, threshold)) << (2 * j)
			}
			binary.LittleEndian.PutUint32(dst, word)
			row = row[n:]
		}
	}
}

func decodeU32(m Matrix, dst []float32, from, to int) error {
	s, cols := m.scale(), m.Cols
	values := [4]float32{-s, 0, s, 0}
	at := 4 * from * u32Words(cols)
	for row := from; row < to; row++ {
		for col := 0; col < cols; col += u32Codes {
			word := binary.LittleEndian.Uint32(m.Data[at:])
			w := dst[:min(u32Codes, cols-col)]
			used := uint32(u32LowBits)
			if len(w) < u32Codes {
				used &^= u32Padding(cols)
			}
			if bad := word & (word >> 1) & used; bad != 0 {
				return m.Type.u32Code3(bad, row, col, at)
			}
			for j := range w {
				w[j] = values[word&3]
				word >>= 2
			}
			dst = dst[len(w):]
			at += 4
		}
	}
	return nil
}

// u32Code3 names the place of the first code 3 of the word at byte at, which
// starts at column col. bad has a bit at each of them.
func (t *Type) u32Code3(bad uint32, row, col, at int) *Error {
	bit := bits.TrailingZeros32(bad)
	return t.errorf("code 3 has no meaning").at(row, col+bit/2, at+bit/8)
}

func validateU32(m Matrix) error {
	words := u32Words(m.Cols)
	if i := indexCode3(m.Data[:m.scaleAt()], anyCode); i >= 0 {
		at := i &^ 3
		word := binary.LittleEndian.Uint32(m.Data[at:])
		return m.Type.u32Code3(word&(word>>1)&u32LowBits, at/4/words, at/4%words*u32Codes, at)
	}
	// Code 3 is out, so the low bit alone tells code 1 from 0 and 2.
	if low := u32Padding(m.Cols); low != 0 {
		for row := range m.Rows {
			at := 4 * ((row+1)*words - 1)
			if word := binary.LittleEndian.Uint32(m.Data[at:]); word&low != low {
				return m.Type.errorf("padding after the last column is not zero weight").at(row, m.Cols, at)
			}
		}
	}
	return m.validateScale()
}
