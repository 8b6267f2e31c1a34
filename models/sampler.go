package models

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"onebit/internal/math32"
	"slices"
)

// SamplerOptions say how the next token is drawn from the logits. The zero
// value is greedy: the likeliest token, of equals the one with the lowest id.
//
// The steps and their order are those of llama.cpp: repetition penalty, top-k,
// top-p, min-p, and temperature last, so that the two cuts see the model's own
// probabilities.
type SamplerOptions struct {
	Temperature float64 // divides the logits; 0: greedy
	TopK        int     // keep the likeliest so many; 0: all
	// TopP keeps the fewest likeliest tokens that have this much of the
	// probability (Holtzman et al., arXiv:1904.09751); 0 or 1: all.
	TopP float64
	// MinP keeps tokens with this share of the likeliest one's probability
	// (Nguyen et al., arXiv:2407.01082); 0: all.
	MinP float64
	// RepetitionPenalty divides the positive and multiplies the negative
	// logits of the last RepetitionWindow tokens (Keskar et al.,
	// arXiv:1909.05858); 0 or 1: none. The window's 0 is 64.
	RepetitionPenalty float64
	RepetitionWindow  int
	Seed              uint64
}

const defaultWindow = 64

// A Sampler draws tokens. The same options and logits give the same tokens.
// It belongs to one text at a time.
type Sampler struct {
	options SamplerOptions
	rng     *rand.Rand
	recent  []int // the last RepetitionWindow tokens
	// candidates and penalized are kept for their memory.
	candidates []candidate
	penalized  []int
}

// A candidate is a token that may be drawn.
type candidate struct {
	id    int
	logit float32
}

// NewSampler returns a sampler, or an error that names the option that makes
// no sense.
func NewSampler(opt SamplerOptions) (*Sampler, error) {
	for _, o := range []struct {
		name     string
		value    float64
		low, top float64
	}{
		{"temperature", opt.Temperature, 0, 1e3},
		{"top-k", float64(opt.TopK), 0, math.MaxInt32},
		{"top-p", opt.TopP, 0, 1},
		{"min-p", opt.MinP, 0, 1},
		{"repetition penalty", opt.RepetitionPenalty, 0, 1e3},
		{"repetition window", float64(opt.RepetitionWindow), 0, math.MaxInt32},
	} {
		if !(o.value >= o.low && o.value <= o.top) {
			return nil, fmt.Errorf("%s %v is not between %v and %v", o.name, o.value, o.low, o.top)
		}
	}
	if opt.TopP == 0 {
		opt.TopP = 1
	}
	if opt.RepetitionPenalty == 0 {
		opt.RepetitionPenalty = 1
	}
	if opt.RepetitionWindow == 0 {
		opt.RepetitionWindow = defaultWindow
	}
	return &Sampler{options: opt, rng: rand.New(rand.NewPCG(opt.Seed, 0))}, nil
}

// Accept tells the sampler of tokens that the text has, for the repetition
// penalty.
func (s *Sampler) Accept(ids ...int) {
	s.recent = append(s.recent, ids...)
	if extra := len(s.recent) - s.options.RepetitionWindow; extra > 0 {
		s.recent = slices.Delete(s.recent, 0, extra)
	}
}

// Sample draws a token. It may change the logits. It fails if one of them is
// NaN or the largest is infinite: then the model's arithmetic went wrong.
func (s *Sampler) Sample(logits []float32) (int, error) {
	s.penalize(logits)
	best, err := argmax(logits)
	if err != nil || s.options.Temperature == 0 {
		return best, err
	}
	c := s.topP(s.topK(logits), logits, logits[best])
	return s.draw(s.minP(c, logits[best]), logits[best]), nil
}

func (s *Sampler) penalize(logits []float32) {
	penalty := float32(s.options.RepetitionPenalty)
	if penalty == 1 {
		return
	}
	s.penalized = append(s.penalized[:0], s.recent...)
	slices.Sort(s.penalized)
	for _, id := range slices.Compact(s.penalized) {
		if logits[id] > 0 {
			logits[id] /= penalty
		} else {
			logits[id] *= penalty
		}
	}
}

