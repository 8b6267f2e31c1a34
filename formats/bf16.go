package formats

import (
	"encoding/binary"

	"onebit/internal/half"
)

// BF16 is little-endian bfloat16, the upper half of a binary32. A weight that
// rounds past the largest one is an error, not an infinity.
var BF16 = register(&Type{
	Name:     "bf16",
	Summary:  "bfloat16",
	BlockLen: 1,
	size:     func(rows, cols int) int { return rows * cols * 2 },
	encode: func(m Matrix, src []float32) error {
		for i, x := range src {
			h := half.BFromFloat32(x)
			if !isFinite(half.BToFloat32(h)) {
				return m.Type.errorf("weight %v exceeds bfloat16", x).at(i/m.Cols, i%m.Cols, -1)
			}
			binary.LittleEndian.PutUint16(m.Data[2*i:], h)
		}
		return nil
	},
	decode: func(m Matrix, dst []float32, from, _ int) error {
		src := m.Data[2*from*m.Cols:]
		for i := range dst {
			dst[i] = half.BToFloat32(binary.LittleEndian.Uint16(src[2*i:]))
		}
		return nil
	},
	validate: validateFloats(exponentBF16),

	badNotFinite: true,
})
