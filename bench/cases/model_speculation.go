package cases

import (
	"context"
	_ "embed"
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
// on what is said. code is Go, of the kind that says the same of several types; docs
// is documentation as go doc prints it.
var realTexts = []struct{ name, text string }{{"code", codeText}, {"docs", docsText}, {"prose", lockstepText}}

var (
	//go:embed texts/code
	codeText string
	//go:embed texts/docs
	docsText string
	// lockstepText is Lincoln's address at Gettysburg (1863, the Bliss copy): a
	// short English text that every model has seen.
	//go:embed texts/prose
	lockstepText string
)

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
			cs, name := textCase(store, c, t, group), c.caseOf(t)
			name.Text, name.Drafts = text.name, drafts
			cs.Name, cs.Single, cs.Bytes = name.String(), true, 0
			cs.Setup = func(ctx context.Context) (bench.Instance, error) {
				return newSpeculation(ctx, store, c, t, text.text, drafts)
			}
			s.Cases = append(s.Cases, cs)
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
