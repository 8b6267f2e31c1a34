package formats

import (
	"encoding/binary"
	"math"

	"onebit/internal/half"
)

// Q6_K holds embeddings and heads. Layout: ggml-org/ggml src/ggml-common.h,
// block_q6_K. The quantizer is onebit's own; doc.go says how it chooses.
var Q6_K = registerBlocks(blocks{
	name:    "q6_k",
	summary: "6 bits, int8 scales per 16 and an fp16 scale per 256 weights",
	weights: 256,
	bytes:   128 + 64 + 16 + 2,
	scaleAt: 128 + 64 + 16,
	scale:   func(w []float32) float32 { return q6BlockScale(absMax(w)) },
	codes:   &Codes{Bits: 6, Span: 1},
	encode:  encodeQ6K,
	decode:  decodeQ6K,
})

// The largest magnitudes of a group's int8 scale and of a code.
const (
	q6MaxScale = 127
	q6MaxCode  = 32 // as -32; 31 on the other side
)

// q6BlockScale returns the least fp16 that lets the scales of groups reach m,
// the largest magnitude of a block; infinity if there is none.
func q6BlockScale(m float32) float32 {
	d := m / (q6MaxScale * q6MaxCode)
	h := half.FromFloat32(d)
	if half.ToFloat32(h) < d {
		h++
	}
	return half.ToFloat32(h)
}

func encodeQ6K(block []byte, w []float32, d float32) {
	weights := (*[256]float32)(w)
	var up, down [16]uint32
	q6Extremes(&up, &down, weights)
	largest := absMax(w)
	var ids [16]float32
	for g := range ids {
		group := newQ6Group((*[16]float32)(w[16*g:]), up[g], down[g])
		s := group.scale(d, largest)
		block[192+g] = byte(int8(s))
		ids[g] = inverse(d * s)
	}
	var codes [256]byte
	q6Codes(&codes, weights, &ids)
	for h := range 2 {
		packQ6(block[64*h:][:64], block[128+32*h:][:32], codes[128*h:][:128])
	}
}

// q6ExtremesGeneric finds the bits of the largest positive and of the largest
// negative weight of each group of 16; +0 and -0 where there is none. Floats of
// one sign are in the order of their bits, the negative ones above the others,
// of which integers need no branches to find the largest.
func q6ExtremesGeneric(up, down *[16]uint32, w *[256]float32) {
	for g := range up {
		positive, negative := int32(0), uint32(1<<31)
		for _, v := range w[16*g:][:16] {
			b := math.Float32bits(v)
			positive, negative = max(positive, int32(b)), max(negative, b)
		}
		up[g], down[g] = uint32(positive), negative
	}
}

// A q6Group is 16 weights that share an int8 scale.
type q6Group struct {
	weights *[16]float32
	max     float32 // the largest magnitude, whose code is negative
	other   float32 // the largest magnitude of the other sign
	sign    float32 // of the scale that does so
}

// newQ6Group compares bits: which sign is the larger is anyone's guess, and
// integers are chosen without a branch.
func newQ6Group(w *[16]float32, up, down uint32) q6Group {
	down &^= 1 << 31
	sign := math.Float32bits(1)
	if up > down {
		sign = math.Float32bits(-1)
	}
	return q6Group{w, math.Float32frombits(max(up, down)), math.Float32frombits(min(up, down)), math.Float32frombits(sign)}
}

// scale returns the integer s of either sign for which the weights, coded in
// steps of d·s, have the least squared error. It tries the scales that cut no
// weight off, while 127 allows, and give the largest a code of 31 or 32; those
// to 36 too, where there may be none such. What is decoded has to find its scale
// again: hence 30.6 and not 30.5, which a rounding error could make 30, and the
// condition on the largest weight of a block.
func (g *q6Group) scale(d, largest float32) float32 {
	if g.max == 0 || d == 0 {
		return 0
	}
	id, steps := q6Fixed/g.max, g.max/d
	first := min(int(max(steps/32.5, g.other/d/31.5))+1, q6MaxScale)
	last := min(max(int(steps/30.6), 36), q6MaxScale)
	best := q6NoScale
	if g.max < largest {
		best = q6Search(g.weights, id, steps, first, last)
	} else {
		for s := first; s <= last; s++ {
			code := nearest(steps / float32(s))
			if q6BlockScale(d*float32(s)*min(code, q6MaxCode)) == d { // else the block as decoded would have another d
				best = min(best, q6Search(g.weights, id, steps, s, s))
			}
		}
	}
	if best == q6NoScale {
		return g.sign * min(ceil(steps/q6MaxCode), q6MaxScale)
	}
	return g.sign * float32(best&0xff)
}

