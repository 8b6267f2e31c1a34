package cpu

import (
	"encoding/binary"
	"math"

	"onebit/formats"
	"onebit/internal/half"
	"onebit/internal/math32"
	"onebit/kernels"
)

// The functions here specify attention; assembly does the same float operations in the
// same order, so that results are the same bits. The conversions to float32 forbid the
// compiler to fuse a product with the sum that follows.

// q8Len is the columns of a block of q8_0 and of q4_0, which the assembly is written for.
const q8Len = 32

// The bytes of such blocks.
var (
	q8Bytes = codesOf(formats.Q8_0).Bytes
	q4Bytes = codesOf(formats.Q4_0).Bytes
)

// codesOf returns the layout of a format's codes.
func codesOf(t *formats.Type) formats.Codes {
	c, _ := t.Codes()
	return c
}

// keyGroup is how many positions' keys lie together, number k of all of them
// before the next: a register of them or more meets a number of a query. More than
// these do not share memory, so that the first of them takes no page of all.
const keyGroup = 8

// scoresScalar multiplies queries, each so many numbers wide, with the keys of
// positions, which lie in groups. The scores of a query are cacheTile apart. Sixteen
// terms at a time are added up, fused. The callers of scores and weighted say
// in a last argument what they will want from memory next. Assembly writes
// anything to scores behind the last position, up to the end of the tile.
func scoresScalar(dst, q, keys []float32, width, positions int) {
	const chunk = 16
	for r := range len(q) / width {
		q := q[r*width:][:width]
		for t := range positions {
			keys := keys[t/keyGroup*keyGroup*width+t%keyGroup:]
			var score float32
			for from := 0; from < width; from += chunk {
				var sum float32
				for k := from; k < min(from+chunk, width); k++ {
					sum = math32.FMA(q[k], keys[k*keyGroup], sum)
				}
				score += sum
			}
			dst[r*cacheTile+t] = score
		}
	}
}

// weightedScalar adds to every row of dst the values of positions, each times
// the row's weight for it, first position first, fused. The weights of a row
// are cacheTile behind those of the one before. Columns from first are done.
func weightedScalar(dst, weights, values []float32, width, positions, first int) {
	for r := range len(dst) / width {
		dst, weights := dst[r*width:][:width], weights[r*cacheTile:][:positions]
		for t, w := range weights {
			values := values[t*width:][:width]
			for d := first; d < width; d++ {
				dst[d] = math32.FMA(w, values[d], dst[d])
			}
		}
	}
}

// blendScalar is dst = dst·by + x, fused.
func blendScalar(dst, x []float32, by float32) {
	x = x[:len(dst)]
	for i, v := range dst {
		dst[i] = math32.FMA(v, by, x[i])
	}
}

// A block of a query in int8: 32 codes, their float32 scale, and -128 times their
// sum.
const queryBytes = q8Len + 4 + 4

// scoresQ8Scalar is scoresScalar of queries in int8, of so many blocks each, and
// keys in q8_0: see cell. The sums of a block are exact.
func scoresQ8Scalar(dst []float32, q, keys []byte, blocks, positions int) {
	for r := range len(q) / (blocks * queryBytes) {
		for t := range positions {
			var score float32
			for b := range blocks {
				q := q[(r*blocks+b)*queryBytes:][:queryBytes]
				keys := keys[(t/keyGroup*blocks+b)*keyGroup*q8Bytes:][:keyGroup*q8Bytes]
				codes := keys[2*keyGroup+4*(t%keyGroup):]
				var sum int32
				for k := range q8Len {
					sum += int32(int8(q[k])) * int32(int8(codes[k/4*4*keyGroup+k%4]))
				}
				scale := math.Float32frombits(binary.LittleEndian.Uint32(q[q8Len:])) * half.At(keys[2*(t%keyGroup):])
				score = math32.FMA(float32(sum), scale, score)
			}
			dst[r*cacheTile+t] = score
		}
	}
}

// unpackQ4Scalar writes groups of blocks of q4_0 as groups of blocks of q8_0 of the
// same values: see cell.
func unpackQ4Scalar(dst, src []byte, blocks int) {
	const scales, half = 2 * keyGroup, q8Len / 2 * keyGroup
	for range blocks {
		copy(dst, src[:scales])
		low, high := dst[scales:][:half], dst[scales+half:][:half]
		for i, codes := range src[scales:][:half] {
			low[i], high[i] = codes&15-8, codes>>4-8
		}
		dst, src = dst[keyGroup*q8Bytes:], src[keyGroup*q4Bytes:]
	}
}

// packQuery writes a query that was quantized as scoresQ8 takes it.
func packQuery(dst []byte, acts *kernels.Activations) {
	q, scales, sums := acts.Columns(nil, 0, 1)
	for b, scale := range scales {
		for i, code := range q[b*q8Len:][:q8Len] {
			dst[i] = byte(code)
		}
		binary.LittleEndian.PutUint32(dst[q8Len:], math.Float32bits(scale))
		binary.LittleEndian.PutUint32(dst[q8Len+4:], uint32(-128*sums[b]))
		dst = dst[queryBytes:]
	}
}
