// Package heads multiplies the formats of heads, embeddings and norms: the
// floats, q8_0, q6_k, q4_k and formats of small blocks. It registers its variants with package kernels.
package heads
