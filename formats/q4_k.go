package formats

import (
	"encoding/binary"
	"math"

	"onebit/internal/half"
)

// Q4_K holds embeddings. Layout: ggml-org/ggml src/ggml-common.h, block_q4_K, and
// src/ggml-quants.c, get_scale_min_k4. The quantizer is onebit's own; doc.go says
// how it chooses.
var Q4_K = registerBlocks(blocks{
	name:    "q4_k",
	summary: "4 bits, a 6-bit scale and offset per 32 and two fp16 scales per 256 weights",
	weights: 256,
	bytes:   2 + 2 + 12 + 128,
	offsets: q4Offsets,
	scale:   q4BlockScale,
	encode:  encodeQ4K,
	decode:  decodeQ4K,
})

// The parts of a block behind the scale of its scales.
const (
	q4Offsets = 2 // the fp16 scale of its offsets
	q4Scales  = 4
	q4Codes   = 16
)

// What the quantizer writes: codes from 0 for -8 to 15 for 7, and so an offset of
// 8 scales.
const (
	q4MaxScale = 63
	q4Zero     = 8
)

// q4Group returns scale and offset of group g of a block, 6 bits each.
func q4Group(scales []byte, g int) (s, o byte) {
	if g < 4 {
		return scales[g] & 63, scales[4+g] & 63
	}
	low := scales[4+g]
	return low&15 | scales[g-4]>>6<<4, low>>4 | scales[g]>>6<<4
}

// setQ4Group is the inverse for one number that is both. Groups come in order.
func setQ4Group(scales []byte, g int, s byte) {
	if g < 4 {
		scales[g], scales[4+g] = s, s
		return
	}
	scales[4+g] = s&15 | s<<4
	scales[g-4] |= s >> 4 << 6
	scales[g] |= s >> 4 << 6
}

func decodeQ4K(dst []float32, block []byte, d float32) {
	offsets := half.At(block[q4Offsets:])
	for g := range 8 {
		s, o := q4Group(block[q4Scales:q4Codes], g)
		step, offset := d*float32(s), offsets*float32(o)
		codes, w := block[q4Codes+g/2*32:][:32], dst[32*g:][:32]
		for l := range w {
			// The product has at most 21 bits and is exact.
			w[l] = step*float32(codes[l]>>(g%2*4)&15) - offset
		}
	}
}

// q4BlockScale returns the least fp16 that lets the scales of groups reach what
// their weights need; infinity if there is none whose eightfold is one too.
func q4BlockScale(w []float32) float32 {
	var most float32
	for g := range 8 {
		most = max(most, q4Step(w[32*g:][:32]))
	}
	d := most / q4MaxScale
	h := half.FromFloat32(d)
	if half.ToFloat32(h) < d {
		h++
	}
	if d = half.ToFloat32(h); !half.IsFinite(half.FromFloat32(q4Zero * d)) {
		return q4Zero * d * d // beyond fp16, so that the error says how far
	}
	return d
}

// q4Step returns the least step with which codes from -8 to 7 reach all weights of
// a group.
func q4Step(w []float32) float32 {
	var up, down float32
	for _, x := range w {
		up, down = max(up, x), max(down, -x)
	}
	return max(up/(15-q4Zero), down/q4Zero)
}

func encodeQ4K(block []byte, w []float32, d float32) {
	clear(block)
	binary.LittleEndian.PutUint16(block[q4Offsets:], half.FromFloat32(q4Zero*d))
	largest := float32(0)
	for g := range 8 {
		largest = max(largest, q4Step(w[32*g:][:32]))
	}
	for g := range 8 {
		group := w[32*g:][:32]
		s := q4Scale(q4Step(group), d, largest)
		setQ4Group(block[q4Scales:q4Codes], g, byte(s))
		id, codes := inverse(d*s), block[q4Codes+g/2*32:]
		for l, x := range group {
			code := nearest(max(-q4Zero, min(x*id, 15-q4Zero)))
			codes[l] |= byte(code+q4Zero) << (g % 2 * 4)
		}
	}
}

// q4Scale returns the integer that makes d·s the step of a group, nearly: at most so
// much that the group's largest weight has the code -8 or 7, so that what is decoded
// has the same step. The block's largest is rounded up, or it would have another d.
func q4Scale(step, d, largest float32) float32 {
	const least = 0x1p-24 // of fp16
	switch {
	case d == 0 || step == 0:
		return 0
	case step == largest && d > least:
		return min(ceil(step/d), q4MaxScale)
	}
	end := float32(math.Floor(float64(step / d * (8 / 7.5))))
	return max(1, min(nearest(step/d), end, q4MaxScale))
}
