// Package formats says what the bytes of a weight matrix mean: one file per
// format, one registry, no I/O. It is quick where a program waits for it: decoding
// rows, checking a whole tensor at load, converting an output head. Containers (GGUF
// and others) are its subpackages; products on packed weights are package kernels.
//
// A matrix is rows × cols, row by row; a row is one output feature. Everything
// is little-endian. d and s are scales; a *block* is the group of weights that
// shares one. In the drawings, a digit or letter is one unit of the ruler above
// it, and bit 0 is the least significant.
//
// # Bits per weight
//
// For the shape 256 × 2560; only the formats with one scale per tensor depend
// on it, the less the larger the matrix.
//
//	format       block  bytes  bits per weight
//	f32              1      4  32
//	f16              1      2  16
//	bf16             1      2  16
//	q4_0            32     18  4.5
//	q5_0            32     22  5.5
//	iq4_nl          32     18  4.5
//	q8_0            32     34  8.5
//	q6_k           256    210  6.5625
//	q4_k           256    144  4.5
//	q2_0            64     18  2.25
//	q2_0_g128      128     34  2.125
//	pq2_0          128     34  2.125
//	tq2_0          256     66  2.0625
//	ptq1_0         128     28  1.75
//	tq1_0          256     54  1.6875
//	i2_s           128     32  2.000390625
//	i2_s_arm        64     16  2.000390625
//	i2_s_x4          1      -  2.000390625
//	ternary_u32      1      -  2.000048828125
//	q1_0_g128      128     18  1.125
//
// # q1_0_g128
//
// Source: ggml-org/ggml src/ggml-quants.c (type Q1_0, id 41).
//
//	byte  0    2                                  18
//	      | d  | 128 sign bits                    |
//	      fp16   weight j: bit j%8 of byte 2+j/8    1 → +d, 0 → -d
//
// Quantizer: d = mean|x| of the block, bit = x ≥ 0, so that zeros of both signs
// become +d, as in ggml. (cellm's own quantizer tests x > 0.) The mean is summed in
// float64, ggml's in float32; where that tips the rounding, d is one fp16 step away
// from ggml's. No code is zero: a matrix with zeros does not survive this format.
//
// # i2_s, i2_s_arm, i2_s_x4
//
// Source: microsoft/BitNet src/ggml-bitnet-mad.cpp. Codes 0, 1, 2 are -s, 0, +s.
//
//	byte  0                       n/4    n/4+4           n/4+32
//	      | codes, 4 per byte     | s    | 28 zero bytes |         n = rows·cols
//	                                f32
//
//	i2_s: block of 128 weights = 32 bytes (i2_s_arm: of 64 = 16 bytes)
//	      bit  7 6     5 4     3 2     1 0
//	byte l    | w[l] | w[l+32] | w[l+64] | w[l+96] |     (i2_s_arm: +16, +32, +48)
//
//	i2_s_x4: one column of four rows; byte g·cols + c
//	      bit  7 6       5 4         3 2         1 0
//	          | w[4g,c] | w[4g+1,c] | w[4g+2,c] | w[4g+3,c] |
//
// Quantizer: s = max|w| of the tensor; |w| < 1e-6 is zero, else the sign counts.
// That is meant for weights that are already -s, 0 or +s; master weights go
// through [Ternarize] first, or every one of them becomes ±max|w|.
//
// Four points on which the sources differ or are silent, and what is done here:
//   - Code 3 is never written, and readers disagree about it (bitnet.c: 0,
//     ik_llama.cpp: +2s). It is an error with row, column and byte.
//   - No metadata says which packing a file uses. Converters and the official
//     file use blocks of 128 on every machine (microsoft/BitNet issues 585 and
//     598), so that is i2_s; the other packings are types of their own, chosen
//     by name only.
//   - bitnet.cpp drops the columns after the last whole block. Here cols must
//     fill blocks, as must rows in groups of four for i2_s_x4.
//   - The 28 bytes behind the scale are left unset by bitnet.cpp and zeroed by
//     its converters. They are ignored in reading and zero in writing.
//
// # ternary_u32
//
// Source: openfluke/loom poly/bitnet_cpu.go. Codes 0, 1, 2 are -s, 0, +s.
//
//	uint32   word k of a row, k < ceil(cols/16)
//	bit      31 30         …  3 2         1 0
//	        | w[16k+15]  | …  | w[16k+1]  | w[16k]  |
//
//	byte  0                              4·rows·ceil(cols/16)
//	      | row 0 | row 1 | … | row rows-1 | s   |
//	                                         f32
//
// The codes behind the last column are 1, which is zero weight whatever the
// activation; loom leaves them 0 (weight -1). [Matrix.Validate] insists, because a
// kernel that multiplies whole words relies on it. Code 3 is an error.
//
// Quantizer: weights that are all -s, 0 or +s keep that s to the bit, so that
// i2_s → ternary_u32 loses nothing; others go through absmean. [MorphTernary]
// always takes absmean and [NativeTernary] takes -1, 0 and +1 with scale 1. loom
// rounds halves away from zero and has no least scale; both follow Hugging Face
// here (halves to even, at least 1e-5), because that is what models are trained
// with.
//
// # q2_0, q2_0_g128, pq2_0
//
// Source: ggml-org/ggml src/ggml-common.h (groups of 64) and
// PrismML-Eng/llama.cpp (groups of 128). The first two are GGUF type 42, and only
// the tensor's size tells which one it is, so they are two formats here. pq2_0 has
// the bytes of q2_0_g128 and a type id of its own.
//
//	byte  0    2                                18 (q2_0) or 34
//	      | d  | codes, 4 per byte              |
//	      fp16   weight j: bits 2(j%4), 2(j%4)+1 of byte 2+j/4
//
// Codes 0, 1, 2, 3 are -d, 0, +d, +2d. Quantizer: d = max|x|, code = round(x/d)+1
// with halves away from zero, so code 3 is never written; it is read, as in ggml.
//
// # tq2_0
//
// Source: ggml-org/ggml src/ggml-common.h and src/ggml-quants.c. Codes and
// quantizer as in q2_0.
//
//	byte  0                     32                    64   66
//	      | weights 0 to 127    | weights 128 to 255  | d  |
//	                                                    fp16
//	      bit  7 6      5 4      3 2      1 0
//	byte m    | w[m+96] | w[m+64] | w[m+32] | w[m] |     m < 32; second half alike
//
// # tq1_0
//
// Source: as tq2_0. Digits 0, 1, 2 are -d, 0, +d; quantizer as in q2_0.
//
//	byte  0                 32                  48                   52   54
//	      | weights 0–159   | weights 160–239   | weights 240–255    | d  |
//	        w[m+32n]          w[160+m+16n]        w[240+m+4n]          fp16
//	        5 digits          5 digits            4 digits, then 0
//
// A byte is ceil(256·v/243) with v = 81·t0 + 27·t1 + 9·t2 + 3·t3 + t4, where tn is
// the digit of weight n of byte m. Read as the fraction byte/256, its base-3
// digits are t0 to t4.
//
// # ptq1_0
//
// Source: PrismML-Eng/llama.cpp ggml/src/ggml-common.h. Digits, bytes and quantizer
// as in tq1_0; half as many weights.
//
//	byte  0                 16                  24                   26   28
//	      | weights 0–79    | weights 80–119    | weights 120–127    | d  |
//	        w[m+16n]          w[80+m+8n]          w[120+m+2n]          fp16
//	        5 digits          5 digits            4 digits, then 0
//
// [Recode] makes pq2_0 of it, and ptq1_0 of a pq2_0 without code 3, which loses
// nothing.
//
// # q8_0
//
// Source: ggml-org/ggml src/ggml-common.h and src/ggml-quants.c.
//
//	byte  0    2                  34
//	      | d  | 32 × int8        |     weight = d · int8
//	      fp16
//
// Quantizer: d = max|x|/127, code = round(x/d), halves away from zero, with d not
// yet rounded to fp16.
//
// # q4_0, q5_0 and iq4_nl
//
// Drawn in their files. Their scales are those of q8_0, and their codes int8's of fewer
// bits.
//
// # q6_k
//
// Source: ggml-org/ggml src/ggml-common.h and src/ggml-quants.c.
//
//	byte  0              128            192             208  210
//	      | 4 low bits   | 2 high bits  | 16 × int8     | d  |
//	                                      scale s         fp16
//
// Weight e = 128h + 32q + l (h < 2, q < 4, l < 32) is d · s[e/16] · (code-32):
// code's low bits are the low (q < 2) or high nibble of byte 64h + 32(q%2) + l,
// its high bits are bits 2q and 2q+1 of byte 128 + 32h + l.
//
// Quantizer, which is not ggml's: d is the least fp16 ≥ max|x|/(127·32); s, of the
// sign that makes the code of its group's largest weight negative, has the least
// Σ(x - d·s·code)² of the integers that make that code -31 or -32 (about five, up to
// 127; all up to 36). ggml weighs the squares with x² and tries 19 scales before it
// rounds them to int8. The plain squares are those that NMSE counts: 0.97 of ggml's on
// Gaussian weights (3.04e-4), 1.01 on uniform ones; weighted with x², 1.16 and 1.14.
// What was encoded once is encoded to the same weights again.
//
// The plain squares are also what a head is after. The error of a logit is Σ e·h over a
// row, and to its mean square weight j adds e² times the mean of h², about which the
// weight's own size says nothing. x² stands in for that mean where it was not
// measured: given an importance matrix, which is those means, ggml weighs with them and not
// with x² (quantize_row_q6_K_impl; ggml-org/llama.cpp pull request 4861). Without one
// all columns count alike. Both cannot be least at once: 16 weights have one scale.
//
// # q4_k
//
// Source: ggml-org/ggml src/ggml-common.h and src/ggml-quants.c.
//
//	byte  0    2    4                  16                144
//	      | d  | e  | 8 scales s and   | 256 codes       |
//	      fp16 fp16   8 offsets o,       4 bits
//	                  6 bits each
//
// Weight 64j + l (j < 4, l < 32) is d·s·code - e·o with the low nibble of byte
// 16 + 32j + l and the numbers of group 2j, weight 64j + 32 + l with the high nibble and
// those of group 2j+1. In the 12 bytes b from byte 4 on:
//
//	g < 4   s = b[g] & 63                          o = b[g+4] & 63
//	g ≥ 4   s = b[g+4] & 15 | b[g-4]>>6<<4         o = b[g+4]>>4 | b[g]>>6<<4
//
// Quantizer, which is not ggml's: e is 8d and o is s, so that codes stand for -8 to 7;
// d is the least fp16 with which 63 reaches the block's largest weight, s the integer
// nearest to what the group's needs. ggml lets a group begin anywhere, and searches
// for it. The NMSE of Gaussian weights is 8.4e-3, and was not compared with ggml's. What
// was encoded once is encoded to the same weights again.
//
// # Edges
//
// A block whose scale rounds to zero in fp16 (up to 2⁻²⁵) becomes a block of
// zeros, but in q6_k, whose scale is rounded up. A scale, or an f16 or bf16 weight,
// too large for its type is an *Error with the place, never an infinity. Weights
// that are not finite are refused in writing; in reading they are what the bytes
// say, and [Matrix.Validate] finds them.
package formats
