package formats

// IQ4_NL holds heads and embeddings. Layout and values: ggml-org/ggml
// src/ggml-common.h, block_iq4_nl and kvalues_iq4nl.
//
//	byte  0    2                  18
//	      | d  | 16 × 2 codes     |     weight = d · values[code]
//	      fp16   low bits: weight j of byte j, high bits: weight j+16
//
// Quantizer, which is not ggml's: d = x/-127 of the x with the largest magnitude, and
// each code is that of the nearest value, the lower of two. ggml searches for a better d.
var IQ4_NL = registerBlocks(blocks{
	name:    "iq4_nl",
	summary: "4 bits of uneven steps and a scale per 32 weights",
	weights: 32,
	bytes:   2 + 16,
	scale:   func(w []float32) float32 { return largest(w) / -127 },
	encode: func(block []byte, w []float32, d float32) {
		id := inverse(d)
		for j := range 16 {
			block[2+j] = iq4Code(float32(w[j]*id)) | iq4Code(float32(w[j+16]*id))<<4
		}
	},
	code: func(block []byte, j int) int32 { return int32(iq4Values[block[2+j%16]>>(j/16*4)&15]) },
})

// iq4Values are what the codes stand for.
var iq4Values = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// iq4Code returns the code of the value nearest to x.
func iq4Code(x float32) (code byte) {
	for code < 15 && x > (float32(iq4Values[code])+float32(iq4Values[code+1]))/2 {
		code++
	}
	return code
}