// ErrNotFinite is the error for logits that no token can be drawn by, nor scored.
var ErrNotFinite = errors.New("the logits are not finite: the model's arithmetic overflowed or its weights are damaged")

func argmax(logits []float32) (int, error) {
	best, top := 0, float32(math.Inf(-1)) // which no NaN hides behind
	for i, x := range logits {
		if x <= top {
			continue
		}
		if x != x {
			return 0, ErrNotFinite
		}
		best, top = i, x
	}
	if math.IsInf(float64(top), 0) {
		return 0, ErrNotFinite
	}
	return best, nil
}

// topK returns the likeliest tokens, likeliest first, or none if there is no
// limit.
func (s *Sampler) topK(logits []float32) []candidate {
	if s.options.TopK == 0 {
		return nil
	}
	return s.likeliest(logits, s.options.TopK)
}

// topP cuts candidates, or starts from all tokens if there are none, in which
// case it looks for the cut among ever more of the likeliest.
func (s *Sampler) topP(c []candidate, logits []float32, top float32) []candidate {
	p := s.options.TopP
	if c != nil {
		var total float64
		for _, x := range c {
			total += float64(math32.Exp(x.logit - top))
		}
		n, _ := cut(c, p*total, top)
		return c[:n]
	}
	if p == 1 {
		return s.all(logits)
	}
	var total float64
	for _, x := range logits {
		total += float64(math32.Exp(x - top))
	}
	for k := 64; ; k *= 16 {
		c = s.likeliest(logits, k)
		if n, reached := cut(c, p*total, top); reached || len(c) == len(logits) {
			return c[:n]
		}
	}
}

// cut returns how many candidates it takes to reach a mass.
func cut(c []candidate, mass float64, top float32) (n int, reached bool) {
	var sum float64
	for i, x := range c {
		if sum += float64(math32.Exp(x.logit - top)); sum >= mass {
			return i + 1, true
		}
	}
	return len(c), false
}

func (s *Sampler) all(logits []float32) []candidate {
	s.candidates = s.candidates[:0]
	for id, x := range logits {
		s.candidates = append(s.candidates, candidate{id, x})
	}
	return s.candidates
}

// likeliest returns the k candidates with the highest logits in order. Few of
// many tokens are better than the worst of the k best so far, so an insertion
// costs little unless k is large.
func (s *Sampler) likeliest(logits []float32, k int) []candidate {
	better := func(a, b candidate) int { return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id)) }
	const insertion = 1024
	if k > insertion {
		c := s.all(logits)
		slices.SortFunc(c, better)
		return c[:min(k, len(c))]
	}
	c := s.candidates[:0]
	for id, x := range logits {
		if len(c) == k && x <= c[k-1].logit {
			continue
		}
		if len(c) == k {
			c = c[:k-1]
		}
		at, _ := slices.BinarySearchFunc(c, candidate{id, x}, better)
		c = slices.Insert(c, at, candidate{id, x})
	}
	s.candidates = c
	return c
}

// minP drops what is too unlikely beside the likeliest.
func (s *Sampler) minP(c []candidate, top float32) []candidate {
	if s.options.MinP == 0 {
		return c
	}
	kept := c[:0]
	for _, x := range c {
		if float64(math32.Exp(x.logit-top)) >= s.options.MinP {
			kept = append(kept, x)
		}
	}
	return kept
}

// draw picks a candidate with the probability that the temperature gives it.
func (s *Sampler) draw(c []candidate, top float32) int {
	weight := func(x candidate) float64 {
		return float64(math32.Exp(float32(float64(x.logit-top) / s.options.Temperature)))
	}
	var sum float64
	for _, x := range c {
		sum += weight(x)
	}
	at := s.rng.Float64() * sum
	for _, x := range c {
		if at -= weight(x); at < 0 {
			return x.id
		}
	}
	return c[len(c)-1].id
}
