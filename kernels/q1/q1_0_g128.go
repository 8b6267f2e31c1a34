package q1

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/kernels"
)

// q1Block is the bytes of a Q1_0_g128 block: an fp16 scale and 128 sign bits.
const q1Block = 18

var q1Codec = &kernels.Codec{
	Format: kernels.Format{
		Type: formats.Q1_0_g128, Scheme: kernels.Q8Per128, // aligned with its blocks
		Roles: kernels.Projection | kernels.Head, Short: true,
	},
	GroupLen:    128,
	BlockBytes:  q1Block,
	SmallCodes:  true,
	Code:        q1Code,
	Dot:         q1Dot,
	DotUnrolled: q1DotUnrolled,
}

func init() { q1Codec.Register() }

// q1Bits returns the 32 sign bits from column from, a multiple of 32.
func q1Bits(row []byte, from int) uint32 {
	return binary.LittleEndian.Uint32(row[from/128*q1Block+2+from%128/8:])
}

func q1Code(row []byte, k int) int32 {
	return int32(row[k/128*q1Block+2+k%128/8]>>(k%8)&1)*2 - 1
}

func q1Dot(row []byte, from int, q []int8) int32 {
	var sum int32
	for i, v := range q {
		sum += q1Code(row, from+i) * int32(v)
	}
	return sum
}

// q1DotUnrolled adds q where the bit is set: Σ±q = 2·Σ_{bit=1} q − Σq.
func q1DotUnrolled(row []byte, from int, q []int8) int32 {
	var set, all int32
	for ; len(q) >= 32; from, q = from+32, q[32:] {
		bits := q1Bits(row, from)
		for _, p := range [4][]int8{q[0:8:8], q[8:16:16], q[16:24:24], q[24:32:32]} {
			_ = p[7]
			v0, v1, v2, v3 := int32(p[0]), int32(p[1]), int32(p[2]), int32(p[3])
			v4, v5, v6, v7 := int32(p[4]), int32(p[5]), int32(p[6]), int32(p[7])
			set += v0&-int32(bits&1) + v1&-int32(bits>>1&1) + v2&-int32(bits>>2&1) + v3&-int32(bits>>3&1) +
				v4&-int32(bits>>4&1) + v5&-int32(bits>>5&1) + v6&-int32(bits>>6&1) + v7&-int32(bits>>7&1)
			all += v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7
			bits >>= 8
		}
	}
	return 2*set - all
}
