package models

import (
	"time"

	"onebit/internal/clock"
)

// An Observer sees every operation of a session after it has run, on the
// goroutine that runs the session.
type Observer interface {
	Observe(Op)
}

// Outside is the Block of operations outside the transformer blocks.
const Outside = -1

// An Op is one operation of a forward pass over a batch of tokens.
type Op struct {
	Name   string // such as attn_qkv: what the code of the architecture calls it
	Block  int    // the transformer block, or Outside
	Tokens int    // columns in the batch
	// Bytes is what had to be read from memory: weights, or the KV cache.
	Bytes int
	// Moved is the bytes of activations that were read and written beside
	// that, which caches hold.
	Moved int
	// MACs is the multiplications of weights, keys and values with
	// activations, each with an addition.
	MACs     int
	Start    time.Time
	Duration time.Duration
	// Results are what it computed, gone when Observe returns. They are the
	// session's own: it goes on with what an observer writes to them.
	Results []Result
}

// A Result is Tokens × width values, token after token.
type Result struct {
	Name   string // a tensor's or the operation's
	Values []float32
}

// begin returns when an operation starts. Without an observer it costs a
// comparison.
func (s *Session) begin() (start time.Time) {
	if s.observer != nil {
		start = s.observed.Add(clock.Since(s.observed)) // half as dear as Now
	}
	return start
}

// Observe makes o see the operations from now on; nil ends it.
func (s *Session) Observe(o Observer) { s.observer, s.observed = o, clock.Now() }

// work is what an operation reads, moves and computes; see Op.
type work struct{ bytes, moved, macs int }

// end reports an operation with one result.
func (s *Session) end(start time.Time, name string, w work, values []float32) {
	if s.observer != nil {
		s.report(start, name, w, append(s.results[:0], Result{name, values}))
	}
}

func (s *Session) report(start time.Time, name string, w work, results []Result) {
	s.observer.Observe(Op{
		Name: name, Block: s.block, Tokens: s.n, Bytes: w.bytes, Moved: w.moved, MACs: w.macs,
		Start: start, Duration: clock.Since(start), Results: results,
	})
	s.results = results[:0]
}

// floatBytes is the size of so many.
func floatBytes(n ...int) (bytes int) {
	for _, n := range n {
		bytes += 4 * n
	}
	return bytes
}
