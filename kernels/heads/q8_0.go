package heads

import (
	"onebit/formats"
	"onebit/kernels"
)

// q8Block is the bytes of a Q8_0 block: an fp16 scale and 32 int8.
const q8Block = 34

var q8Codec = &kernels.Codec{
	Format:      kernels.Format{Type: formats.Q8_0, Scheme: kernels.Q8Per32, Roles: kernels.Head}, // as llama.cpp
	GroupLen:    32,
	BlockBytes:  q8Block,
	Code:        q8Code,
	Dot:         q8Dot,
	DotUnrolled: q8DotUnrolled,
}

func init() { q8Codec.Register() }

func q8Code(row []byte, k int) int32 { return int32(int8(row[k/32*q8Block+2+k%32])) }

func q8Dot(row []byte, from int, q []int8) int32 {
	var sum int32
	for i, v := range q {
		sum += q8Code(row, from+i) * int32(v)
	}
	return sum
}

// q8DotUnrolled has four sums, to be independent of each other. A file may
// hold the code -128, which no quantizer writes: a block's sum is at most
// 32·128·127 in magnitude.
func q8DotUnrolled(row []byte, from int, q []int8) int32 {
	var s0, s1, s2, s3 int32
	for w := row[from/32*q8Block:]; len(q) >= 32; q = q[32:] {
		codes := w[2:q8Block]
		for i := 0; i < 32; i += 4 {
			c, v := codes[i:][:4], q[i:][:4]
			s0 += int32(int8(c[0])) * int32(v[0])
			s1 += int32(int8(c[1])) * int32(v[1])
			s2 += int32(int8(c[2])) * int32(v[2])
			s3 += int32(int8(c[3])) * int32(v[3])
		}
		w = w[q8Block:]
	}
	return s0 + s1 + s2 + s3
}
