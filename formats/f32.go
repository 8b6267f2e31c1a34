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
	encode: func(m Matrix, src []float32) error {
		for i, x := range src {
			binary.LittleEndian.PutUint32(m.Data[4*i:], math.Float32bits(x))
		}
		return nil
	},
	decode: func(m Matrix, dst []float32, from, _ int) error {
		src := m.Data[4*from*m.Cols:]
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
		return nil
	},
	validate: validateFloats(exponentF32),

	badNotFinite: true,
})
