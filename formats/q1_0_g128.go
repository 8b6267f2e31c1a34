package formats

import "math"

// Q1_0_g128 is the format of the Bonsai models. Layout and quantizer:
// ggml-org/ggml src/ggml-quants.c, block_q1_0.
var Q1_0_g128 = registerBlocks(blocks{
	name:    "q1_0_g128",
	summary: "1 bit, ±d per 128 weights (Bonsai)",
	weights: 128,
	bytes:   2 + 16,
	codes:   &Codes{Bits: 1, At: 2, Span: 1},
	scale:   absMean,
	encode: func(block []byte, w []float32, d float32) {
		for i := range block[2:] {
			var bits byte
			for j, x := range w[8*i:][:8] {
				var bit byte
				if math.Float32bits(x) <= 1<<31 { // -0 too, as in ggml
					bit = 1
				}
				bits |= bit << j
			}
			block[2+i] = bits
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
	var a, b float64
	for ; len(w) >= 2; w = w[2:] {
		a += math.Abs(float64(w[0]))
		b += math.Abs(float64(w[1]))
	}
	for _, x := range w {
		a += math.Abs(float64(x))
	}
	return a + b
}
