package engine

import "time"

// An Observer sees every operation of a stream once it has run.
type Observer interface {
	Observe(Op)
}

// A TimeObserver is an Observer of times alone. An engine whose operations queue may run
// them as without an observer, and show each when it is done: its Results have names only.
type TimeObserver interface {
	Observer
	TimesOnly()
}

// Outside is the Block of operations outside the transformer blocks.
const Outside = -1

// An Op is one operation of a forward pass over a batch of tokens.
type Op struct {
	Name   string // such as attn_qkv: what the code of the architecture calls it
	Block  int    // the transformer block, or Outside
	Tokens int    // columns
	// Bytes is what had to be read from memory: weights, or the state.
	Bytes int
	// Moved is the bytes of activations that were read and written beside
	// that, which caches hold.
	Moved int
	// MACs is the multiplications of weights, keys and values with
	// activations, each with an addition.
	MACs int
	// Int8 says that multiplications without weights, those of attention, are of
	// integers.
	Int8     bool
	Start    time.Time
	Duration time.Duration // on the device, where that tells
	// Results are what it computed, gone when Observe returns. They are the
	// stream's own: it goes on with what an observer writes to them.
	Results []Result
}

// A Result is Tokens × width values, token after token.
type Result struct {
	Name   string // a tensor's or the operation's
	Values []float32
}
