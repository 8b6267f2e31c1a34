package twobit

import (
	"encoding/binary"

	"onebit/kernels"
)

// The kernels of tq1_0 and ptq1_0, whose bytes hold five base-3 digits. Digits come
// out one multiplication at a time; the SIMD kernels read them unpacked to 2-bit
// codes.

// A base3 is where the digits of a block lie: in runs of bytes, digit n of byte m of
// a run being its column n·lanes + m. The fp16 scale lies behind the last.
type base3 struct {
	blockLen, blockBytes int
	runs                 []digitRun
}

type digitRun struct{ at, from, lanes int } // its first byte and column

var (
	tq1  = &base3{256, tq1Block, []digitRun{{0, 0, 32}, {32, 160, 16}, {48, 240, 4}}}
	ptq1 = &base3{128, ptq1Block, []digitRun{{0, 0, 16}, {16, 80, 8}, {24, 120, 2}}}
)

const (
	tq1Block    = 54 // bytes; the fp16 scale is the last two
	tq2Block    = 66
	ptq1Block   = 28
	q2G128Block = 34
)

func (f *base3) codec(format kernels.Format) *kernels.Codec {
	return &kernels.Codec{
		Format:      format,
		GroupLen:    f.blockLen,
		BlockBytes:  f.blockBytes,
		ScaleAt:     f.blockBytes - 2,
		SmallCodes:  true,
		Code:        f.code,
		Dot:         f.dot,
		DotUnrolled: f.dotUnrolled,
	}
}

// at returns the byte of column k, which of its digits it is, from the most
// significant one, and how many columns from k on are that digit of the bytes from
// there on.
func (f *base3) at(k int) (at, digit, n int) {
	at, k = k/f.blockLen*f.blockBytes, k%f.blockLen
	run := f.runs[0]
	for _, r := range f.runs[1:] {
		if k >= r.from {
			run = r
		}
	}
	k -= run.from
	lane := k & (run.lanes - 1)
	return at + run.at + lane, k / run.lanes, run.lanes - lane
}

// powers shift a byte's base-3 fraction left by digits.
var powers = [5]uint32{1, 3, 9, 27, 81}

// digit is the one behind as many as power has taken off: b stands for the
// fraction b/256.
func digit(b byte, power uint32) uint32 { return uint32(byte(uint32(b)*power)) * 3 >> 8 }

func (f *base3) code(row []byte, k int) int32 {
	at, n, _ := f.at(k)
	return int32(digit(row[at], powers[n])) - 1
}

func (f *base3) dot(row []byte, from int, q []int8) int32 {
	var sum int32
	for i, v := range q {
		sum += f.code(row, from+i) * int32(v)
	}
	return sum
}

// dotUnrolled takes columns that are the same digit of neighbouring bytes.
func (f *base3) dotUnrolled(row []byte, from int, q []int8) int32 {
	var sum int32
	for len(q) > 0 {
		at, which, n := f.at(from)
		n = min(n, len(q))
		b, v, power := row[at:][:n], q[:n], powers[which]
		for ; len(v) >= 4; b, v = b[4:], v[4:] {
			sum += digitQuad([4]byte(b), [4]int8(v), power)
		}
		for i, v := range v {
			sum += (int32(digit(b[i], power)) - 1) * int32(v)
		}
		from, q = from+n, q[n:]
	}
	return sum
}

func digitQuad(b [4]byte, q [4]int8, power uint32) int32 {
	return (int32(digit(b[0], power))-1)*int32(q[0]) + (int32(digit(b[1], power))-1)*int32(q[1]) +
		(int32(digit(b[2], power))-1)*int32(q[2]) + (int32(digit(b[3], power))-1)*int32(q[3])
}

// digitCodes has the digits of every byte as 2-bit codes from the low bits up.
var digitCodes = spread(2)

// spread has digit n of every byte at bit n·gap, as far as 64 bits go.
func spread(gap int) (codes [256]uint64) {
	for b := range codes {
		for n, power := range powers {
			codes[b] |= uint64(digit(byte(b), power)) << (gap * n)
		}
	}
	return codes
}

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
		digits := digitCodes[src[i]]
		dst[i] = byte(digits)
		dst[32+i] = byte(digits >> 8)
	}
	for i := range 16 {
		digits := digitCodes[src[32+i]]
		last := digitCodes[src[48+i%4]] >> (2 * (i / 4)) & 3
		dst[32+i] |= byte(digits&3<<2 | digits>>4&3<<4 | digits>>8&3<<6)
		dst[48+i] |= byte(digits>>2&3<<2 | digits>>6&3<<4 | last<<6)
	}
	dst[64], dst[65] = src[52], src[53]
}

// Digits as 16 and 2 lanes of codes want them: the former two at a time.
var (
	digits16 = spread(16)
	digits32 = spread(32)
	digits4  = spread(4)
)

func unpackPTQ1Blocks(dst, src []byte) {
	for ; len(src) > 0; dst, src = dst[q2G128Block:], src[ptq1Block:] {
		unpackPTQ1((*[q2G128Block]byte)(dst), (*[ptq1Block]byte)(src))
	}
}

// unpackPTQ1 writes a block as q2_0_g128 has it, 16 columns in 32 bits: five digits of
// 16 bytes, five of 8 bytes and four of the last 2.
func unpackPTQ1(dst *[q2G128Block]byte, src *[ptq1Block]byte) {
	var codes [4]uint64
	for m, b := range src[:16] {
		codes[0] |= digits32[b] << (2 * m)
		codes[1] |= digits32[byte(9*uint(b))] << (2 * m)
		codes[2] |= digits32[byte(81*uint(b))] & 3 << (2 * m)
	}
	for m, b := range src[16:24] {
		n := 2*m + 32
		codes[2] |= digits16[b] << n
		codes[3] |= digits16[byte(9*uint(b))]&0xfffff<<(2*m) | digits16[byte(81*uint(b))]&3<<n
	}
	for m, b := range src[24:26] {
		codes[3] |= digits4[b] & 0xffff << (48 + 2*m)
	}
	dst[0], dst[1] = src[26], src[27]
	for i, c := range codes {
		binary.LittleEndian.PutUint64(dst[2+8*i:], c)
	}
}
