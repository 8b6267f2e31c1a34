// Package cpu is the engine of models on the CPU: products by package kernels,
// everything else by [Vectors].
//
//	engine.go, load.go   weights: packed, in place, converted (head.go), tried (trial.go)
//	stream.go            one text: buffers, positions
//	operations.go        what a forward pass is written in
//	attention*.go        over keys and values in cache.go
//	delta.go             gated delta nets
//	vectors*.go, *.s     the arithmetic outside the products
//
// # Keys and values
//
// Keys and values in float32 and fp16 are decoded to float32, 32 positions at a
// time, for all queries that look at them, or in the products if those are few, and
// queries stay float32. So the rounding
// of keys and values is the error that such a cache has; over fp16 the exponentials of
// softmax are powers of two that are right to 4 parts in a million, which is a hundredth of it. Those in q8_0 are not
// decoded: a query is rounded as they are, to int8 with a scale for 32 numbers, which
// about doubles the error of scores, and the weights of values are rounded to int16,
// which adds next to none (attention_int8.go). Blocks of q4_0 are unpacked to q8_0's,
// which loses nothing.
//
// Several queries meet keys and values together: those of heads that share them,
// and in a prompt those of several columns, up to twelve in registers. A tile of
// 128 positions is gone through at a time, with the softmax of those before
// (attention.go). While a few queries meet what was decoded, what comes next is
// fetched.
//
// # The same bits
//
// Results do not depend on the number of threads, the batch size, the
// instruction set, or on how far packing is, as long as the activation scheme
// is the same. The matrix products are equal to the bit (package kernels); what
// is added outside them is added in one order, written down in package vectors and in
// attention_scalar.go, which the assembly follows. Attention multiplies and adds
// with one rounding, which every processor that has vectors does alike, and
// math32.FMA where there are none. Sums that decide accuracy, those of norms and
// of softmax, are float64; over fp16 and int8, those of softmax within a tile are float32.
//
// # Memory
//
// Packed matrices lie one after the other in huge pages; alone, most would be
// too small for one, which costs a sixth of the speed of decoding. A weight
// that is converted replaces its old form, which is released as it is read.
package cpu
