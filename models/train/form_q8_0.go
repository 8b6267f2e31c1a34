package train

import "onebit/formats"

// EightBit keeps int8 with a scale for every 32 columns of a row: what embeddings are
// rounded to, where the projections have fewer bits.
var EightBit = registerForm(&Form{
	Name:     "q8_0",
	Summary:  "int8, one fp16 scale per 32 weights (q8_0)",
	Type:     formats.Q8_0,
	Rounding: Q8Per32,
})
