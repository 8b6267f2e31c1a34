// Package train trains networks of ternary and 1-bit weights: layers with a
// forward and a backward pass, losses, optimizers and schedules, on the threads
// of a kernels.Pool.
//
// # Layers
//
// A [Layer] is a function with parameters. Forward takes rows and gives rows;
// Backward takes the loss's gradient for what Forward gave, adds each
// parameter's to [Param].Grad, and gives that for what Forward took. There is no
// tape: a layer keeps what its own backward pass needs, in buffers that it uses
// again. So x and the result of Forward must stay as they are until Backward, and
// a result is good until the next call. To apply the same parameters twice in
// one pass, take a second layer that shares them ([BitLinear.Tied]).
//
// Shapes go by one rule: a slice is rows × width, row by row, where rows is the
// product of all leading dimensions, whatever they are (batch, time, heads). A
// length that is no whole number of rows is the caller's mistake, and a panic.
//
// # Weights that are rounded
//
// A [BitLinear] keeps float32 weights W. It multiplies by Q(W), which a [Form]
// makes: ternary as in BitNet b1.58 or in NanoLogic
// (github.com/mohamedhossammohamed/NanoLogic), 1 bit per weight, or
// W itself. Activations are rounded too, by a [Rounding]:
//
//	y = Rx(x) · Q(W)ᵀ + bias
//
// Rounding has no slope, so backward is a straight-through estimator (Bengio et
// al., arXiv 1308.3432): it differentiates y as if Q and Rx were the identity
// plus a constant.
//
//	gradX    = g · Q(W)
//	gradBias = Σ g
//	gradW    = gᵀ · Rx(x)              Exact: d Q(W)/dW = 1
//	         = gᵀ · x / (γ + 1e-5)     InverseScale: NanoLogic's
//
// docs/training-gradients.md measures both forms of gradW, and why Exact is the
// default.
//
// # The same results everywhere
//
// First weights follow from a seed and each parameter's name. Each sum is made in
// an order that depends neither on the threads nor on the instruction set, so that
// results are the same to the bit for any number of them and on every CPU.
// Forward passes of 1024 rows or more, of a layer with a pool, multiply rounded
// weights by rounded activations as integers, which is more exact than floats:
// fewer rows, or no pool, give results that differ by float32's rounding.
package train
