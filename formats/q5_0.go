package formats

import "encoding/binary"

// Q5_0 holds heads and embeddings. Layout and quantizer: ggml-org/ggml
// src/ggml-common.h, block_q5_0, and src/ggml-quants.c, quantize_row_q5_0_ref.
//
//	byte  0    2              6                  22
//	      | d  | 32 high bits | 16 × 2 codes     |     weight = d · (code-16)
//	      fp16   bit j: of weight j; low bits as those of q4_0
//
// d = x/-16 of the x with the largest magnitude; the others are x/d + 16, rounded, at
// most 31.
var Q5_0 = registerBlocks(blocks{
	name:    "q5_0",
	summary: "5 bits and a scale per 32 weights",
	weights: 32,
	bytes:   2 + 4 + 16,
	scale:   func(w []float32) float32 { return largest(w) / -16 },
	encode: func(block []byte, w []float32, d float32) {
		id, high := inverse(d), uint32(0)
		clear(block[6:])
		for j, x := range w {
			code := byte(min(31, int32(float32(x*id)+16.5)))
			block[6+j%16] |= code & 15 << (j / 16 * 4)
			high |= uint32(code>>4) << j
		}
		binary.LittleEndian.PutUint32(block[2:], high)
	},
	code: func(block []byte, j int) int32 {
		high := binary.LittleEndian.Uint32(block[2:]) >> j & 1
		return int32(block[6+j%16]>>(j/16*4)&15) + int32(high<<4) - 16
	},
})
