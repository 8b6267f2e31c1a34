package formats

import (
	"encoding/binary"

	"onebit/internal/half"
)

// F16 is little-endian IEEE 754 binary16. A weight that rounds past 65504 is
// an error, not an infinity.
var F16 = register(&Type{
	Name:     "f16",
	Summary:  "16-bit floating point",
	BlockLen: 1,
	size:     func(rows, cols int) int { return rows * cols * 2 },
	encode: func(t *Type, dst []byte, src []float32, rows, cols int) error {
		for i, x := range src {
			h := half.FromFloat32(x)
			if !half.IsFinite(h) {
				return t.errorf("weight %v exceeds 65504", x).at(i/cols, i%cols, -1)
			}
			binary.LittleEndian.PutUint16(dst[2*i:], h)
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

func decodeF16Generic(dst []float32, src []byte) {
	for ; len(dst) >= 4; dst, src = dst[4:], src[8:] {
		b := binary.LittleEndian.Uint64(src)
		dst[0], dst[1] = half.ToFloat32(uint16(b)), half.ToFloat32(uint16(b>>16))
		dst[2], dst[3] = half.ToFloat32(uint16(b>>32)), half.ToFloat32(uint16(b>>48))
	}
	for i := range dst {
		dst[i] = half.ToFloat32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}
