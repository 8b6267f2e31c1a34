// Package heads multiplies the formats of heads, embeddings and norms: the
// floats, q8_0, q6_k and q4_k. It registers its variants with package kernels.
package heads
