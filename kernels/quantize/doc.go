// Package quantize rounds activations to int8, as the integer products of package kernels take them.
//
// A column, a token's activations, is cut into groups, and a group's scale follows from its largest
// magnitude as a Scheme says. Generic is the specification; SIMD, with AVX2 or NEON, gives the same bits.
package quantize
