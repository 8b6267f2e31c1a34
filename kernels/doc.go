// Package kernels multiplies packed 1-bit and ternary weight matrices with
// activation vectors: matvec for one token, small-batch matmul for several.
//
// # The pieces
//
//	Variant      one implementation of the products of one weight format
//	             under one activation scheme; listed by Variants, found by
//	             Lookup, chosen for this machine by Best
//	Layout       how the weights lie in memory: Native (the file's bytes) or packed
//	Matrix       a weight matrix in a layout, made by Variant.Pack
//	Scheme       of the activations: f32, q8_row, q8_128, q8_32
//	Activations  the quantized columns of one submission
//	Order        the arrangement of quantized activations that a kernel wants
//	Pool         the threads, and the products run on them
//
// Families of kernels have packages of their own: q1, twobit, heads. They register
// their variants here, and package all links them. A kernel from anywhere else is
// registered in the same way, by Register, and tested by kerneltest.Run: the example
// of package kerneltest is one.
//
// A program that multiplies:
//
//	v, err := kernels.Best(tensor.Type.Name)
//	pool := kernels.NewPool(0)
//	defer pool.Close()
//	m, err := v.Pack(tensor, pool)
//	defer m.Close()
//	pool.MatVec(y, v, m, x)
//
// # What every variant computes
//
// A weight is scale × code, an activation scale × q. A group is a run of
// columns in which neither scale changes. For integer schemes
//
//	y[r] = Σ_g (weightScale[r,g] · activationScale[g]) · float32(Σ_{k∈g} code[r,k]·q[k])
//
// The inner sum is an exact int32. The two products are each rounded to
// float32 and the terms added in the order of g, from 0, without fused
// multiply-add. So results are equal to the bit on every ISA, for every
// thread count and every batch size; the variant scalar is the specification,
// and kernels/kerneltest holds all others to it.
//
// Under f32 the inner sum is a float one and its order matters too: column k
// of a group is added to lane k mod 32, products rounded before they are
// added, and the 32 lanes are folded in halves (16, 8, 4, 2, 1).
//
// int32 is wide enough: |code·q| ≤ 3·127, so a row may have 5.6 million columns;
// the codes of q8_0 and q6_k are larger, but their groups have at most 32 and
// 256 columns.
//
// # Activations that are not finite
//
// A group that holds an infinity or a NaN gets the scale NaN, so the results
// it reaches are NaN: an error upstream is not hidden by the quantization. Under
// q8_32, whose scales are fp16, the same is true of activations beyond 8.3e6: see
// Q8Per32.
//
// # Layouts
//
// Native layouts are drawn in the documentation of package formats. The
// packed ones:
//
//	bitplanes   q1_0_g128; 16 rows × 128 columns in 288 bytes, no larger than
//	            native. Byte 4r+t (r = row in tile, t = 0..3) of a 64-byte
//	            vector v holds column 32v + 4j + t of row r at bit j:
//
//	            vector 0        vector 1        vector 2        vector 3        16 fp16 scales
//	            64 B: k 0…31    64 B: k 32…63   64 B: k 64…95   64 B: k 96…127  32 B
//
//	            Rows lie in dword lanes: a dot product of bytes leaves 16 row
//	            sums without a horizontal addition, and 16 scales convert at once.
//
//	rows64      q1_0_g128; 64 rows × 128 columns in 1152 bytes. Byte p of vector v
//	            is columns 8v … 8v+7 of row 8·g + p mod 8, where g is number p/8 of
//	            0 4 1 5 2 6 3 7: bytes interleaved within 128 bits and widened
//	            are then rows in sequence.
//
//	            vector 0      …   vector 15          64 fp16 scales
//	            64 B: k 0…7       64 B: k 120…127    128 B
//
//	rows128     q1_0_g128; 128 rows × 128 columns in 2304 bytes: 8 groups of four
//	            vectors. Vector v of a group has 16 columns of rows 32v … 32v+31
//	            as an int16 each, as the file has them; even ones are the first
//	            16 rows, which one VPMADDWD widens in sequence.
//
//	            group 0            …   group 7                128 fp16 scales
//	            4 × 64 B: k 0…15       4 × 64 B: k 112…127    256 B
//
//	words       i2_s_x4, whose bytes hold four rows each: rows as ternary_u32
//	            has them, ceil(cols/16) words.
//
//	tq2_0       tq1_0, whose digits are base 3: blocks as tq2_0 has them.
//
// 2-bit formats are otherwise multiplied in place. One kernel serves all their
// byte orders, because the activations are arranged and not the weights: an
// Order puts beside each vector of weight bytes the four vectors of activations
// that its codes at shifts 0, 2, 4 and 6 belong to.
//
// # What a name says
//
// A variant's name, format and scheme are one kernel on every machine that has its
// ISA, so a name in a file of results says what ran. The CPU's vendor and family
// decide two things only. One is which variant Best takes, by a preference that is
// a field of the variant. The other is a hint, on which no result depends: weights
// are fetched ahead into level 2 on AMD's cores and into level 1 on others.
//
// # Measurements
//
// Why the kernels are as they are, with tables, commands and machines, and what was
// tried and left, is in docs/measurements:
//
//	kernels-q1.md       q1_0_g128 on amd64: bit planes, look-ups, native rows, batches
//	kernels-twobit.md   the 2-bit formats on amd64: one column, batches
//	kernels-heads.md    float formats, q8_0, q6_k
//	kernels-neon.md     instructions of the arm64 kernels, which nobody has timed
//	kernels-memory.md   packing, two threads, fetching weights ahead
package kernels
