package formats

// Q6_K is read only: it holds the embeddings of converted models. Layout:
// ggml-org/ggml src/ggml-common.h, block_q6_K.
var Q6_K = registerBlocks(blocks{
	name:    "q6_k",
	summary: "6 bits, int8 scales per 16 and an fp16 scale per 256 weights (read only)",
	weights: 256,
	bytes:   128 + 64 + 16 + 2,
	scaleAt: 128 + 64 + 16,
	decode:  decodeQ6K,
})

// decodeQ6K decodes 16 weights, which share an int8 scale, at a time. Quarter
// q of each half of the block takes the low or high nibbles of 32 bytes of low
// bits, and bits 2q and 2q+1 of the half's 32 bytes of high bits. The product
// d·scale·code has at most 24 bits, so it is exact.
func decodeQ6K(dst []float32, block []byte, d float32) {
	low, high, scales := block[:128], block[128:192], block[192:208]
	for g, s := range scales {
		ds := d * float32(int8(s))
		half, q, l := g/8, g/2%4, g%2*16
		ql := low[64*half+32*(q%2)+l:][:16]
		qh := high[32*half+l:][:16]
		w := dst[16*g:][:16]
		for j := range w {
			code := ql[j]>>(q/2*4)&15 | qh[j]>>(2*q)&3<<4
			w[j] = ds * float32(int(code)-32)
		}
	}
}
