package formats

import (
	"encoding/binary"
	"math"

	"onebit/internal/half"
)

// Q1_0_g128: one fp16 scale d and 128 sign bits, 1 → +d, 0 → −d. Layout and
// quantizer: ggml-org/ggml src/ggml-quants.c, block_q1_0.
const (
	q1BlockLen   = 128
	q1BlockBytes = 18
)

// Q1_0_g128 is the format of the Bonsai models.
var Q1_0_g128 = register(&Type{
	Name:     "q1_0_g128",
	Summary:  "1 bit, ±d per 128 weights (Bonsai)",
	BlockLen: q1BlockLen,
	size:     func(rows, cols int) int { return rows * cols / q1BlockLen * q1BlockBytes },
	encode: func(dst []byte, src []float32, rows, cols int) error {
		for ; len(src) > 0; src, dst = src[q1BlockLen:], dst[q1BlockBytes:] {
			encodeQ1Block(dst[:q1BlockBytes], src[:q1BlockLen])
		}
		return nil
	},
	decode: func(dst []float32, src []byte, rows, cols, from, to int) error {
		src = src[from*cols/q1BlockLen*q1BlockBytes:]
		for ; len(dst) > 0; dst, src = dst[q1BlockLen:], src[q1BlockBytes:] {
			decodeQ1Block(dst[:q1BlockLen], src[:q1BlockBytes])
		}
		return nil
	},
})

// encodeQ1Block sets d = mean|x| and each bit to x ≥ 0.
func encodeQ1Block(dst []byte, src []float32) {
	var sum float64
	for _, x := range src {
		sum += math.Abs(float64(x))
	}
	binary.LittleEndian.PutUint16(dst, half.FromFloat32(float32(sum/q1BlockLen)))
	bits := dst[2:]
	clear(bits)
	for j, x := range src {
		if x >= 0 {
			bits[j/8] |= 1 << (j % 8)
		}
	}
}

func decodeQ1Block(dst []float32, src []byte) {
	d := half.ToFloat32(binary.LittleEndian.Uint16(src))
	bits := src[2:]
	for j := range dst {
		if bits[j/8]>>(j%8)&1 != 0 {
			dst[j] = d
		} else {
			dst[j] = -d
		}
	}
}
