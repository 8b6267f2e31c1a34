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
//	Activation   the scheme: f32, q8_row, q8_128, q8_32
//	Activations  the quantized columns of one submission
//	Order        the arrangement of quantized activations that a kernel wants
//	Pool         the threads, and the products run on them
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
// int32 is wide enough: |code·q| ≤ 3·127, so a row may have 5.6 million columns.
//
// # Activations that are not finite
//
// A group that holds an infinity or a NaN gets the scale NaN, so the results
// it reaches are NaN: an error upstream is not hidden by the quantization.
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
package kernels
