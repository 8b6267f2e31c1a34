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

// q8Packed are formats with an fp16 scale per 32 columns whose codes are int8's: they are
// packed to blocks of q8_0, which q8_0's kernels multiply.
var q8Packed = []*formats.Type{formats.Q5_0, formats.IQ4_NL}

func init() {
	q8Codec.Register()
	for _, t := range q8Packed {
		q8CodecOf(t).Register()
	}
}

// q8CodecOf is the codec of one of q8Packed, or of another such format.
func q8CodecOf(t *formats.Type) *kernels.Codec {
	dot := func(row []byte, from int, q []int8) (sum int32) {
		for i, v := range q {
			sum += t.CodeAt(row, from+i) * int32(v)
		}
		return sum
	}
	return &kernels.Codec{
		Format: kernels.Format{Type: t, Scheme: kernels.Q8Per32, Roles: kernels.Head}, GroupLen: 32, BlockBytes: q8PackedBytes(t),
		Code: t.CodeAt, Dot: dot, DotUnrolled: dot,
	}
}

// q8PackedBytes is the bytes of a block of one of q8Packed, which begins with its scale.
func q8PackedBytes(t *formats.Type) int {
	n, _ := t.Bytes(1, 32)
	return n
}

// q8Register registers a variant of q8_0, and the same for q8Packed.
func q8Register(v *kernels.Variant) {
	kernels.Register(v)
	for _, t := range q8Packed {
		packed := *v
		packed.Format, packed.Layout, packed.Summary = t, q8Layouts[t], v.Summary+", packed as q8_0"
		kernels.Register(&packed)
	}
}

// q8Layouts are those of q8Packed: blocks of q8_0.
var q8Layouts = func() map[*formats.Type]*kernels.Layout {
	out := map[*formats.Type]*kernels.Layout{}
	for _, t := range q8Packed {
		n := q8PackedBytes(t)
		out[t] = &kernels.Layout{
			Name: "q8_0", RowTile: 1,
			PackedBytes: func(rows, cols int) int { return rows * cols / 32 * q8Block },
			Pack: func(m *kernels.Matrix, from *formats.Tensor, r0, r1 int) error {
				blocks := m.Cols / 32
				src, dst := from.Data[r0*blocks*n:r1*blocks*n], m.Span(r0, r1, blocks*q8Block)
				for ; len(src) > 0; src, dst = src[n:], dst[q8Block:] {
					copy(dst[:2], src)
					for k := range 32 {
						dst[2+k] = byte(t.CodeAt(src[:n], k))
					}
				}
				return nil
			},
		}
	}
	return out
}()

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
