package models

import (
	"context"
	"fmt"
	"iter"
)

// Speculate is [Session.Generate], to the token, that takes in several tokens a
// pass where the text repeats itself: p drafts how it goes on, and one pass over
// the draft gives the logits after each of its tokens. The sampler draws from
// those as it would without a draft, and the draft holds for as long as it is what
// was drawn. That is the rejection rule of speculative sampling (Leviathan et al.,
// arXiv:2211.17192, algorithm 1) of a draft whose tokens are certain: t is accepted
// with the probability p(t) that the model gives it, and else comes one of the
// others, with theirs. Greedy or drawn, the text is that of Generate with the same
// options and seed.
//
// How long drafts are follows from what passes take and from how often the text goes
// on as it did before, which tokens show without a draft too. The error wraps
// [ErrNoRollback] if the model is recurrent, for its state keeps what it has taken
// in.
func (s *Session) Speculate(ctx context.Context, prompt []int, sampler *Sampler, p *Speculator) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		if s.model.Recurrent() {
			yield(0, fmt.Errorf("%s: drafts cannot be taken back: %w", s.model.source.Name(), ErrNoRollback))
			return
		}
		sampler.Accept(prompt...)
		p.Accept(prompt...)
		id, err := s.next(ctx, prompt, sampler)
		if err != nil {
			yield(0, err)
			return
		}
		sampler.Accept(id)
		p.Accept(id)
		for more := yield(id, nil); more; {
			more = s.speculate(ctx, sampler, p, yield)
		}
	}
}

// speculate yields the tokens of one pass, and returns whether more are wanted.
func (s *Session) speculate(ctx context.Context, sampler *Sampler, p *Speculator, yield func(int, error) bool) (more bool) {
	start := s.Position()
	batch := p.propose(s.context - start - 1)
	begin := p.now()
	logits, err := s.verify(ctx, batch)
	if err != nil {
		yield(0, err)
		return false
	}
	p.passed(batch, p.now().Sub(begin).Seconds())
	kept, more := 0, true
	for right := true; more && right; {
		id, err := s.draw(sampler, logits[kept*s.model.Config.Vocab:][:s.model.Config.Vocab])
		kept++
		if err != nil {
			yield(0, err)
			more = false
			break
		}
		right = kept < len(batch) && id == batch[kept]
		sampler.Accept(id)
		p.took(id)
		more = yield(id, nil)
	}
	p.judged(batch, kept-1)
	if err := s.stream.Truncate(start + kept); err != nil {
		yield(0, err)
		return false
	}
	return more
}

// verify takes in tokens and returns the logits after each.
func (s *Session) verify(ctx context.Context, ids []int) (logits []float32, err error) {
	err = s.rollingBack(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.through(ids); err != nil {
			return err
		}
		logits, err = s.columnLogits(0, s.n)
		if err == nil {
			s.stream.End()
		}
		return err
	})
	return logits, err
}

// draw samples a token, of which the error names the file.
func (s *Session) draw(sampler *Sampler, logits []float32) (int, error) {
	id, err := sampler.Sample(logits)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.model.source.Name(), err)
	}
	return id, err
}