// q6Fixed stands for the largest magnitude of a group in fixed point.
const q6Fixed = 1 << 20

// q6NoScale is more than any scale's error.
const q6NoScale int64 = math.MaxInt64

// q6SearchGeneric returns the least error of the scales from first to last, times
// 256, plus the scale; q6NoScale of none. The error of a scale s is s²·Σr², where r
// is what lies between a weight's code and the nearest integer, in 1024ths. id turns
// weights into fixed point, steps is the largest one's magnitude in steps of the
// block.
func q6SearchGeneric(w *[16]float32, id, steps float32, first, last int) int64 {
	var fixed [16]uint32
	for i, v := range w {
		fixed[i] = uint32(int32(float32(v * id)))
	}
	best := q6NoScale
	for s := first; s <= last; s++ {
		code := uint32(int32(steps / float32(s) * (1 << 32 / q6Fixed))) // of the largest weight
		var sum int64
		for i := 0; i < 16; i += 4 {
			sum += int64(q6Squares[fixed[i]*code>>22] + q6Squares[fixed[i+1]*code>>22] +
				q6Squares[fixed[i+2]*code>>22] + q6Squares[fixed[i+3]*code>>22])
		}
		best = min(best, int64(s)*int64(s)*sum<<8|int64(s))
	}
	return best
}

// q6Squares are the squares of the distances to an integer, by the first ten
// bits of a fraction. Next to an integer, on either side, there is none.
var q6Squares = func() (squares [1024]int32) {
	for i := range squares {
		r := min(i, 1023-i)
		squares[i] = int32(r * r)
	}
	return squares
}()

// q6CodesGeneric rounds each group's w·id to integers from -32 to 31 and writes
// them with 32 added.
func q6CodesGeneric(codes *[256]byte, w *[256]float32, ids *[16]float32) {
	for i, v := range w {
		codes[i] = byte(max(0, min(int32(nearest(float32(v*ids[i/16])))+32, 63)))
	}
}

// packQ6 spreads the 6 bits of half a block, 8 bytes at a time.
func packQ6(low, high, codes []byte) {
	const nibble, pair = 0x0f0f0f0f0f0f0f0f, 0x0303030303030303
	for l := 0; l < 32; l += 8 {
		c0, c1 := binary.LittleEndian.Uint64(codes[l:]), binary.LittleEndian.Uint64(codes[32+l:])
		c2, c3 := binary.LittleEndian.Uint64(codes[64+l:]), binary.LittleEndian.Uint64(codes[96+l:])
		binary.LittleEndian.PutUint64(low[l:], c0&nibble|c2&nibble<<4)
		binary.LittleEndian.PutUint64(low[32+l:], c1&nibble|c3&nibble<<4)
		binary.LittleEndian.PutUint64(high[l:], c0>>4&pair|c1>>4&pair<<2|c2>>4&pair<<4|c3>>4&pair<<6)
	}
}

// decodeQ6K decodes a block. The products d·scale·code have at most 24 bits, so
// they are exact in any order.
func decodeQ6K(dst []float32, block []byte, d float32) {
	var scales [16]float32
	for g, s := range block[192:208] {
		scales[g] = d * float32(int8(s))
	}
	q6Weights((*[256]float32)(dst), (*[192]byte)(block), &scales)
}

// q6WeightsGeneric decodes 16 weights, which share a scale, at a time. Quarter q of
// each half of the block takes the low or high nibbles of 32 bytes of low bits, and
// bits 2q and 2q+1 of the half's 32 bytes of high bits.
func q6WeightsGeneric(dst *[256]float32, bits *[192]byte, scales *[16]float32) {
	low, high := bits[:128], bits[128:]
	for g, ds := range scales {
		half, q, l := g/8, g/2%4, g%2*16
		ql := low[64*half+32*(q%2)+l:][:16]
		qh := high[32*half+l:][:16]
		w := dst[16*g:][:16]
		for j := range w {
			code := ql[j]>>(q/2*4)&15 | qh[j]>>(2*q)&3<<4
			w[j] = ds * float32(int(code)-32)
		}
	}
}
