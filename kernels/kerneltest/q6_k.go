package kerneltest

import (
	"encoding/binary"
	"math"

	"onebit/internal/half"
)

// quantizeQ6K writes what package formats only reads: int8 scales of both
// signs, all codes from 0 to 63. It takes no care to be accurate.
func quantizeQ6K(dst []byte, w []float32) {
	for ; len(w) > 0; dst, w = dst[210:], w[256:] {
		h := half.FromFloat32(maxAbs(w[:256]) / (31 * 127))
		binary.LittleEndian.PutUint16(dst[208:], h)
		d := half.ToFloat32(h)
		clear(dst[:192])
		for g := range 16 {
			s := q6Scale(w[16*g:][:16], d)
			if g%3 == 1 {
				s = -s
			}
			dst[192+g] = byte(int8(s))
			for i, x := range w[16*g:][:16] {
				setQ6(dst, 16*g+i, q6Bits(x, d*s))
			}
		}
	}
}

// q6Scale returns the int8 scale of 16 weights whose block has the scale d.
func q6Scale(w []float32, d float32) float32 {
	if d == 0 {
		return 1
	}
	return float32(min(math.Ceil(float64(maxAbs(w)/(31*d))), 127))
}

// q6Bits returns the six bits of a weight with the scale s, of either sign.
func q6Bits(x, s float32) byte {
	if s == 0 {
		return 32
	}
	return byte(max(0, min(63, math.Round(float64(x/s))+32)))
}

// setQ6 writes the six bits of weight e of a block whose bits are zero.
func setQ6(block []byte, e int, bits byte) {
	h, q, l := e/128, e/32%4, e%32
	block[64*h+32*(q%2)+l] |= bits & 15 << (q / 2 * 4)
	block[128+32*h+l] |= bits >> 4 << (2 * q)
}

func maxAbs(w []float32) float32 {
	var m float32
	for _, x := range w {
		m = max(m, float32(math.Abs(float64(x))))
	}
	return m
}
