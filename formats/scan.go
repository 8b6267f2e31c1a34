package formats

import (
	"encoding/binary"
	"math"
)

// The scans of this file look at whole words, so that checking half a gigabyte
// at load costs little more than reading it.

// anyCode selects all four 2-bit codes of every byte.
const anyCode = 0x5555555555555555

// indexCode3 returns the first byte of b that holds the 2-bit code 3, or -1.
// mask has the low bit of each code that counts: both bits of a code are set
// exactly where w & w>>1 keeps the low one.
func indexCode3(b []byte, mask uint64) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		w0 := binary.LittleEndian.Uint64(b[i:])
		w1 := binary.LittleEndian.Uint64(b[i+8:])
		w2 := binary.LittleEndian.Uint64(b[i+16:])
		w3 := binary.LittleEndian.Uint64(b[i+24:])
		if (w0&(w0>>1)|w1&(w1>>1)|w2&(w2>>1)|w3&(w3>>1))&mask != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if b[i]&(b[i]>>1)&byte(mask) != 0 {
			return i
		}
	}
	return -1
}

// An exponent describes the exponent field of the floats in a 64-bit word.
type exponent struct {
	width int    // bytes per float
	mask  uint64 // the exponent bits of every float
	unit  uint64 // the lowest of them, each
}

var (
	exponentF32  = exponent{4, 0x7f8000007f800000, 0x0080000000800000}
	exponentF16  = exponent{2, 0x7c007c007c007c00, 0x0400040004000400}
	exponentBF16 = exponent{2, 0x7f807f807f807f80, 0x0080008000800080}
)

// nonFinite reports whether a float of w is infinite or not a number: an
// exponent of all ones, and no other, carries into the sign bit.
func (e exponent) nonFinite(w uint64) bool {
	sign := (e.mask + e.unit)
	return (w&e.mask+e.unit)&sign != 0
}

// index returns the first float of b that is not finite, or -1.
func (e exponent) index(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if e.nonFinite(binary.LittleEndian.Uint64(b[i:])) {
			break
		}
	}
	for ; i < len(b); i += e.width {
		var one [8]byte
		copy(one[:], b[i:i+e.width])
		if e.nonFinite(binary.LittleEndian.Uint64(one[:])) {
			return i / e.width
		}
	}
	return -1
}

// validateFloats is validate for a matrix that is nothing but floats.
func validateFloats(e exponent) func(m Matrix) error {
	return func(m Matrix) error {
		if i := e.index(m.Data); i >= 0 {
			return m.Type.errorf("weight is not finite").at(i/m.Cols, i%m.Cols, i*e.width)
		}
		return nil
	}
}

func isFinite(x float32) bool { return math.Float32bits(x)&0x7f800000 != 0x7f800000 }

// indexNonFinite returns the first element of w that is not finite, or -1.
func indexNonFinite(w []float32) int {
	if isFinite(absMax(w)) {
		return -1
	}
	for i, x := range w {
		if !isFinite(x) {
			return i
		}
	}
	return -1
}

// absMaxGeneric returns max|w|, a NaN if there is one. Magnitudes are in the order
// of their bits, of which integers need no branch to find the largest.
func absMaxGeneric(w []float32) float32 {
	var m uint32
	for _, x := range w {
		m = max(m, math.Float32bits(x)&^(1<<31))
	}
	return math.Float32frombits(m)
}
