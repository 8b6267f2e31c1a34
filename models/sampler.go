package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"onebit/internal/math32"
	"onebit/models/engine"
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

// String says it in the words of run's flags.
func (o SamplerOptions) String() string {
	text := fmt.Sprintf("--temp %.3g", o.Temperature)
	if o.TopK > 0 {
		text += fmt.Sprintf(" --top-k %d", o.TopK)
	}
	for _, f := range []struct {
		flag string
		x    float64
		none float64
	}{{"top-p", o.TopP, 1}, {"min-p", o.MinP, 0}, {"repeat-penalty", o.RepetitionPenalty, 1}} {
		if f.x != 0 && f.x != f.none {
			text += fmt.Sprintf(" --%s %.3g", f.flag, f.x)
		}
	}
	return text
}

const defaultWindow = 64

// A Sampler draws tokens. The same options and logits give the same tokens.
// It belongs to one text at a time.
type Sampler struct {
	options SamplerOptions
	rng     *rand.Rand
	recent  []int // the last RepetitionWindow tokens
	// candidates, tokens that may be drawn, and penalized are kept for their memory.
	candidates []engine.Ranked
	penalized  []int
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
	if k := s.most(); k > 0 {
		s.candidates = engine.Top(s.candidates, logits, k)
		return s.sampleTop(s.candidates)
	}
	best, err := argmax(logits)
	if err != nil {
		return best, err
	}
	top := logits[best]
	return s.draw(s.minP(s.topP(logits, top), top), top), nil
}

// most returns how many of the likeliest tokens may be drawn; 0: any may.
func (s *Sampler) most() int {
	if s.options.Temperature == 0 {
		return 1
	}
	return s.options.TopK
}

// top returns how many of the largest logits are enough to draw by: [Sampler.most],
// unless a penalty changes which they are.
func (s *Sampler) top() int {
	if s.options.RepetitionPenalty != 1 {
		return 0
	}
	return s.most()
}

// sampleTop is Sample by no more than the largest logits.
func (s *Sampler) sampleTop(c []engine.Ranked) (int, error) {
	if len(c) == 0 || c[0].Value != c[0].Value || math.IsInf(float64(c[0].Value), 0) {
		return 0, ErrNotFinite
	}
	if s.options.Temperature == 0 {
		return c[0].Index, nil
	}
	top := c[0].Value
	return s.draw(s.minP(s.topPOf(c, top), top), top), nil
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

// topPOf cuts candidates as if there were no other tokens.
func (s *Sampler) topPOf(c []engine.Ranked, top float32) []engine.Ranked {
	var total float64
	for _, x := range c {
		total += float64(math32.Exp(x.Value - top))
	}
	n, _ := cut(c, s.options.TopP*total, top)
	return c[:n]
}

// topP looks for the cut among ever more of the likeliest of all tokens.
func (s *Sampler) topP(logits []float32, top float32) []engine.Ranked {
	p := s.options.TopP
	if p == 1 {
		return s.all(logits)
	}
	var total float64
	for _, x := range logits {
		total += float64(math32.Exp(x - top))
	}
	for k := 64; ; k *= 16 {
		s.candidates = engine.Top(s.candidates, logits, k)
		c := s.candidates
		if n, reached := cut(c, p*total, top); reached || len(c) == len(logits) {
			return c[:n]
		}
	}
}

// cut returns how many candidates it takes to reach a mass.
func cut(c []engine.Ranked, mass float64, top float32) (n int, reached bool) {
	var sum float64
	for i, x := range c {
		if sum += float64(math32.Exp(x.Value - top)); sum >= mass {
			return i + 1, true
		}
	}
	return len(c), false
}

func (s *Sampler) all(logits []float32) []engine.Ranked {
	s.candidates = s.candidates[:0]
	for id, x := range logits {
		s.candidates = append(s.candidates, engine.Ranked{Index: id, Value: x})
	}
	return s.candidates
}

// minP drops what is too unlikely beside the likeliest.
func (s *Sampler) minP(c []engine.Ranked, top float32) []engine.Ranked {
	if s.options.MinP == 0 {
		return c
	}
	kept := c[:0]
	for _, x := range c {
		if float64(math32.Exp(x.Value-top)) >= s.options.MinP {
			kept = append(kept, x)
		}
	}
	return kept
}

// draw picks a candidate with the probability that the temperature gives it.
func (s *Sampler) draw(c []engine.Ranked, top float32) int {
	weight := func(x engine.Ranked) float64 {
		return float64(math32.Exp(float32(float64(x.Value-top) / s.options.Temperature)))
	}
	var sum float64
	for _, x := range c {
		sum += weight(x)
	}
	at := s.rng.Float64() * sum
	for _, x := range c {
		if at -= weight(x); at < 0 {
			return x.Index
		}
	}
	return c[len(c)-1].Index
}
