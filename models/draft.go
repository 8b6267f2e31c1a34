package models

import (
	"time"

	"onebit/internal/clock"
)

// A Speculator drafts how a text goes on by what it has said before: it looks
// for the last tokens in the text so far and proposes what followed there
// (prompt lookup decoding, github.com/apoorvumang/prompt-lookup-decoding). It
// belongs to one text at a time, or to one conversation, of whose earlier turns
// it makes use.
type Speculator struct {
	most  int
	now   func() time.Time
	pace  *pace
	past  *history
	draft []int // kept for its memory
	stats SpeculationStats
	spent float64 // on passes, as so many without a draft
}

// UsualDraft and MostDraft are how many tokens a pass verifies beside the one that
// is known: kernels take eight columns together for little more than one.
const (
	UsualDraft = 7
	MostDraft  = logitColumns - 1
)

// NewSpeculator returns one that drafts up to so many tokens at a time, between
// 1 and [MostDraft]; values outside are brought there.
func NewSpeculator(most int) *Speculator {
	return &Speculator{most: max(1, min(most, MostDraft)), now: clock.Now, pace: newPace(), past: newHistory()}
}

// SpeculationStats say what came of drafts.
type SpeculationStats struct {
	Passes   int `json:"passes"`   // through the model, after the prompt
	Tokens   int `json:"tokens"`   // that they gave
	Drafted  int `json:"drafted"`  // tokens that were proposed
	Accepted int `json:"accepted"` // of those, that were right
	// Gain estimates by how many times decoding was faster than one token a
	// pass: the tokens by the passes, of which those with a draft count as what
	// passes with as many columns usually took more. 0 before there are any.
	Gain float64 `json:"estimated_gain"`
}

// Stats returns what came of the drafts so far.
func (p *Speculator) Stats() SpeculationStats {
	s := p.stats
	if s.Drafted > 0 && p.pace.tried > 0 {
		s.Gain = float64(s.Tokens) / p.spent
	}
	return s
}

// Accept tells it of tokens that the text has, as Speculate does of those that it
// takes in: of what a session held before.
func (p *Speculator) Accept(ids ...int) { p.past.add(ids...) }

// took takes note of a token that was drawn, drafted or not: what a draft would have
// been tells how often the next may be right.
func (p *Speculator) took(id int) {
	if at, match := p.past.lookup(); match > 0 {
		p.pace.saw(match, p.past.text[at] == id)
	}
	p.past.add(id)
}

// propose returns a batch: the last token of the text and, behind it, a draft of
// at most room tokens.
func (p *Speculator) propose(room int) []int {
	at, match := p.past.lookup()
	n := p.pace.draft(match, min(p.most, room))
	last := p.past.text[len(p.past.text)-1]
	p.draft = p.past.follow(append(p.draft[:0], last), at, n)
	return p.draft
}

// passed takes note of a pass over a batch.
func (p *Speculator) passed(batch []int, seconds float64) {
	drafted := len(batch) - 1
	p.pace.timed(drafted, seconds)
	p.stats.Passes++
	p.stats.Drafted += drafted
	p.spent++
	if drafted > 0 {
		p.spent += p.pace.cost(drafted)
	}
}

// judged takes note of how many tokens of the batch's draft were right.
func (p *Speculator) judged(batch []int, right int) {
	if len(batch) > 1 {
		p.pace.judged(len(batch)-1, right)
	}
	p.stats.Accepted += right
	p.stats.Tokens += 1 + right
}
