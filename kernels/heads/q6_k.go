package heads

import (
	"onebit/formats"
	"onebit/kernels"
)

// The parts of a Q6_K block of 256 weights: 128 bytes of low bits, 64 of high
// bits, 16 int8 scales, an fp16 scale. The drawing is in formats.
const (
	q6Block  = 210
	q6High   = 128
	q6Scales = 192
	q6Scale  = 208
)

// The code of a weight is its int8 scale times what its six bits hold, less
// 32: an integer of at most 128·32 = 4096 in magnitude. A group has at most
// 256 columns, so that its sum stays below 256·4096·127 = 133,169,152 < 2³¹.
// (The limit of kernels for long rows does not apply: every format with scales
// in its blocks has groups no longer than a block.)
var q6Codec = &kernels.Codec{
	Format:      kernels.Format{Type: formats.Q6_K, Scheme: kernels.Q8Per32, Roles: kernels.Head}, // as llama.cpp
	GroupLen:    256,
	BlockBytes:  q6Block,
	ScaleAt:     q6Scale,
	Code:        q6Code,
	Dot:         q6Dot,
	DotUnrolled: q6DotUnrolled,
}

func init() { q6Codec.Register() }

func q6Code(row []byte, k int) int32 {
	block, e := row[k/256*q6Block:][:q6Block], k%256
	half, q, l := e/128, e/32%4, e%32
	low := block[64*half+32*(q%2)+l] >> (q / 2 * 4) & 15
	high := block[q6High+32*half+l] >> (2 * q) & 3
	return int32(int8(block[q6Scales+e/16])) * (int32(low|high<<4) - 32)
}

func q6Dot(row []byte, from int, q []int8) int32 {
	var sum int32
	for i, v := range q {
		sum += q6Code(row, from+i) * int32(v)
	}
	return sum
}

// q6DotUnrolled takes 32 columns at a time, which have one place in the bytes
// and two int8 scales.
func q6DotUnrolled(row []byte, from int, q []int8) int32 {
	var sum int32
	for ; len(q) >= 32; from, q = from+32, q[32:] {
		block, e := row[from/256*q6Block:][:q6Block], from%256
		half, quarter := e/128, e/32%4
		low, high := block[64*half+32*(quarter%2):][:32], block[q6High+32*half:][:32]
		shift := quarter / 2 * 4
		sum += int32(int8(block[q6Scales+e/16])) * q6Dot16(low[:16], high[:16], q[:16], shift, 2*quarter)
		sum += int32(int8(block[q6Scales+e/16+1])) * q6Dot16(low[16:], high[16:], q[16:32], shift, 2*quarter)
	}
	return sum
}

// q6Dot16 is Σ (bits-32)·q of the 16 columns that share an int8 scale.
func q6Dot16(low, high []byte, q []int8, shiftLow, shiftHigh int) int32 {
	low, high, q = low[:16], high[:16], q[:16]
	var bits, all int32
	for i := 0; i < 16; i += 2 {
		c0 := low[i]>>(shiftLow&7)&15 | high[i]>>(shiftHigh&7)&3<<4
		c1 := low[i+1]>>(shiftLow&7)&15 | high[i+1]>>(shiftHigh&7)&3<<4
		bits += int32(c0)*int32(q[i]) + int32(c1)*int32(q[i+1])
		all += int32(q[i]) + int32(q[i+1])
	}
	return bits - 32*all
}
