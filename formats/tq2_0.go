package formats

// TQ2_0 is ggml's 2-bit ternary type. Layout and quantizer: ggml-org/ggml
// src/ggml-common.h, block_tq2_0, and src/ggml-quants.c.
var TQ2_0 = registerBlocks(blocks{
	name:    "tq2_0",
	ternary: true,
	summary: "ternary, 2 bits and a scale per 256 weights",
	weights: 256,
	bytes:   64 + 2,
	scaleAt: 64,
	codes:   &Codes{Bits: 2, Span: 32},
	scale:   absMax,
	encode: func(block []byte, w []float32, d float32) {
		id := inverse(d)
		for i := range block[:64] {
			x := w[i/32*128+i%32:]
			block[i] = nearestCode(x[0], id) | nearestCode(x[32], id)<<2 |
				nearestCode(x[64], id)<<4 | nearestCode(x[96], id)<<6
		}
	},
	decode: func(dst []float32, block []byte, d float32) {
		values := [4]float32{-d, 0, d, 2 * d}
		for i, b := range block[:64] {
			w := dst[i/32*128+i%32:][:97]
			w[0], w[32], w[64], w[96] = values[b&3], values[b>>2&3], values[b>>4&3], values[b>>6]
		}
	},
})
