package formats

import (
	"encoding/binary"
	"math"
)

// F32 is little-endian IEEE 754 binary32.
var F32 = register(&Type{
	Name:     "f32",
	Summary:  "32-bit floating point",
	BlockLen: 1,
	size:     func(rows, cols int) int { return rows * cols * 4 },
	encode: func(_ *Type, dst []byte, src []float32, rows, cols int) error {
		for i, x := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
		}
		return nil
	},
	decode: func(_ *Type, dst []float32, src []byte, rows, cols, from, to int) error {
		src = src[4*from*cols:]
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
		return nil
	},
	validate: validateFloats(exponentF32),

	badNotFinite: true,
})
