package perplexity

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

// A Session predicts tokens; *models.Session is one.
type Session interface {
	// Truncate forgets all tokens but the first n.
	Truncate(n int)
	// Prefill takes in tokens.
	Prefill(ids []int) ([]float32, error)
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

// A Mean is a mean of values so far, with its standard error.
type Mean struct {
	n             int
	mean, squares float64 // sum of squared deviations (Welford 1962)
}

func (m *Mean) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.squares += d * (x - m.mean)
}

// Value returns the mean, or 0 of no values.
func (m Mean) Value() float64 { return m.mean }

// StdErr returns the standard error of the mean, or 0 of less than two values.
func (m Mean) StdErr() float64 {
	if m.n < 2 {
		return 0
	}
	return math.Sqrt(m.squares / float64(m.n) / float64(m.n-1))
}

// An Estimate is what the windows so far say.
type Estimate struct {
	Windows int
	Tokens  int  // scored
	NLL     Mean // negative log-likelihood per token, in nats

	// These are of Compare only.
	KLD     Mean // divergence of the reference's distribution from the session's, in nats
	NLLDiff Mean // NLL less the reference's: the logarithm of the ratio of perplexities
	SameTop Mean // share of tokens for which both have the same likeliest one
	MaxKLD  float64
}

// PPL returns the perplexity and its standard error.
func (e Estimate) PPL() (ppl, stdErr float64) {
	ppl = math.Exp(e.NLL.Value())
	return ppl, ppl * e.NLL.StdErr()
}

// Evaluate scores a text and yields the estimate after each window; the last
// one is the result. An error ends it.
func (p Protocol) Evaluate(ctx context.Context, s Session, ids []int) iter.Seq2[Estimate, error] {
	return p.Compare(ctx, s, nil, ids)
}

// Compare is Evaluate that runs a reference beside the session. A nil
// reference is none.
func (p Protocol) Compare(ctx context.Context, s, reference Session, ids []int) iter.Seq2[Estimate, error] {
	return func(yield func(Estimate, error) bool) {
		var e Estimate
		if err := p.checkText(ids); err != nil {
			yield(e, err)
			return
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
		if err := e.add(z, expected, targets[0]); err != nil {
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
	s.Truncate(0)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if first > 0 {
		if _, err := s.Prefill(window[:first]); err != nil {
			return nil, err
		}
	}
	return s.Logits(window[first : len(window)-1]), nil
}

var errNotFinite = errors.New("the logits are not finite: the model's arithmetic overflowed or its weights are damaged")

// add scores a token by the logits for it, and by the reference's if there are
// any.
func (e *Estimate) add(z, reference []float32, target int) error {
	if target < 0 || target >= len(z) {
		return fmt.Errorf("token %d is not in the model's vocabulary of %d", target, len(z))
	}
	norm, top := logSumExp(z)
	nll := norm - float64(z[target])
	if reference != nil {
		if len(reference) != len(z) {
			return fmt.Errorf("the reference has %d tokens and the model %d", len(reference), len(z))
		}
		referenceNorm, referenceTop := logSumExp(reference)
		kld := divergence(reference, referenceNorm, z, norm)
		if !finite(kld) {
			return errNotFinite
		}
		e.KLD.add(kld)
		e.MaxKLD = max(e.MaxKLD, kld)
		e.NLLDiff.add(nll - (referenceNorm - float64(reference[target])))
		same := 0.0
		if top == referenceTop {
			same = 1
		}
		e.SameTop.add(same)
	}
	if !finite(nll) {
		return errNotFinite
	}
	e.NLL.add(nll)
	e.Tokens++
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// logSumExp returns ln Σ exp z, and the likeliest token, of equals the first.
func logSumExp(z []float32) (norm float64, top int) {
	for i, x := range z {
		if x > z[top] {
			top = i
		}
	}
	var sum float64
	for _, x := range z {
		sum += math.Exp(float64(x) - float64(z[top]))
	}
	return float64(z[top]) + math.Log(sum), top
}

// divergence returns Σ p ln(p/q), where ln p = y - yNorm and ln q = z - zNorm.
// Rounding may leave it a little below 0.
func divergence(y []float32, yNorm float64, z []float32, zNorm float64) float64 {
	var sum float64
	for i, x := range y {
		p := float64(x) - yNorm
		sum += math.Exp(p) * (p - (float64(z[i]) - zNorm))
	}
	return sum
}
