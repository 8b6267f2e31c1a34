package engine

import (
	"cmp"

	"onebit/formats"
	"onebit/models/arch"
)

// A Stream is one text on an engine: the state of every block after the tokens
// so far, and the operations that take it further. It belongs to one goroutine
// at a time.
//
// Operations may queue. They are done in the order of their calls, and what
// they read is what earlier ones wrote. Read, and Top, are where values reach
// the host: they wait, and their error is that of any operation before them.
//
// The first argument of an operation is its name, for [Observer]s.
type Stream interface {
	// Buffer makes room for columns of so many values each, for as long as the
	// stream lives. How many columns it holds is up to the operation that
	// writes it.
	Buffer(width int) Buffer

	// Begin starts a batch of n columns: the tokens at Position and behind.
	Begin(n int)
	// Enter says which block the operations that follow belong to, whose state
	// they use; or Outside.
	Enter(block int)
	// End counts the batch's tokens as taken in.
	End()

	// Embed writes the rows ids of a table, as many as the batch has columns.
	Embed(op string, dst Buffer, table Weight, ids []int)
	// Norm is RMSNorm (Zhang and Sennrich, arXiv:1910.07467, equation 4) of
	// every run of as many values as the gain has, the mean in float64 or
	// better. dst may be x:
	//
	//	y = x / √(mean(x²) + ε) · gain
	Norm(op string, dst, x Buffer, gain Weight, eps float32)
	// Multiply is dst = W·x for several weights of the same input. The slice is
	// the caller's again when Multiply returns.
	Multiply(op string, x Buffer, products []Product)
	// Hadamard writes x in the basis that some weights are stored in, or back.
	// dst may be x unless the rotation has an order.
	Hadamard(op string, dst, x Buffer, r *Rotation)
	// Select makes dst of parts of x: of every stride values of a column those
	// in [from, from+run). dst is not x.
	Select(op string, dst, x Buffer, from, run, stride int)
	// Normalize divides every run of so many values by its length, in place,
	// and multiplies it with scale:
	//
	//	x ← x / √(Σx² + ε) · scale
	Normalize(op string, x Buffer, run int, eps, scale float32)
	// Rotate turns every head of queries and of keys by the rotary embedding of
	// its column's position (Su et al., arXiv:2104.09864): pair i is
	// (x[i], x[i+n]), n the number of frequencies, unless pairs are adjacent.
	// Values of a head behind the pairs stay.
	Rotate(op string, q, k Buffer)
	// Attend adds the batch's keys and values to the state of the block, a KV,
	// and answers each column's queries from all positions up to its own, or the last
	// of them where the KV has a window:
	// softmax(q·Kᵀ/√d)·V, consecutive query heads sharing a key head.
	Attend(op string, dst, q, k, v Buffer)
	// Convolve replaces every channel of x by the sum of its last Taps values
	// before and with it, each times a tap, activated by SiLU. The block's
	// state, a Delta, has those before the batch. taps is Channels × Taps, the
	// latest last.
	Convolve(op string, x Buffer, taps Weight)
	// DeltaRule updates the block's state, a Delta, by each column in turn, and
	// answers its query (Yang et al., Gated Delta Networks, arXiv:2412.06464,
	// equation 10):
	//
	//	S ← decay·S;  S ← S + β·k ⊗ (v - Sᵀk);  y = Sᵀq
	//
	// decay and beta have a value for each value head. Value heads in a row
	// share a key head, or those a number of key heads apart: see Delta.
	DeltaRule(op string, dst, q, k, v, decay, beta Buffer)
	// DeltaGates makes what DeltaRule takes of what a block has multiplied, in
	// place; rate and bias have a value for each value head:
	//
	//	decay ← exp(rate · ln(1 + exp(decay + bias)));  beta ← σ(beta)
	DeltaGates(op string, decay, beta Buffer, rate, bias Weight)
	// Gate is gate = f(gate)·up, in place.
	Gate(op string, gate, up Buffer, f arch.Activation)
	// Clamp brings every value of x between two, in place.
	Clamp(op string, x Buffer, least, most float32)
	// Route chooses experts for each column by its logits, a value for each expert:
	// those with the largest, of equals the first. dst has 2·r.Used values: their
	// numbers, the largest logit's first, and then their weights. Of columns with logits
	// that are not finite, weights are NaN.
	Route(op string, dst, logits Buffer, r Routing)
	// MultiplyExperts is Multiply with the matrices of the experts that a column has
	// chosen, as Route wrote them: dst has their results one behind the other. x is
	// what all experts of a column get, or what each gets, one behind the other.
	MultiplyExperts(op string, x, chosen Buffer, products []Product)
	// Combine is the sum of experts' results, one behind the other in x, each times its
	// weight.
	Combine(op string, dst, x, chosen Buffer)
	// Add is x += y.
	Add(op string, x, y Buffer)
	// Scale is x ← x·by, in place.
	Scale(op string, x Buffer, by float32)
	// Take copies columns [from, end) of x, for operations on those alone.
	Take(dst, x Buffer, from, end int)

	// Read returns what is in a buffer, columns × width values, valid until the
	// next operation that writes it.
	Read(b Buffer) ([]float32, error)
	// Top is Read of the k largest values of a buffer with one column, in the
	// order of the function Top. They are valid until the next Top.
	Top(b Buffer, k int) ([]Ranked, error)
	// Write makes a buffer one of these values: whole columns.
	Write(b Buffer, values []float32)

	// Position returns the number of tokens taken in.
	Position() int
	// Mark remembers the state at Position, between two batches, in place of what
	// it remembered before, so that Truncate can go back there where states have
	// no positions. That costs a copy of those.
	Mark() error
	// Truncate forgets all tokens but the first n, or says that it can't.
	Truncate(n int) error

	// StateBytes returns the size of the state after so many tokens.
	StateBytes(tokens int) int
	// Observe makes o see the operations from now on; nil ends it.
	Observe(o Observer)

	Close() error
}

