package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"onebit/bench"
	"onebit/bench/names"
	"onebit/bench/results"
	"onebit/internal/clock"
	"onebit/models"
	"onebit/models/tokenizer"
)

// realTexts are what tests of drafts go on from: how often those are right depends
// on what is said.
var realTexts = []struct{ name, text string }{{"code", codeText}, {"docs", docsText}, {"prose", lockstepText}}

// addSpeculation adds tg tests that go on from real texts, without drafts and with,
// to a group of tg tests. A random model says nothing that drafts could be judged by.
func (s *Suite) addSpeculation(store *store, c modelConfig, t names.ModelTest, group string) {
	sub := c.subject
	if sub.opt.Drafts == 0 || t.Depth > 0 {
		return
	}
	if sub.Synthetic || sub.recurrent {
		store.warn(fmt.Sprintf("drafts are not measured with %s: its weights are random, or its state cannot go back", sub.Name))
		return
	}
	for _, text := range realTexts {
		for _, drafts := range []int{0, sub.opt.Drafts} {
			name := c.caseOf(t)
			name.Text, name.Drafts = text.name, drafts
			s.Cases = append(s.Cases, bench.Case{
				Name: name.String(), Group: group, Single: true, Rates: []results.Metric{{Unit: results.TokenRate, Value: float64(t.Tokens)}},
				Expect: c.expect(t), Check: store.limits.check(c.threads),
				Setup: func(ctx context.Context) (bench.Instance, error) {
					return newSpeculation(ctx, store, c, t, text.text, drafts)
				},
			})
		}
	}
}

// A speculation is a case of addSpeculation that is set up. An operation decodes
// greedily from the text's end.
type speculation struct {
	*text
	prompt  []int
	drafts  int // 0: none
	elapsed time.Duration
}

func newSpeculation(ctx context.Context, store *store, c modelConfig, t names.ModelTest, text string, drafts int) (*speculation, error) {
	prompt, err := c.subject.encode(text)
	if err != nil {
		return nil, err
	}
	prompt = prompt[:min(len(prompt), c.subject.config.Context-t.Tokens)]
	if len(prompt) == 0 {
		return nil, &ContextError{c.subject.Name, c.subject.config.Context, t.Tokens + 1, t.String()}
	}
	x, err := newText(ctx, store, c, t, len(prompt)+t.Tokens)
	if err != nil {
		return nil, err
	}
	return &speculation{text: x, prompt: prompt, drafts: drafts}, nil
}

// Verify holds the model to the generic path and, with drafts, the text to the one
// without. It tells what became of the drafts.
func (x *speculation) Verify(ctx context.Context) ([]results.Metric, error) {
	if err := x.model.verify(ctx, x.opening, x.store, x.session); err != nil {
		return nil, err
	}
	if err := x.session.Truncate(0); err != nil {
		return nil, err
	}
	if _, err := x.session.Prefill(ctx, x.prompt); err != nil {
		return nil, err
	}
	want, err := x.decode(ctx, nil)
	if err != nil || x.drafts == 0 {
		return nil, err
	}
	drafts := x.speculator()
	got, err := x.decode(ctx, drafts)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(got, want) {
		return nil, fmt.Errorf("with drafts the text is %v, without %v", got, want)
	}
	s := drafts.Stats()
	out := []results.Metric{{Unit: results.PassTokens, Value: float64(s.Tokens) / float64(s.Passes)}}
	if s.Drafted > 0 {
		out = append(out, results.Metric{Unit: results.Accepted, Value: float64(s.Accepted) / float64(s.Drafted)})
	}
	return out, nil
}

// speculator returns one that knows the prompt but for its last token.
func (x *speculation) speculator() *models.Speculator {
	if x.drafts == 0 {
		return nil
	}
	p := models.NewSpeculator(x.drafts)
	p.Accept(x.prompt[:len(x.prompt)-1]...)
	return p
}

// decode returns the tokens behind the prompt.
func (x *speculation) decode(ctx context.Context, drafts *models.Speculator) (out []int, err error) {
	last := len(x.prompt) - 1
	if err := x.session.Truncate(last); err != nil {
		return nil, err
	}
	sampler, err := models.NewSampler(models.SamplerOptions{})
	if err != nil {
		return nil, err
	}
	ids := x.session.Generate(ctx, x.prompt[last:], sampler)
	if drafts != nil {
		ids = x.session.Speculate(ctx, x.prompt[last:], sampler, drafts)
	}
	for id, err := range ids {
		if err != nil {
			return nil, err
		}
		if out = append(out, id); len(out) == x.Tokens {
			break
		}
	}
	return out, nil
}

func (x *speculation) Run(ctx context.Context, n int) error {
	x.elapsed = 0
	for range n {
		drafts := x.speculator()
		start := clock.Now()
		if _, err := x.decode(ctx, drafts); err != nil {
			return err
		}
		x.elapsed += clock.Since(start)
	}
	return nil
}

// Elapsed is without the time in which a Speculator learns the prompt.
func (x *speculation) Elapsed() time.Duration { return x.elapsed }

// encode returns a text in the model's tokens.
func (sub *subject) encode(text string) ([]int, error) {
	src, err := sub.opt.open(sub.Path)
	if err != nil {
		return nil, err
	}
	t, err := src.Tokenizer()
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return t.Encode(text, tokenizer.Options{AddSpecial: true}), src.Close()
}

// codeText is Go, of the kind that says the same of several types.
const codeText = `// A Circle is a Shape with a center and a radius.
type Circle struct {
	Center Point
	Radius float64
}

// Area returns the area of the circle.
func (c *Circle) Area() float64 {
	return math.Pi * c.Radius * c.Radius
}

// Scale returns the circle, scaled by a factor.
func (c *Circle) Scale(factor float64) *Circle {
	if factor < 0 {
		return nil
	}
	return &Circle{Center: c.Center, Radius: c.Radius * factor}
}

// A Square is a Shape with a center and a side.
type Square struct {
	Center Point
	Side   float64
}

// Area returns the area of the square.
func (s *Square) Area() float64 {
	return`

// docsText is documentation as go doc prints it.
const docsText = `func (q *Queue) Push(item Item) error
    Push appends an item to the queue. It returns an error if the queue is
    closed.

func (q *Queue) Pop() (item Item, err error)
    Pop removes the first item from the queue and returns it. It returns an
    error if the queue is closed or empty.

func (q *Queue) Peek() (item Item, err error)
    Peek returns the first item of the queue and leaves it there. It returns an
    error if the queue is closed or empty.

func (q *Queue) Len() int
    Len returns the number of items in the queue.

func (q *Queue) Close() error
    Close`
