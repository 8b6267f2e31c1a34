package formats

// Q2_0_g128 is what PrismML's llama.cpp called Q2_0 (newer files: [PQ2_0]): the
// codes of Q2_0 in groups of 128. It shares the GGUF type id 42 with [Q2_0], so
// a reader must tell them apart by the tensor's size. Layout:
// PrismML-Eng/llama.cpp ggml/src/ggml-common.h, block_q2_0.
var Q2_0_g128 = registerBlocks(q2Blocks("q2_0_g128", "ternary, 2 bits and a scale per 128 weights (Bonsai)", 128))
