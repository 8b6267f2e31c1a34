// Package metal is the engine of models on an Apple GPU: the shaders of package
// metal/shaders, run by package metal.
//
//	engine.go, load.go   weights: in place, packed, converted
//	kernels.go           the variant of shaders that multiplies each
//	activations.go       what a variant multiplies them with
//	stream.go            one text: buffers, positions
//	queue.go             operations to command buffers
//	operations.go        what a forward pass is written in
//	attention.go         looking back, in parts where a text is long
//	states.go            keys and values, gated delta nets
//
// # Where things are
//
// Weights, activations and what blocks keep of a text lie in memory that processor
// and GPU share. Weights that are multiplied as they lie in a mapped file are used
// there; others are packed by all processors when they are loaded. Rows of the
// embedding are decoded by the processor, and so the table never is on the GPU;
// nothing else is computed there between a token and the next.
//
// # Command buffers
//
// Operations are encoded one after the other into one command buffer, which is
// committed when the batch ends, when a value is read, or before it holds more
// than Options.Work multiply-adds: a GPU that works on one for seconds is stopped
// by the system. Its dispatches may run at the same time, but for what one writes and
// another uses: the queue knows which arguments are written, and puts barriers there.
// An operation of more is cut by columns. At most four are committed
// and not done, so that a long prompt can be given up. With an observer, each
// operation has a command buffer of its own.
//
// # The same bits
//
// Results do not depend on the batch, on the observer, or on where commands are
// cut. Products are those of package kernels to the bit, unless a variant is asked
// for that adds in another order; norms and attention differ from package
// engine/cpu's in the last bits.
//
// # Errors
//
// The first error of a stream stays: what follows is not computed, and Read returns
// it, until Truncate goes back to tokens that were done before it.
package metal
