package heads

import (
	"encoding/binary"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/kernels"
)

// The parts of a Q4_K block of 256 weights: two fp16 scales, 12 bytes of 6-bit
// numbers, 128 of codes. The drawing is in formats.
const (
	q4Block  = 144
	q4Offset = 2
	q4Groups = 4
	q4Codes  = 16
)

// A weight is d·s·code - dmin·o: both products have at most 17 bits and are exact.
var q4Codec = &kernels.Codec{
	Format:      kernels.Format{Type: formats.Q4_K, Scheme: kernels.Q8Per32, Roles: kernels.Head}, // as llama.cpp
	GroupLen:    32,
	BlockBytes:  q4Block / 8,
	Step:        q4Step,
	Code:        q4Code,
	Dot:         q4Dot,
	DotUnrolled: q4DotUnrolled,
}

var nibblesQ4_K = nibbles{formats.Q4_K, 2 + 2 + 8*18, 1, packQ4_K}

func init() { q4Codec.Register() }

func q4Code(row []byte, k int) int32 {
	block, e := row[k/256*q4Block:][:q4Block], k%256
	return int32(block[q4Codes+e/64*32+e%32] >> (e / 32 % 2 * 4) & 15)
}

// q4Step is the scale and the offset of the group that begins with column k.
func q4Step(row []byte, k int) (scale, offset float32) {
	block := row[k/256*q4Block:][:q4Block]
	s, o := q4Group(block, k%256/32)
	return half.At(block) * float32(s), half.At(block[q4Offset:]) * float32(o)
}

// q4Group is the 6-bit numbers of group g of a block.
func q4Group(block []byte, g int) (scale, offset byte) {
	b := block[q4Groups:q4Codes]
	if g < 4 {
		return b[g] & 63, b[4+g] & 63
	}
	return b[4+g]&15 | b[g-4]>>6<<4, b[4+g]>>4 | b[g]>>6<<4
}

func q4Dot(row []byte, from int, q []int8) (sum int32) {
	for i, v := range q {
		sum += q4Code(row, from+i) * int32(v)
	}
	return sum
}

// q4DotUnrolled takes a group at a time, whose codes are in one half of 32 bytes.
func q4DotUnrolled(row []byte, from int, q []int8) int32 {
	var s0, s1 int32
	for ; len(q) >= 32; from, q = from+32, q[32:] {
		e := from % 256
		codes, shift := row[from/256*q4Block+q4Codes+e/64*32:][:32], e/32%2*4
		for i := 0; i < 32; i += 2 {
			c, v := codes[i:][:2], q[i:][:2]
			s0 += int32(c[0]>>(shift&7)&15) * int32(v[0])
			s1 += int32(c[1]>>(shift&7)&15) * int32(v[1])
		}
	}
	return s0 + s1
}

// packQ4_K takes two groups at a time, which have the two halves of the same bytes.
func packQ4_K(to, block []byte, r, rows int) {
	const low = 0x0f0f0f0f
	copy(to[2*r:][:2], block)
	copy(to[2*(rows+r):][:2], block[q4Offset:])
	for g := range 8 {
		group, codes := to[(4+18*g)*rows:][:18*rows], block[q4Codes+g/2*32:][:32]
		group[r], group[rows+r] = q4Group(block, g)
		for i := range 4 {
			first, second := binary.LittleEndian.Uint32(codes[4*i:]), binary.LittleEndian.Uint32(codes[4*i+16:])
			shift := g % 2 * 4
			binary.LittleEndian.PutUint32(group[2*rows+4*(i*rows+r):], first>>shift&low|second>>shift&low<<4)
		}
	}
}
