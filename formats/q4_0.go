package formats

import "math"

// Q4_0 holds heads, embeddings, and keys and values. Layout and quantizer: ggml-org/ggml src/ggml-common.h, block_q4_0, and
// src/ggml-quants.c, quantize_row_q4_0_ref.
//
//	byte  0    2                  18
//	      | d  | 16 × 2 codes     |     weight = d · (code-8)
//	      fp16   low bits: weight j of byte j, high bits: weight j+16
//
// d = x/-8 of the x with the largest magnitude, which makes its code 0; the others
// are x/d + 8, rounded, at most 15.
var Q4_0 = registerBlocks(blocks{
	name:    "q4_0",
	summary: "4 bits and a scale per 32 weights",
	weights: 32,
	bytes:   2 + 16,
	codes:   &Codes{Bits: 4, At: 2, Span: 16},
	scale:   func(w []float32) float32 { return largest(w) / -8 },
	encode: func(block []byte, w []float32, d float32) {
		id := inverse(d)
		code := func(x float32) byte { return byte(min(15, int32(float32(x*id)+8.5))) }
		for j := range 16 {
			block[2+j] = code(w[j]) | code(w[j+16])<<4
		}
	},
	code: func(block []byte, j int) int32 { return int32(block[2+j%16]>>(j/16*4)&15) - 8 },
})

// largest returns the first weight of the largest magnitude.
func largest(w []float32) (largest float32) {
	var magnitude float32
	for _, x := range w {
		if m := float32(math.Abs(float64(x))); m > magnitude {
			largest, magnitude = x, m
		}
	}
	return largest
}
