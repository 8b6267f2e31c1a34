package perplexity

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// A Session predicts tokens; *models.Session is one.
type Session interface {
	// Truncate forgets all tokens but the first n, or says that it can't.
	Truncate(n int) error
	// Prefill takes in tokens.
	Prefill(ctx context.Context, ids []int) ([]float32, error)
	// Logits takes in tokens and yields, for each, the logits of the one to
	// follow it, valid until the next.
	Logits(ids []int) iter.Seq2[[]float32, error]
}

// A Protocol says which tokens are scored and what comes before them.
type Protocol struct {
	Context int // tokens in a window, before what Stride adds
	Stride  int // between windows; 0: they do not overlap
	BOS     int // takes the place of every window's first token; -1: none
}

// Window returns the number of tokens in a window: the context that a session
// must have room for.
func (p Protocol) Window() int { return p.Context + p.Stride/2 }

// Scored returns how many tokens of a window are scored: its last ones.
func (p Protocol) Scored() int {
	if p.Stride > 0 {
		return p.Stride
	}
	return p.Context - p.Context/2 - 1
}

// Windows returns how many windows a text of that many tokens has.
func (p Protocol) Windows(tokens int) int {
	if p.Stride == 0 {
		return tokens / p.Context
	}
	return (max(0, tokens-p.Window()) + p.Stride - 1) / p.Stride
}

// Validate reports numbers that make no protocol.
func (p Protocol) Validate() error {
	switch {
	case p.Context < 4 || p.Context > 1<<24:
		return fmt.Errorf("a context of %d tokens is not between 4 and %d", p.Context, 1<<24)
	case p.Stride < 0 || p.Stride >= p.Context:
		return fmt.Errorf("a stride of %d tokens is not between 0 and the context of %d", p.Stride, p.Context)
	}
	return nil
}

// String names the protocol in words.
func (p Protocol) String() string {
	bos := "as they are"
	if p.BOS >= 0 {
		bos = "beginning with BOS"
	}
	if p.Stride == 0 {
		return fmt.Sprintf("windows of %d tokens that do not overlap, %s, the last %d of each scored (llama.cpp's default)",
			p.Window(), bos, p.Scored())
	}
	return fmt.Sprintf("windows of %d tokens every %d, %s, the last %d of each scored (llama.cpp's --ppl-stride %d with a context of %d)",
		p.Window(), p.Stride, bos, p.Scored(), p.Stride, p.Context)
}

// Evaluate scores a text and yields the estimate after each window; the last
// one is the result. An error ends it.
func (p Protocol) Evaluate(ctx context.Context, s Session, ids []int) iter.Seq2[Estimate, error] {
	return p.Compare(ctx, s, nil, ids)
}

// Compare is Evaluate that runs a reference beside the session. It may be a
// *LogitReader of the same text and protocol. A nil reference is none.
func (p Protocol) Compare(ctx context.Context, s, reference Session, ids []int) iter.Seq2[Estimate, error] {
	return func(yield func(Estimate, error) bool) {
		var e Estimate
		if err := p.checkText(ids); err != nil {
			yield(e, err)
			return
		}
		if f, ok := reference.(*LogitReader); ok {
			if err := f.accepts(p, ids); err != nil {
				yield(e, err)
				return
			}
		}
		window := make([]int, p.Window())
		every := p.Stride
		if every == 0 {
			every = p.Context
		}
		for i := range p.Windows(len(ids)) {
			copy(window, ids[i*every:])
			if p.BOS >= 0 {
				window[0] = p.BOS
			}
			if err := p.score(ctx, &e, s, reference, window); err != nil {
				yield(e, fmt.Errorf("window %d: %w", i+1, err))
				return
			}
			e.Windows++
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (p Protocol) checkText(ids []int) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.Windows(len(ids)) == 0 {
		least := p.Window()
		if p.Stride > 0 {
			least++
		}
		return fmt.Errorf("the text has %d tokens, and the protocol needs %d at least: use a smaller context or a longer text", len(ids), least)
	}
	return nil
}

// score adds a window to e.
func (p Protocol) score(ctx context.Context, e *Estimate, s, reference Session, window []int) error {
	logits, err := p.predictions(ctx, s, window)
	if err != nil {
		return err
	}
	next, stop := noReference, func() {}
	saved, _ := reference.(*LogitReader)
	if reference != nil {
		referenceLogits, err := p.predictions(ctx, reference, window)
		if err != nil {
			return fmt.Errorf("reference: %w", err)
		}
		next, stop = iter.Pull2(referenceLogits)
	}
	defer stop()
	targets := window[len(window)-p.Scored():]
	for z, err := range logits {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		expected, err, _ := next()
		if err != nil {
			return fmt.Errorf("reference: %w", err)
		}
		if err := e.add(z, expected, saved, targets[0]); err != nil {
			return err
		}
		targets = targets[1:]
	}
	return nil
}

func noReference() ([]float32, error, bool) { return nil, nil, false }

// predictions takes in a window up to the first scored token and returns the
// logits for each that is.
func (p Protocol) predictions(ctx context.Context, s Session, window []int) (iter.Seq2[[]float32, error], error) {
	first := len(window) - p.Scored() - 1
	if err := errors.Join(ctx.Err(), s.Truncate(0)); err != nil {
		return nil, err
	}
	if first > 0 {
		if _, err := s.Prefill(ctx, window[:first]); err != nil {
			return nil, err
		}
	}
	return s.Logits(window[first : len(window)-1]), nil
}
