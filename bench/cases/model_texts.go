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
	"onebit/bench/roofline"
	"onebit/models"
)

// addTogether adds the cases of several texts that are decoded together, to a
// group of tg tests. The best variant of each packing has them.
func (s *Suite) addTogether(store *store, c modelConfig, t names.ModelTest, group, ceiling string) {
	for _, n := range c.subject.opt.Parallel {
		cs, name := textCase(store, c, t, group), c.caseOf(t)
		name.Texts = n
		cs.Name, cs.Single, cs.Roof = name.String(), true, ceiling
		cs.Bytes, cs.Rates = c.bytesTogether(t, n), []results.Metric{{Unit: results.TokenRate, Value: float64(n * t.Tokens)}}
		cs.Expect = cs.Expect * time.Duration(8+n) / 8
		cs.Setup = func(ctx context.Context) (bench.Instance, error) { return newTexts(ctx, store, c, t, n) }
		s.Cases = append(s.Cases, cs)
	}
}

// bytesTogether is what n texts' tg test reads: the weights once a pass, and each
// text's keys and values. Text i holds i tokens more than the test says.
func (c modelConfig) bytesTogether(t names.ModelTest, n int) int64 {
	cached := n*t.Tokens*t.Depth + t.Tokens*n*(n-1)/2 + n*t.Tokens*(t.Tokens+1)/2
	return int64(t.Tokens)*int64(c.weightBytes()+n*c.subject.stateTraffic()) + int64(cached)*int64(c.subject.kvBytes)
}

// texts are a case of addTogether that is set up.
type texts struct {
	modelConfig
	names.ModelTest
	store    *store
	model    *opened
	group    *models.Group
	sessions []*models.Session
	next     []int // tokens of a pass
	ids      []int
	*roofline.RoundTrip
}

func newTexts(ctx context.Context, store *store, c modelConfig, t names.ModelTest, n int) (*texts, error) {
	m, err := store.open(ctx, c)
	if err != nil {
		return nil, err
	}
	x := &texts{modelConfig: c, ModelTest: t, store: store, model: m, next: make([]int, n), RoundTrip: roofline.NewRoundTrip(store.pool(c.threads))}
	if x.group, err = m.NewGroup(); err != nil {
		return nil, err
	}
	for i := range n {
		s, err := c.subject.session(m.Model, max(x.before(i)+t.Tokens, c.verifyTokens()))
		if err != nil {
			return nil, errors.Join(err, x.Close())
		}
		x.sessions = append(x.sessions, s)
	}
	x.ids = tokens(c.subject, x.before(n)+n*t.Tokens)
	return x, nil
}

// before returns how many tokens text i holds before the test.
func (x *texts) before(i int) int { return x.Depth + i }

// pass returns the tokens of a pass, one for each text.
func (x *texts) pass(k int) []int {
	copy(x.next, x.ids[k*len(x.next):])
	return x.next
}

// Verify holds the model to the generic path and each text, after one pass
// together, to what it is alone.
func (x *texts) Verify(ctx context.Context) ([]results.Metric, error) {
	if err := x.model.verify(ctx, x.modelConfig, x.store, x.sessions[0]); err != nil {
		return nil, err
	}
	var alone [][]float32
	for i, s := range x.sessions {
		if err := fill(ctx, names.ModelTest{Depth: x.before(i)}, s, x.ids); err != nil {
			return nil, err
		}
		logits, err := s.Decode(x.pass(0)[i])
		if err != nil {
			return nil, err
		}
		alone = append(alone, slices.Clone(logits))
	}
	if err := x.goBack(); err != nil {
		return nil, err
	}
	together, err := x.group.Decode(x.sessions, x.pass(0))
	if err != nil {
		return nil, err
	}
	for i := range alone {
		if err := sameBits(together[i], alone[i]); err != nil {
			return nil, fmt.Errorf("of %d texts together, text %d: %w of the text alone", len(alone), i+1, err)
		}
	}
	return nil, ctx.Err()
}

func (x *texts) goBack() error {
	for i, s := range x.sessions {
		if err := s.Truncate(x.before(i)); err != nil {
			return err
		}
	}
	return nil
}

func (x *texts) Run(ctx context.Context, n int) error {
	for range n {
		if err := x.goBack(); err != nil {
			return err
		}
		for k := range x.Tokens {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := x.group.Decode(x.sessions, x.pass(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *texts) Close() error {
	errs := []error{x.group.Close()}
	for _, s := range x.sessions {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
