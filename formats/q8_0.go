package formats

import "math"

// Q8_0 holds embeddings and heads. Layout and quantizer: ggml-org/ggml
// src/ggml-common.h, block_q8_0, and src/ggml-quants.c.
var Q8_0 = registerBlocks(blocks{
	name:    "q8_0",
	summary: "int8 and a scale per 32 weights",
	weights: 32,
	bytes:   2 + 32,
	codes:   &Codes{Bits: 8, At: 2, Span: 1},
	scale:   func(w []float32) float32 { return absMax(w) / 127 },
	encode: func(block []byte, w []float32, d float32) {
		id := inverse(d)
		for j, x := range w {
			// In float64 the sum is exact, and halves go away from zero.
			v := float64(float32(x * id))
			block[2+j] = byte(int32(v + math.Copysign(0.5, v)))
		}
	},
	decode: func(dst []float32, block []byte, d float32) {
		q := block[2:]
		for j := range dst {
			dst[j] = float32(int8(q[j])) * d
		}
	},
})
