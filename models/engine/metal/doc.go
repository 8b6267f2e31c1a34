// Package metal is the engine of models on an Apple GPU: the shaders of package
// metal/shaders, run by package metal.
//
//	engine.go, load.go   weights: in place, packed, converted
//	kernels.go           what multiplies them, by format, layout and GPU
//	stream.go            one text: buffers, positions
//	queue.go             operations to command buffers
//	operations.go        what a forward pass is written in
//	states.go            keys and values, gated delta nets
//
// # Where things are
//
// Weights, activations and what blocks keep of a text lie in memory that processor
// and GPU share. Of a mapped file, weights are used in place where their layout in
// the file is one that the GPU multiplies. Rows of the embedding are decoded by
// the processor, and so the table never is on the GPU; nothing else is computed
// there between a token and its logits.
//
// # Command buffers
//
// Operations are encoded one after the other into one command buffer, which is
// committed when the batch ends, when a value is read, or before it holds more
// than Options.Work multiply-adds: a GPU that works on one for seconds is stopped
// by the system. An operation of more is cut by columns. At most four are committed
// and not done, so that a long prompt can be given up. With an observer, each
// operation has a command buffer of its own.
//
// # The same bits
//
// Results do not depend on the batch, on the observer, or on where commands are
// cut. They differ from those of package engine/cpu in the last bits: matvec_rows
// adds as package kernels does, other kernels and attention in another order.
//
// # Errors
//
// The first error of a stream stays: what follows is not computed, and Read returns
// it, until Truncate goes back to tokens that were done before it.
package metal
