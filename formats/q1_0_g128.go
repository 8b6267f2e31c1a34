package formats

import "math"

// Q1_0_g128 is the format of the Bonsai models. Layout and quantizer:
// ggml-org/ggml src/ggml-quants.c, block_q1_0.
var Q1_0_g128 = registerBlocks(blocks{
	name:    "q1_0_g128",
	summary: "1 bit, ±d per 128 weights (Bonsai)",
	weights: 128,
	bytes:   2 + 16,
	scale:   absMean,
	encode: func(block []byte, w []float32, d float32) {
		bits := block[2:]
		clear(bits)
		for j, x := range w {
			if x >= 0 { // -0 too, as in ggml
				bits[j/8] |= 1 << (j % 8)
			}
		}
	},
	decode: func(dst []float32, block []byte, d float32) {
		values := [2]float32{-d, d}
		for i, bits := range block[2:] {
			w := dst[8*i : 8*i+8]
			for j := range w {
				w[j] = values[bits>>j&1]
			}
		}
	},
})

// absMean returns mean|w|.
func absMean(w []float32) float32 { return float32(sumAbs(w) / float64(len(w))) }

// sumAbs returns Σ|w|, summed in float64 so that it does not depend on the
// order of the weights.
func sumAbs(w []float32) float64 {
	var sum float64
	for _, x := range w {
		sum += math.Abs(float64(x))
	}
	return sum
}
