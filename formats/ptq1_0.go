package formats

// PTQ1_0 is the smaller of the two formats of Bonsai 2: base-3 digits as in
// [TQ1_0], in blocks of 128 as in [PQ2_0]. A PQ2_0 without code 3 becomes PTQ1_0,
// and back, without loss. Layout: PrismML-Eng/llama.cpp ggml/src/ggml-common.h,
// block_ptq1_0; GGUF type 143.
var PTQ1_0 = registerBlocks(base3Blocks("ptq1_0", "ternary, 5 weights per byte and a scale per 128 (Bonsai 2)", []digitRun{{16, 5}, {8, 5}, {2, 4}}))
