package models

import (
	"slices"
)

// A pace says how many tokens to draft. It knows what passes over several
// columns have cost, by how many those were, and how often the text went on as it had
// before, by the length of the match: every token tells that, whether it was drafted
// or not, so that a text of which drafts would be wrong need not have any. What drafts
// lose by more than they win is bounded by a credit: a share of a pass at first, and
// what plain passes add.
type pace struct {
	plain   recent                // seconds of passes over one column
	further [MostDraft + 1]recent // by drafted tokens: what they added, as a share of that
	tried   int                   // drafts that were timed
	since   int                   // passes with a draft since the last without
	reach   int                   // as many tokens may be tried together
	right   [longestMatch + 1]float64
	credit  float64 // as a share of plain
}

const (
	// firstPasses over one column tell what that costs. One of renewPlain passes
	// does later, as it grows with the text, and more at first.
	firstPasses = 3
	renewPlain  = 64

	// A drafted token is taken to cost guess until one has been timed.
	guess = 0.6

	// Credit is in passes over one column. A draft that is not expected to pay, but
	// is likely right, tells whether passes cost less than they seemed to.
	firstCredit = 0.7
	mostCredit  = 4     // from drafts that were right
	earned      = 0.015 // by a pass over one column
	shown       = 0.2   // of what drafts of one token would have won or lost
	mostEarned  = 1     // by those two
	tryCredit   = 0.5   // for such a draft
	likely      = 0.75

	// surePasses with as many columns tell what they cost without looking at others.
	surePasses = 3

	// step is what a token weighs in the share of those that were right.
	step = 1.0 / 8
)

func newPace() *pace {
	return &pace{reach: 1, credit: firstCredit, right: [longestMatch + 1]float64{2: 0.5, 3: 0.6, 4: 0.8, 5: 0.85, 6: 0.9, 7: 0.9, 8: 0.95}}
}

// cost returns what k drafted tokens add to a pass, as a share of one without. Until
// that is sure it is no more than what was measured of others says: more take no less
// time, and fewer at a time could have been taken again and again.
func (p *pace) cost(k int) float64 {
	own := &p.further[k]
	if own.n >= surePasses {
		return own.usual()
	}
	if p.tried == 0 {
		return guess * float64(k)
	}
	least := float64(k) // beside others a column takes no longer than alone
	for j := 1; j <= MostDraft; j++ {
		if p.further[j].n > 0 {
			least = min(least, p.further[j].usual()*max(1, float64(k)/float64(j)))
		}
	}
	return least
}

// draft returns how many tokens to draft after a match of that length, up to
// most: as many as give the most tokens for the time. Each that is right makes the
// match one longer.
func (p *pace) draft(match, most int) int {
	if match == 0 || p.plain.n < firstPasses || p.since >= min(renewPlain, 4*p.plain.n) {
		return 0
	}
	most = min(most, p.reach)
	best, rate := 0, 1.0
	tokens, chance := 1.0, 1.0
	for k := 1; k <= most; k++ {
		chance *= p.right[min(match+k-1, longestMatch)]
		tokens += chance
		cost := p.cost(k)
		if r := tokens / (1 + cost); r > rate && cost <= p.credit {
			best, rate = k, r
		}
	}
	if best == 0 && most > 0 && p.right[match] >= likely && p.credit >= tryCredit {
		return 1
	}
	return best
}

// timed takes note of a pass that took in k drafted tokens.
func (p *pace) timed(k int, seconds float64) {
	if k == 0 {
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
	p.tried++
	p.further[k].add(min(float64(k), max(0, seconds/p.plain.usual()-1)))
	p.reach = max(p.reach, 2*k+1)
}

// judged takes note that of so many drafted tokens the first were right.
func (p *pace) judged(drafted, right int) {
	p.credit = min(p.credit+float64(right)-p.cost(drafted), mostCredit)
}

// saw takes note of whether a text went on after a match as it had before.
func (p *pace) saw(match int, right bool) {
	p.right[match] -= step * p.right[match]
	won := -p.cost(1)
	if right {
		p.right[match] += step
		won++
	}
	p.earn(shown * won)
}

// earn adds to the credit, up to mostEarned, or takes from it, down to none: what it has
// beyond either stays.
func (p *pace) earn(x float64) {
	p.credit = max(min(p.credit, 0), min(p.credit+x, max(p.credit, mostEarned)))
}

// recent is the last of what was measured again and again, among which is what
// others have disturbed.
type recent struct {
	values   [7]float64
	n        int // that were added
	quartile float64
}

func (r *recent) add(x float64) {
	r.values[r.n%len(r.values)] = x
	r.n++
	sorted := r.values
	n := min(r.n, len(sorted))
	slices.Sort(sorted[:n])
	r.quartile = sorted[n/4]
}

// usual is the lower quartile of the values, of which there must be one: what is
// disturbed takes longer.
func (r *recent) usual() float64 { return r.quartile }