// A Buffer is columns of values on an engine's device.
type Buffer interface {
	// Width returns the number of values in a column.
	Width() int
}

// A Product is a matrix and where its result goes.
type Product struct {
	Weight Weight
	Dst    Buffer
}

// StreamOptions say what a stream is to hold.
type StreamOptions struct {
	// States are what the blocks keep of the text, one for each block.
	States []State
	// Context is the most tokens, Batch the columns that a batch usually has
	// at most.
	Context, Batch int
	// Cache is the format of keys and values.
	Cache *formats.Type
	Rope  Rope
}

// A State is what a block keeps of a text: a KV or a Delta.
type State interface{ isState() }

// A KV keeps keys and values of every token, and can be rolled back to any; or, with a
// window, of the last ones.
type KV struct {
	Heads, Dim int
	Window     int // how many positions a token looks at, its own included; 0: all
}

// A Routing is how a router's logits choose experts and weigh them.
type Routing struct {
	Used       int     // experts that a token gets
	Sigmoid    bool    // weights are the logits' sigmoids, and not their softmax over all experts
	Normalized bool    // weights are divided by the sum of those chosen
	Scale      float32 // weights are multiplied with it; 0: with nothing
}

// Factor returns what weights are multiplied with.
func (r Routing) Factor() float32 { return cmp.Or(r.Scale, 1) }

// A Delta keeps what gated delta nets do: a matrix for each value head, and the
// last inputs of a convolution. It has no positions to roll back to but the
// start and the one that was marked.
type Delta struct {
	KeyHeads, ValueHeads int // the second a multiple of the first
	KeyDim, ValueDim     int
	Channels, Taps       int // of the convolution; 0: there is none
	// Tiled says that value head h goes with key head h mod KeyHeads, and not,
	// as grouped ones do, with h / (ValueHeads/KeyHeads).
	Tiled bool
}

// KeyHead returns the key head that a value head goes with.
func (d Delta) KeyHead(valueHead int) int {
	if d.Tiled {
		return valueHead % d.KeyHeads
	}
	return valueHead / (d.ValueHeads / d.KeyHeads)
}

func (KV) isState()    {}
func (Delta) isState() {}

// A Rope is a table of the rotary embedding: at position p, pair i of a head is
// rotated by the angle p·Freq[i], and multiplied by Magnitude.
type Rope struct {
	Freq      []float64 // at most half as many as a head is wide
	Magnitude float64
	Head      int // width of a head; 0: twice as many as there are frequencies
	// Adjacent says that pair i is (x[2i], x[2i+1]).
	Adjacent bool
}

// HeadDim returns the width of a head.
func (r Rope) HeadDim() int { return max(r.Head, 2*len(r.Freq)) }
