package formats

// Q2_0 is upstream ggml's type of that name, with groups of 64 weights: the
// *-Q2_0_g64.gguf files. Layout: ggml-org/ggml src/ggml-common.h, block_q2_0.
var Q2_0 = registerBlocks(q2Blocks("q2_0", "ternary, 2 bits and a scale per 64 weights (upstream ggml)", 64))

// q2Blocks is the layout of both Q2_0 formats, which differ in the group only.
func q2Blocks(name, summary string, weights int) blocks {
	return blocks{
		name:    name,
		summary: summary,
		ternary: true,
		weights: weights,
		bytes:   2 + weights/4,
		codes:   &Codes{Bits: 2, At: 2, Span: 1},
		scale:   absMax,
		encode: func(block []byte, w []float32, d float32) {
			id := inverse(d)
			for i := range block[2:] {
				x := w[4*i : 4*i+4]
				block[2+i] = nearestCode(x[0], id) | nearestCode(x[1], id)<<2 |
					nearestCode(x[2], id)<<4 | nearestCode(x[3], id)<<6
			}
		},
		decode: func(dst []float32, block []byte, d float32) {
			values := [4]float32{-d, 0, d, 2 * d}
			for i, b := range block[2:] {
				w := dst[4*i : 4*i+4]
				w[0], w[1], w[2], w[3] = values[b&3], values[b>>2&3], values[b>>4&3], values[b>>6]
			}
		},
	}
}
