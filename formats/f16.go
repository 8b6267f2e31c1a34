package formats

import "onebit/internal/half"

// F16 is little-endian IEEE 754 binary16. A weight that rounds past 65504 is
// an error, not an infinity.
var F16 = register(&Type{
	Name:     "f16",
	Summary:  "16-bit floating point",
	BlockLen: 1,
	size:     func(rows, cols int) int { return rows * cols * 2 },
	encode: func(m Matrix, src []float32) error {
		half.Encode(m.Data, src)
		if i := exponentF16.index(m.Data); i >= 0 {
			return m.Type.errorf("weight %v exceeds 65504", src[i]).at(i/m.Cols, i%m.Cols, -1)
		}
		return nil
	},
	decode: func(m Matrix, dst []float32, from, _ int) error {
		decodeF16(dst, m.Data[2*from*m.Cols:])
		return nil
	},
	validate: validateFloats(exponentF16),

	badNotFinite: true,
})
