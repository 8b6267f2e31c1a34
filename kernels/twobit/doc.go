// Package twobit multiplies the formats with 2-bit codes, and tq1_0 and ptq1_0, whose
// digits become such codes. It registers its variants with package kernels.
//
// # Layouts
//
// Formats with a scale per block have packed layouts, with rows in the lanes of
// registers: a dot product of bytes leaves row sums without a horizontal addition, and
// the scales of neighbouring rows convert at once. Both are as large as the file's blocks,
// but for tq1_0 and ptq1_0 in codes64, where their digits have two bits.
//
//	codes64     tq2_0, q2_0, q2_0_g128, pq2_0, tq1_0, ptq1_0: 64 rows × a block, of
//	            D = 4, 8 or 16 groups of 16 columns. Byte 4r+i of vector v of group g has
//	            columns 16g+4j+i of row 16v+r at bits 2j, j = 0..3: four
//	            neighbouring activations, broadcast, meet what one mask
//	            leaves.
//
//	            group 0            …   group D-1           64 fp16 scales
//	            4 × 64 B: k 0…15       4 × 64 B            128 B
//
//	codes128    i2_s, i2_s_arm and ternary_u32 under q8_32: the same without scales, D = 8,
//	            columns padded to a multiple of 128.
//
//	digits64    ptq1_0 with AVX-512 VNNI: 64 rows × 128 columns in 1792 bytes. Byte
//	            4r+i of vector v of dword d is byte 4d+i of row 16v+r in the file.
//
//	            dword 0        …   dword 5        tails                   64 fp16 scales
//	            4 × 64 B           4 × 64 B       64 × 2 B: bytes 24, 25  128 B
//
//	words       i2_s_x4, whose bytes hold four rows each: rows as ternary_u32
//	            has them, ceil(cols/16) words.
//
// Under q8_32 all but i2_s_x4 are multiplied in codes64 and codes128. Other
// schemes multiply the formats with one scale per tensor in place, and so are tq2_0, q2_0,
// q2_0_g128 and pq2_0 by variants whose name ends in -native. One kernel serves all their
// byte orders, because the activations are arranged and not the weights: an
// Order puts beside each vector of weight bytes the four vectors of activations
// that its codes at shifts 0, 2, 4 and 6 belong to. On amd64 ptq1_0 has such variants
// too, whose order has a vector for each digit of a byte.
//
// On amd64 batches multiply tiles of codes64. Rows in place are packed to one in scratch, their
// codes in the order that they have, and the panels of activations are arranged in it.
package twobit
