// Package kernels multiplies packed 1-bit and ternary weight matrices with
// activation vectors: matvec for one token, small-batch matmul for several.
//
// # The pieces
//
//	Variant      one implementation of the products of one weight format
//	             under one activation scheme; listed by Variants, found by
//	             Lookup, chosen for this machine by Best
//	Kernel       what a variant multiplies some number of columns with
//	Layout       how the weights lie in memory: Native (the file's bytes) or packed
//	Matrix       a weight matrix in a layout, made by Variant.Pack
//	Scheme       of the activations: f32, q8_row, q8_128, q8_32
//	Activations  the columns of one submission, which package quantize rounds
//	Order        the arrangement of quantized activations that a kernel wants
//	Pool         the threads, and the products run on them
//	Scratch      what a kernel works in and keeps: a thread's
//	Format       what is known of a weight format beside its bytes
//	Codec        a format's weights one by one, from which scalar follows
//
// Families of kernels have packages of their own: q1, twobit, heads. They register
// their variants here, and package all links them. A kernel from anywhere else is
// registered in the same way, by Register, and tested by kerneltest.Run: the example
// of package kerneltest is one. Packages dense and vectors are no families: they have
// the float32 products of training, and loops of models and training.
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
// Under q8_32 a weight's scale often is that of several groups. For codes that are
// small, those of 1 and 2 bits, what has one within 128 columns is one term then:
// the four activation scales are integers times a power of two, by which sums are
// multiplied, and the term's sum is exact too. See [quantize.Span].
//
// Weights of q4_k are less an offset, which a group has beside its scale: its term is less that of Σq
// with the offset for the weight's scale.
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
// [quantize.Q8Per32].
//
// # Layouts
//
// Native layouts are drawn in the documentation of package formats, packed ones in
// that of the family: q1 has bitplanes, rows64 and rows128, twobit has codes64,
// codes128, digits64 and words.
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
//	kernels.md      amd64: one column, batches, schemes of activations, packing
//	kernel-code.md  instructions counted, also of arm64; where code lies
//	threads.md      how many threads, more than CPUs, beside others
//	dense.md        float32 products and loops of training
package kernels
