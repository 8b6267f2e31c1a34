package train

import "onebit/formats"

// OneBit keeps signs only, with the scale mean|W| for every 128 columns of a row,
// rounded to fp16: what the format q1_0_g128 holds, to the bit.
var OneBit = registerForm(&Form{
	Name:     "1bit",
	Summary:  "signs, one fp16 scale per 128 weights (q1_0_g128)",
	Type:     formats.Q1_0_g128,
	Rounding: Q8Per128,
})
