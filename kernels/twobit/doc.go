// Package twobit multiplies the formats with 2-bit codes, and tq1_0 and ptq1_0, whose
// digits become such codes. It registers its variants with package kernels.
//
// # Layouts
//
// Three formats are packed:
//
//	words       i2_s_x4, whose bytes hold four rows each: rows as ternary_u32
//	            has them, ceil(cols/16) words.
//
//	tq2_0       tq1_0, whose digits are base 3: blocks as tq2_0 has them.
//
//	q2_0_g128   ptq1_0, likewise: blocks as q2_0_g128 has them.
//
// The others are multiplied in place. One kernel serves all their
// byte orders, because the activations are arranged and not the weights: an
// Order puts beside each vector of weight bytes the four vectors of activations
// that its codes at shifts 0, 2, 4 and 6 belong to.
package twobit
