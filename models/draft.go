package models

import (
	"slices"
	"time"

	"onebit/internal/clock"
)

// The lengths of the runs of tokens that a draft is looked up by. A single token
// says too little about what follows.
const (
	shortestMatch = 2
	longestMatch  = 4
)

// lookup returns where the text went on after the last place that ends as the
// text itself does, in as many tokens as possible up to longestMatch, and in how
// many that is; 0 if they are fewer than shortestMatch.
func lookup(text []int) (at, match int) {
	for end := len(text) - 1; end >= shortestMatch && match < longestMatch; end-- {
		if n := sameEnd(text[:end], text); n > match {
			at, match = end, n
		}
	}
	if match < shortestMatch {
		return 0, 0
	}
	return at, match
}

// sameEnd returns in how many tokens two texts end alike, up to longestMatch.
func sameEnd(a, b []int) (n int) {
	for n < min(longestMatch, len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// follow appends n tokens to draft: what comes in the text from one place on and,
// where that is too little, what has been appended, as a text that repeats itself
// would go on.
func follow(draft, text []int, at, n int) []int {
	from := len(draft)
	for i := range n {
		if at+i < len(text) {
			draft = append(draft, text[at+i])
		} else {
			draft = append(draft, draft[from+at+i-len(text)])
		}
	}
	return draft
}

// A pace says how many tokens to draft. It knows what passes over several
// columns have cost, and how often drafts were right, by the length of the match.
// Where drafts do not pay it tries one now and then, on a credit that plain passes
// fill: what they lose stays within a hundredth of the time and the first two.
type pace struct {
	plain  recent // seconds of passes over one column
	slope  recent // what each further column added, as a share of that
	since  int    // passes with a draft since the last without
	reach  int    // as many tokens have been tried together, or half of them
	right  [longestMatch + 1]float64
	credit float64 // as a share of plain
}

const (
	// firstPasses over one column tell what that costs. One of renewPlain passes
	// does later, as it grows with the text, and more at first.
	firstPasses = 3
	renewPlain  = 64

	// firstDrafts, of one token and of three, tell what a further column costs.
	firstDrafts = 2

	// Credit is in passes over one column.
	mostCredit = 2
	earned     = 0.01 // by a pass over one column
	tryCredit  = 0.2  // that a draft must leave which is expected not to pay
)

func newPace() *pace {
	return &pace{reach: 1, right: [longestMatch + 1]float64{2: 0.5, 3: 0.6, 4: 0.8}}
}

// cost returns the time of a pass over n columns, as a share of one over one.
func (p *pace) cost(n int) float64 {
	if n == 1 {
		return 1
	}
	return 1 + p.slope.usual()*float64(n-1)
}

// draft returns how many tokens to draft after a match of that length, up to
// most: as many as give the most tokens for the time.
func (p *pace) draft(match, most int) int {
	if match == 0 || p.plain.n < firstPasses || p.since >= min(renewPlain, 4*p.plain.n) {
		return 0
	}
	if p.slope.n < firstDrafts {
		return max(0, min(most, 1+2*p.slope.n))
	}
	most = min(most, p.reach)
	best, rate := 0, 1.0
	tokens, chance, further := 1.0, 1.0, p.cost(2)-1
	for k := 1; k <= most && further*float64(k) <= p.credit; k++ {
		chance *= p.right[match]
		tokens += chance
		if r := tokens / (1 + further*float64(k)); r > rate {
			best, rate = k, r
		}
	}
	if best == 0 && most > 0 && p.credit-further >= tryCredit {
		return 1
	}
	return best
}

// timed takes note of a pass over n columns.
func (p *pace) timed(n int, seconds float64) {
	if n == 1 {
		p.plain.add(seconds)
		p.since = 0
		p.earn(earned)
		return
	}
	p.since++
	if seconds < 0.7*p.plain.usual() { // then all of those were disturbed
		p.plain, p.reach = recent{}, 1
		return
	}
	// Beside others a column takes no longer than alone, unless it is disturbed.
	p.slope.add(min(1, max(0, seconds/p.plain.usual()-1)/float64(n-1)))
	if p.slope.n > firstDrafts {
		p.reach = max(p.reach, 2*(n-1))
	}
}

// judged takes note that of so many drafted tokens the first were right.
func (p *pace) judged(match, drafted, right int) {
	for range right {
		p.saw(match, 1)
	}
	if right < drafted {
		p.saw(match, 0)
	}
	if p.slope.n > firstDrafts {
		p.earn(float64(1+right) - p.cost(1+drafted))
	}
}

// saw moves the share of a match's tokens that are right.
func (p *pace) saw(match int, right float64) { p.right[match] += (right - p.right[match]) / 8 }

func (p *pace) earn(credit float64) { p.credit = min(p.credit+credit, mostCredit) }

// recent is the last of what was measured again and again, among which is what
// others have disturbed.
type recent struct {
	values [7]float64
	n      int // that were added
}

func (r *recent) add(x float64) {
	r.values[r.n%len(r.values)] = x
	r.n++
}

// usual is the lower quartile of the values, of which there must be one: what is
// disturbed takes longer.
func (r *recent) usual() float64 {
	sorted := r.values
	n := min(r.n, len(sorted))
	slices.Sort(sorted[:n])
	return sorted[n/4]
}

// A Speculator drafts how a text goes on by what it has said before: it looks
// for the last tokens in the text so far and proposes what followed there
// (prompt lookup decoding, github.com/apoorvumang/prompt-lookup-decoding). It
// belongs to one text at a time, or to one conversation, of whose earlier turns
// it makes use.
type Speculator struct {
	most  int
	now   func() time.Time
	pace  *pace
	text  []int
	draft []int // kept for its memory
	match int   // that the draft was found by
	stats SpeculationStats
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
	return &Speculator{most: max(1, min(most, MostDraft)), now: clock.Now, pace: newPace()}
}

// SpeculationStats say what came of drafts.
type SpeculationStats struct {
	Passes   int // through the model, after the prompt
	Tokens   int // that they gave
	Drafted  int // tokens that were proposed
	Accepted int // of those, that were right
	// Gain estimates by how many times decoding was faster than one token a
	// pass: the tokens by the passes, to which each drafted token adds the share
	// of one that the last of them did. 0 before there are any.
	Gain float64
}

// Stats returns what came of the drafts so far.
func (p *Speculator) Stats() SpeculationStats {
	s := p.stats
	if s.Drafted > 0 && p.pace.slope.n > 0 {
		s.Gain = float64(s.Tokens) / (float64(s.Passes) + float64(s.Drafted)*p.pace.slope.usual())
	}
	return s
}

// Accept tells it of tokens that the text has, as Speculate does of those that it
// takes in: of what a session held before.
func (p *Speculator) Accept(ids ...int) { p.text = append(p.text, ids...) }

// propose returns a batch: the last token of the text and, behind it, a draft of
// at most room tokens.
func (p *Speculator) propose(room int) []int {
	at, match := lookup(p.text)
	p.match = match
	n := p.pace.draft(match, min(p.most, room))
	p.draft = follow(append(p.draft[:0], p.text[len(p.text)-1]), p.text, at, n)
	return p.draft
}

// passed takes note of a pass over a batch.
func (p *Speculator) passed(batch []int, seconds float64) {
	p.pace.timed(len(batch), seconds)
	p.stats.Passes++
	p.stats.Drafted += len(batch) - 1
}

// judged takes note of how many tokens of the batch's draft were right.
func (p *Speculator) judged(batch []int, right int) {
	if len(batch) > 1 {
		p.pace.judged(p.match, len(batch)-1, right)
	}
	p.stats.Accepted += right
	p.stats.Tokens += 1 + right
}
