package formats

// PQ2_0 has the bytes of [Q2_0_g128] under a GGUF type id of its own, 142, which
// PrismML's newer files use: it tells groups of 128 from upstream's of 64.
// Layout: PrismML-Eng/llama.cpp ggml/src/ggml-common.h, block_pq2_0.
var PQ2_0 = registerBlocks(q2Blocks("pq2_0", "ternary, 2 bits and a scale per 128 weights (newer Bonsai)", 128))
