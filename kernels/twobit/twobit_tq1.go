package twobit

import (
	"onebit/formats"
	"onebit/kernels"
)

// The kernels of tq1_0, whose bytes hold five base-3 digits. Digits come out
// one multiplication at a time; the other kernels read them unpacked to the
// layout of tq2_0.

const (
	tq1Block = 54 // bytes; the fp16 scale is the last two
	tq2Block = 66
)

func tq1Codec(format kernels.Format) *kernels.Codec {
	return &kernels.Codec{
		Format:      format,
		GroupLen:    256,
		BlockBytes:  tq1Block,
		ScaleAt:     tq1Block - 2,
		Code:        tq1Code,
		Dot:         tq1Dot,
		DotUnrolled: tq1DotUnrolled,
	}
}

// tq2Rows is the layout of tq2_0 for tq1_0.
var tq2Rows = &kernels.Layout{
	Name:        "tq2_0",
	RowTile:     1,
	PackedBytes: func(rows, cols int) int { return rows * (cols / 256) * tq2Block },
	Pack: func(m *kernels.Matrix, t *formats.Tensor, r0, r1 int) error {
		n := m.Cols / 256
		unpackTQ1Blocks(m.Data[r0*n*tq2Block:r1*n*tq2Block], t.Data[r0*n*tq1Block:r1*n*tq1Block])
		return nil
	},
}

// tq1At returns the byte of column k and which of its digits it is, from the
// most significant one.
func tq1At(k int) (at int, digit uint) {
	at, k = k/256*tq1Block, k%256
	switch {
	case k < 160:
		return at + k%32, uint(k / 32)
	case k < 240:
		return at + 32 + k%16, uint(k-160) / 16
	}
	return at + 48 + k%4, uint(k-240) / 4
}

// tq1Powers shift a byte's base-3 fraction left by digits.
var tq1Powers = [5]uint32{1, 3, 9, 27, 81}

// tq1Digit is the digit behind as many as power has taken off: b stands for
// the fraction b/256.
func tq1Digit(b byte, power uint32) uint32 { return uint32(byte(uint32(b)*power)) * 3 >> 8 }

func tq1Code(row []byte, k int) int32 {
	at, digit := tq1At(k)
	return int32(tq1Digit(row[at], tq1Powers[digit])) - 1
}

func tq1Dot(row []byte, from int, q []int8) int32 {
	var sum int32
	for i, v := range q {
		sum += tq1Code(row, from+i) * int32(v)
	}
	return sum
}

// tq1DotUnrolled takes 16 columns that have the same digit of 16 bytes, or
// the last 16 of a block, which have four digits of 4 bytes.
func tq1DotUnrolled(row []byte, from int, q []int8) int32 {
	var sum int32
	for ; len(q) >= 16; from, q = from+16, q[16:] {
		at, digit := tq1At(from)
		v := (*[16]int8)(q)
		if from%256 == 240 {
			b := (*[4]byte)(row[at:])
			for n := range 4 {
				sum += tq1Quad(*b, [4]int8(v[4*n:]), tq1Powers[n])
			}
			continue
		}
		b, power := (*[16]byte)(row[at:]), tq1Powers[digit]
		for n := 0; n < 16; n += 4 {
			sum += tq1Quad([4]byte(b[n:]), [4]int8(v[n:]), power)
		}
	}
	return sum + tq1Dot(row, from, q)
}

func tq1Quad(b [4]byte, q [4]int8, power uint32) int32 {
	return (int32(tq1Digit(b[0], power))-1)*int32(q[0]) + (int32(tq1Digit(b[1], power))-1)*int32(q[1]) +
		(int32(tq1Digit(b[2], power))-1)*int32(q[2]) + (int32(tq1Digit(b[3], power))-1)*int32(q[3])
}

// tq1Codes has the first four digits of every byte as 2-bit codes from the
// low bits up, and the fifth above them.
var tq1Codes = func() (codes [256]uint16) {
	for b := range codes {
		for n, power := range tq1Powers {
			codes[b] |= uint16(tq1Digit(byte(b), power)) << (2 * n)
		}
	}
	return codes
}()

func unpackTQ1BlocksGo(dst, src []byte) {
	for ; len(src) > 0; dst, src = dst[tq2Block:], src[tq1Block:] {
		unpackTQ1((*[tq2Block]byte)(dst), (*[tq1Block]byte)(src))
	}
}

// unpackTQ1 writes a block as tq2_0 has it. Its first 128 columns are four
// digits of 32 bytes; the fifth digits, five of 16 bytes and four of the last
// 4 make the other 128.
func unpackTQ1(dst *[tq2Block]byte, src *[tq1Block]byte) {
	for i := range 32 {
		digits := tq1Codes[src[i]]
		dst[i] = byte(digits)
		dst[32+i] = byte(digits >> 8)
	}
	for i := range 16 {
		digits := tq1Codes[src[32+i]]
		last := tq1Codes[src[48+i%4]] >> (2 * (i / 4)) & 3
		dst[32+i] |= byte(digits&3<<2 | digits>>4&3<<4 | digits>>8&3<<6)
		dst[48+i] |= byte(digits>>2&3<<2 | digits>>6&3<<4 | last<<6)
	}
	dst[64], dst[65] = src[52], src[53]
}
