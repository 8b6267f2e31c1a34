package formats

import (
	"encoding/binary"
	"math"

	"onebit/internal/half"
)

// blocks describes a format whose matrix is a sequence of equal blocks, row by
// row, each holding consecutive weights of one row and one fp16 scale.
type blocks struct {
	name, summary string
	ternary       bool
	weights       int // per block
	bytes         int // per block
	scaleAt       int // the byte of the scale within a block
	offsets       int // the byte of a second one, which encode writes too; 0: none

	// scale chooses the scale of a block.
	scale func(w []float32) float32
	// encode writes everything of block but the scale. d is what scale
	// returned, not yet rounded to fp16, or 0 where fp16 rounds it to 0: the
	// block then decodes to zeros.
	encode func(block []byte, w []float32, d float32)
	decode func(dst []float32, block []byte, d float32)
	// code is the integer of weight j of a block, from which decode follows where it is nil.
	code func(block []byte, j int) int32
	// codes says how codes lie, where kernels are to know; see Codes.
	codes *Codes
}

// registerBlocks adds the format that l describes.
func registerBlocks(l blocks) *Type { return register(l.newType()) }

func (l blocks) newType() *Type {
	if l.decode == nil {
		l.decode = l.decodeCodes
	}
	return &Type{
		Name:     l.name,
		Summary:  l.summary,
		BlockLen: l.weights,
		ternary:  l.ternary,
		size:     func(rows, cols int) int { return rows * cols / l.weights * l.bytes },
		encode:   l.encodeMatrix,
		decode:   l.decodeRows,
		validate: l.validateScales,

		badNotFinite: true,
		blocks:       &l,
		codes:        l.codes,
	}
}

func (l blocks) encodeMatrix(m Matrix, src []float32) error {
	dst := m.Data
	for i := 0; i < len(src); i += l.weights {
		w, block := src[i:i+l.weights], dst[:l.bytes]
		d := l.scale(w)
		h := half.FromFloat32(d)
		if !half.IsFinite(h) {
			return m.Type.errorf("scale %v of the block exceeds fp16's 65504", d).at(i/m.Cols, i%m.Cols, -1)
		}
		if h&0x7fff == 0 {
			d, h = 0, 0
		}
		l.encode(block, w, d)
		binary.LittleEndian.PutUint16(block[l.scaleAt:], h)
		dst = dst[l.bytes:]
	}
	return nil
}

func (l blocks) decodeRows(m Matrix, dst []float32, from, _ int) error {
	src := m.Data[from*m.Cols/l.weights*l.bytes:]
	for len(dst) > 0 {
		block := src[:l.bytes]
		d := half.At(block[l.scaleAt:])
		l.decode(dst[:l.weights], block, d)
		dst, src = dst[l.weights:], src[l.bytes:]
	}
	return nil
}

func (l blocks) validateScales(m Matrix) error {
	err := l.validateFP16(m, l.scaleAt)
	if err == nil && l.offsets > 0 {
		err = l.validateFP16(m, l.offsets)
	}
	return err
}

// validateFP16 looks at the number at that byte of every block, of four together: where a loop over single
// ones happened to lie badly, loading a model of 1 bit took a tenth longer.
func (l blocks) validateFP16(m Matrix, first int) error {
	at, n := first, l.bytes
	for ; at+4*n <= len(m.Data); at += 4 * n {
		b := m.Data[at : at+3*n+2]
		four := uint64(fp16(b)) | uint64(fp16(b[n:]))<<16 | uint64(fp16(b[2*n:]))<<32 | uint64(fp16(b[3*n:]))<<48
		if exponentF16.nonFinite(four) {
			break
		}
	}
	for ; at < len(m.Data); at += n {
		if h := fp16(m.Data[at:]); !half.IsFinite(h) {
			i := at / n * l.weights
			return m.Type.errorf("block scale %v is not finite", half.ToFloat32(h)).at(i/m.Cols, i%m.Cols, at)
		}
	}
	return nil
}

// fp16 is the number at the beginning of b.
func fp16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }

// inverse returns 1/d, or 0 for 0.
func inverse(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

// nearest rounds v to the nearest integer, halves to even. |v| must be below
// 2²²: then 1.5·2²³ + v has no bits for a fraction.
func nearest(v float32) float32 {
	const shift = 3 << 22
	return v + shift - shift
}

func ceil(v float32) float32 { return float32(math.Ceil(float64(v))) }

// nearestCode returns the code of x·id rounded to -1, 0 or +1, halves away from
// zero, as 0, 1 or 2. It is the rounding of ggml's ternary quantizers, where
// |x·id| is at most 1. Code 3, for +2, is one that Recode has read.
func nearestCode(x, id float32) byte {
	switch v := x * id; {
	case v >= 1.5:
		return 3
	case v >= 0.5:
		return 2
	case v <= -0.5:
		return 0
	}
	return 1
}
