package formats

import "onebit/internal/half"

// F16 is little-endian IEEE 754 binary16. A weight that rounds past 65504 is
// an error, not an infinity.
var F16 = register(&Type{
	Name:     "f16",
	Summary:  "16-bit floating point",
	BlockLen: 1,
	size:     func(rows, cols int) int { return rows * cols * 2 },
	encode: func(t *Type, dst []byte, src []float32, rows, cols int) error {
		half.Encode(dst, src)
		if i := exponentF16.index(dst); i >= 0 {
			return t.errorf("weight %v exceeds 65504", src[i]).at(i/cols, i%cols, -1)
		}
		return nil
	},
	decode: func(_ *Type, dst []float32, src []byte, rows, cols, from, to int) error {
		decodeF16(dst, src[2*from*cols:])
		return nil
	},
	validate: validateFloats(exponentF16),

	badNotFinite: true,
})
