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
	var codes [256]byte
	var groups [16]q6Group
	var largest float32
	for g := range groups {
		groups[g] = newQ6Group((*[16]float32)(w[16*g:]))
		largest = max(largest, groups[g].max)
	}
	for g := range groups {
		s := groups[g].scale(d, largest)
		block[192+g] = byte(int8(s))
		q6Codes((*[16]byte)(codes[16*g:]), groups[g].weights, inverse(d*s))
	}
	for h := range 2 {
		packQ6(block[64*h:][:64], block[128+32*h:][:32], codes[128*h:][:128])
	}
}

// A q6Group is 16 weights that share an int8 scale.
type q6Group struct {
	weights *[16]float32
	max     float32 // the largest magnitude, whose code is negative
	other   float32 // the largest magnitude of the other sign
	sign    float32 // of the scale that does so
}

// newQ6Group compares bits, which takes no branches: floats of one sign are in
// the order of their bits, the negative ones above the others.
func newQ6Group(w *[16]float32) q6Group {
	const signBit = 1 << 31
	var positive int32
	negative := uint32(signBit)
	for _, v := range w {
		b := math.Float32bits(v)
		positive, negative = max(positive, int32(b)), max(negative, b)
	}
	up, down := math.Float32frombits(uint32(positive)), math.Float32frombits(negative&^signBit)
	if up > down {
		return q6Group{w, up, down, -1}
	}
	return q6Group{w, down, up, 1}
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
	pairs, steps := g.fixed(), g.max/d
	first := min(int(max(steps/32.5, g.other/d/31.5))+1, q6MaxScale)
	last := min(max(int(steps/30.6), 36), q6MaxScale)
	best := math.MaxInt // an error above its scale
	for s := first; s <= last; s++ {
		code := steps / float32(s) // of the largest weight, to be rounded
		if g.max == largest && q6BlockScale(d*float32(s)*min(nearest(code), q6MaxCode)) != d {
			continue // as decoded, the block would have another d
		}
		best = min(best, s*s*q6Error(&pairs, int(code*(1<<32/q6Fixed)))<<8|s)
	}
	if best == math.MaxInt {
		return g.sign * min(ceil(steps/q6MaxCode), q6MaxScale)
	}
	return g.sign * float32(best&0xff)
}

// q6Fixed stands for the largest magnitude of a group in fixed point.
const q6Fixed = 1 << 20

// fixed returns the weights as fractions of the largest in fixed point, two to
// a word, so that one multiplication makes codes of both.
func (g *q6Group) fixed() (pairs [8]uint64) {
	id := q6Fixed / g.max
	for i := range pairs {
		x0, x1 := float32(g.weights[2*i]*id), float32(g.weights[2*i+1]*id)
		pairs[i] = uint64(int64(x0)) + uint64(int64(x1))<<32
	}
	return pairs
}

// q6Error returns Σr², where r is what lies between pair·code/2³² and the
// nearest integer, in 1024ths. The halves of a product do not disturb each
// other: what the lower one has above its fraction is nothing to the upper.
func q6Error(pairs *[8]uint64, code int) int {
	c := uint64(code)
	v0, v1, v2, v3 := pairs[0]*c, pairs[1]*c, pairs[2]*c, pairs[3]*c
	e0 := q6Squares[v0>>22&1023] + q6Squares[v0>>54] + q6Squares[v1>>22&1023] + q6Squares[v1>>54]
	e1 := q6Squares[v2>>22&1023] + q6Squares[v2>>54] + q6Squares[v3>>22&1023] + q6Squares[v3>>54]
	v0, v1, v2, v3 = pairs[4]*c, pairs[5]*c, pairs[6]*c, pairs[7]*c
	e0 += q6Squares[v0>>22&1023] + q6Squares[v0>>54] + q6Squares[v1>>22&1023] + q6Squares[v1>>54]
	e1 += q6Squares[v2>>22&1023] + q6Squares[v2>>54] + q6Squares[v3>>22&1023] + q6Squares[v3>>54]
	return int(e0 + e1)
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

// q6Codes rounds x·id to integers from -32 to 31 and writes them with 32 added.
func q6Codes(codes *[16]byte, x *[16]float32, id float32) {
	for i, v := range x {
		codes[i] = byte(max(0, min(int32(nearest(float32(v*id)))+32, 63)))
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

// decodeQ6K decodes 16 weights, which share an int8 scale, at a time. Quarter
// q of each half of the block takes the low or high nibbles of 32 bytes of low
// bits, and bits 2q and 2q+1 of the half's 32 bytes of high bits. The product
// d·scale·code has at most 24 bits, so it is exact.
func decodeQ6K(dst []float32, block []byte, d float32) {
	low, high, scales := block[:128], block[128:192], block[192:208]
	for g, s := range scales {
		ds := d * float32(int8(s))
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
